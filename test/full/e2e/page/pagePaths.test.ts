/** The paths of the page in a real browser: links, Back, reload, URLs of older releases, tags and pictures of shared links. */
import { get } from 'node:http';
import { isDeepStrictEqual } from 'node:util';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { PICTURES_PER_SECOND } from '../../../../src/api/preview/previewPainter';
import { changeFigure, priceFigure, symbolFigure, usdFigure } from '../../../../src/api/web/figures';
import { eventually } from '../../../support/eventually';
import { untilLoaded } from '../../../support/server/browser';
import {
  changeAnswers,
  changeFields,
  keepPicture,
  startPages,
  type PageOptions,
  type Pages,
} from '../../../support/server/pages';
import type { PageWorld } from '../../../support/worlds/pageWorld';

let pages: Pages;
let world: PageWorld;

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);
const pathOf = (page: Page): string => page.url().slice(world.url.length);
const textOf = async (path: string): Promise<string> => (await fetch(world.url + path)).text();

beforeAll(async () => {
  // New blocks do not matter here, and indexing them takes the processor from the browser.
  pages = await startPages({ swaps: 400, days: 1, live: { blockMs: 15_000 } });
  ({ world } = pages);
});

afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

const swapsShape = z.object({
  data: z.array(z.looseObject({ tx_hash: z.string(), block_number: z.number() })),
});

/** Every view by its path, with its title. */
async function listViews(): Promise<[path: string, title: RegExp][]> {
  const { data } = swapsShape.parse(await world.json('/api/v1/activity?event_type=swap&limit=1'));
  return [
    ['/', /Market/],
    ['/tokens?sort=symbol', /Market|Tokens/],
    ['/pairs', /Market|Pairs/],
    ['/watchlist', /Market|Watchlist/],
    [`/pair/${world.pair}?timeframe=1h`, /\//],
    [`/token/${world.token}`, /./],
    [`/tx/${data[0]?.tx_hash}`, /Transaction/],
    [`/block/${data[0]?.block_number}`, /Block/],
    [`/portfolio/${world.wallet}`, /^0x/],
    ['/portfolio', /Portfolio/],
    [`/contract/${world.pair}?tab=events`, /./],
    ['/contract', /Contract/],
    ['/dexes', /DEX/],
    ['/dex/devswap_v3?sort=tx_24h', /DevSwap V3/],
    ['/alerts', /Alert/],
    ['/logs?order=asc', /Logs/],
    ['/search?q=hexd', /hexd/i],
  ];
}

test('every view opens by its path, and a reload shows the same view', async () => {
  const page = await pages.openBlank();
  for (const [path, title] of await listViews()) {
    for (const load of [() => page.goto(path), () => page.reload()]) {
      await load();
      await untilLoaded(page);
      expect([path, await page.title()]).toEqual([path, expect.stringMatching(title)]);
      expect([path, pathOf(page).startsWith(path.split('?')[0] ?? '')]).toEqual([path, true]);
      expect([path, page.url()]).not.toEqual([path, expect.stringContaining('#')]);
    }
  }
});

test('links open in the page without a reload, Back and Forward show the views again, and a new tab opens by its path', async () => {
  const page = await open('/');
  const isSame = (): Promise<unknown> => page.evaluate('window.mark === 1');
  await page.evaluate('window.mark = 1');
  await page.getByRole('link', { name: 'DEXes' }).click();
  await page.waitForURL('**/dexes');
  await untilLoaded(page);
  await page.getByRole('link', { name: 'Alerts' }).click();
  await page.waitForURL('**/alerts');
  await page.goBack();
  await page.waitForURL('**/dexes');
  await page.locator('h1').getByText('DEX').first().waitFor();
  await page.goBack();
  await page.waitForURL(`${world.url}/`);
  await page.locator('table[aria-label=Tokens]').waitFor();
  await page.goForward();
  await page.waitForURL('**/dexes');
  expect(await isSame()).toBe(true);
  const link = page.getByRole('link', { name: 'Portfolio' });
  for (const click of [
    () => link.click({ modifiers: ['ControlOrMeta'] }),
    () => link.click({ button: 'middle' }),
  ]) {
    const [tab] = await Promise.all([page.context().waitForEvent('page'), click()]);
    await tab.waitForURL(`${world.url}/portfolio`);
    await untilLoaded(tab);
    expect(await tab.title()).toMatch(/Portfolio/);
    await tab.close();
  }
  expect([pathOf(page), await isSame()]).toEqual(['/dexes', true]);
  await page.getByRole('link', { name: 'API' }).first().click();
  await page.waitForURL('**/docs');
  expect(await isSame()).toBe(false);
});

test('links of older releases open their path, also in an open page, and never another host', async () => {
  const page = await open(`/#/pair/${world.pair}?timeframe=15m`);
  expect(pathOf(page)).toBe(`/pair/${world.pair}?timeframe=15m`);
  expect(await page.locator('button[data-value="15m"]').getAttribute('aria-pressed')).toBe('true');
  await page.evaluate("location.hash = '#/dexes'");
  await page.waitForURL(`${world.url}/dexes`);
  await page.locator('h1').getByText('DEX').first().waitFor();
  await page.goto('/#//other.example/x');
  await page.getByText('This page does not exist').waitFor();
  expect(pathOf(page)).toBe('/other.example/x');
  for (const name of ['__proto__', 'constructor', 'toString', '%']) {
    await page.goto('/dexes');
    await page.goto(`/#/${name}`);
    await page.getByText('This page does not exist').waitFor();
    expect(pathOf(page)).toBe(`/${name}`);
  }
  await page.goto('/dexes');
  await untilLoaded(page);
  await page.locator('main').evaluate((main) => main.firstElementChild?.setAttribute('data-mark', '1'));
  await page.locator('a.skip').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/dexes#main');
  expect(await page.locator('main > [data-mark]').count()).toBe(1);
  await page.goBack();
  await page.waitForURL('**/dexes');
  expect(await page.locator('main > [data-mark]').count()).toBe(1);
  // Back to a view with a fragment opens this view, also if another view has the same path.
  const sorted = page.locator('th[aria-sort=ascending]');
  await page.goto('/tokens?sort=symbol&order=asc');
  await page.evaluate("location.hash = '#main'");
  await page.getByRole('navigation', { name: 'Lists' }).getByText('Most traded').click();
  await page.waitForURL('**/tokens?*tx_24h*');
  await sorted.waitFor({ state: 'detached' });
  await page.goBack();
  await sorted.getByText('Token').waitFor();
});

test('a search for a DEX opens its page, whose pairs are those of the API', async () => {
  const page = await open('/search?q=DevSwap%20V3');
  await page.locator('.found-list a', { hasText: 'DevSwap V3' }).click();
  await page.waitForURL('**/dex/devswap_v3');
  await untilLoaded(page);
  expect(await page.locator('h1').innerText()).toContain('DevSwap V3');
  await page.locator('table[aria-label=Pairs] button[data-sort=created_at]').click();
  await page.waitForURL('**/dex/devswap_v3?sort=created_at');
  const wanted = (await world.addresses('/api/v1/pairs?dex=devswap_v3&sort=created_at')).map(
    (address) => `/pair/${address}`,
  );
  expect(wanted.length).toBeGreaterThan(1);
  const rows = `[...document.querySelectorAll('table[aria-label=Pairs] tbody tr')].map((row) => row.dataset.path)`;
  await eventually(
    () => page.evaluate(rows),
    (shown) => isDeepStrictEqual(shown, wanted),
  );
  await page.goto('/dexes');
  await untilLoaded(page);
  const links = await page
    .locator('table[aria-label=DEXes] a.named')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toContain('/dex/devswap_v3');
  await page.goto('/dex/Uniswap%20V3');
  await page.getByText('There is no DEX with the name Uniswap V3').waitFor();
});

const itemsShape = z.looseObject({ data: z.array(z.looseObject({ address: z.string() })) });

test('the page of a bonding curve that ended names the transaction and the new pool, and lists show no fee', async () => {
  const page = await pages.openBlank();
  const ended = { block_number: 7, timestamp: 1_700_000_000, tx_hash: `0x${'7'.repeat(64)}` };
  const gone = { flags: ['ended'], liquidity_usd: 0, price: null, price_usd: null };
  await changeFields(page, `**/api/v1/pairs/${world.pair}`, {
    ...gone,
    ended: { ...ended, moved_to: [world.token] },
  });
  await page.goto(`/pair/${world.pair}`);
  await untilLoaded(page);
  await keepPicture(page, 'curve-ended');
  const notice = page.locator('.pair-end');
  expect(await notice.innerText()).toMatch(/has ended, and nobody can trade in it\. All its tokens left in/);
  const links = await notice.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toEqual([`/tx/${ended.tx_hash}`, `/pair/${world.token}`]);
  expect(await page.locator('.page-head .badges').innerText()).not.toContain('%');
  await changeAnswers(page, '**/api/v1/pairs?*', (answer) => {
    const { data, ...rest } = itemsShape.parse(answer);
    return { ...rest, data: data.map((item) => ({ ...item, ...gone })) };
  });
  await page.goto('/pairs');
  await untilLoaded(page);
  const row = page.locator('table[aria-label="Pairs"] tbody tr').first();
  expect(await row.locator('.badges').innerText()).toMatch(/ended/);
  expect(await row.locator('.badges').innerText()).not.toContain('%');
  expect(await row.locator('td.col-liquidity').innerText()).toBe('ended');
});

test('the addresses in decoded logs open the pages of their kinds, among them wallets', async () => {
  const { data } = swapsShape.parse(await world.json('/api/v1/activity?event_type=swap&limit=1'));
  const page = await open(`/tx/${data[0]?.tx_hash}`);
  const links = page.locator('.events .args a');
  await links.first().waitFor();
  for (const link of await links.all())
    expect(await link.getAttribute('href')).toBe(`/address/${await link.innerText()}`);
  await links.first().click();
  await page.waitForURL(/\/(pair|token|contract|portfolio)\/0x[0-9a-f]{40}$/);
  await page.goto(`/address/${world.wallet}`);
  await page.waitForURL(`**/portfolio/${world.wallet}`);
});

const refShape = z.looseObject({ address: z.string(), symbol: z.string().nullable() });
const figuresShape = z.looseObject({
  price_usd: z.string().nullable(),
  price_change_24h: z.number().nullable(),
  liquidity_usd: z.number(),
});
const pairShape = z.object({ data: figuresShape.extend({ base_token: refShape, quote_token: refShape }) });
const tokenShape = z.object({
  data: figuresShape.extend({ symbol: z.string().nullable(), address: z.string() }),
});

/** The tags of a page by name, without escapes of HTML. */
async function tagsOf(path: string): Promise<Record<string, string>> {
  const found = (await textOf(path)).matchAll(/<meta (?:name|property)="([\w:]+)" content="([^"]*)"/g);
  return Object.fromEntries(
    [...found].map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
  );
}

test('the tags of a pair and a token have the figures of the API, and the page keeps its own title', async () => {
  const cases: [path: string, name: () => Promise<[string, z.infer<typeof figuresShape>]>][] = [
    [
      `/pair/${world.pair}`,
      async () => {
        const { data } = pairShape.parse(await world.json(`/api/v1/pairs/${world.pair}`));
        return [`${symbolFigure(data.base_token)} / ${symbolFigure(data.quote_token)}`, data];
      },
    ],
    [
      `/token/${world.token}`,
      async () => {
        const { data } = tokenShape.parse(await world.json(`/api/v1/tokens/${world.token}`));
        return [symbolFigure(data), data];
      },
    ],
  ];
  for (const [path, read] of cases) {
    // The chain goes on, so the tags and the answer of the API may be of different blocks at first.
    await eventually(
      async () => [await tagsOf(path), await read()] as const,
      ([tags, [name, { price_usd, price_change_24h, liquidity_usd }]]) => {
        // A young token has no change in 24 hours.
        const change = changeFigure(price_change_24h);
        const title = `${name} $${priceFigure(price_usd)}${change === null ? '' : ` (${change})`} · Candlehouse`;
        const description = `change in 24 h ${change ?? 'unknown'}, liquidity ${usdFigure(liquidity_usd)},`;
        return tags['og:title'] === title && tags['og:description']?.includes(description) === true;
      },
    );
    const tags = await tagsOf(path);
    expect(tags).toMatchObject({ 'og:image': `/preview${path}.png`, 'twitter:card': 'summary_large_image' });
  }
});

const canonicalOf = async (path: string): Promise<string | undefined> =>
  /<link rel="canonical" href="([^"]*)"/.exec(await textOf(path))?.[1];

test('every view has its canonical path, and what cannot exist or does not exist is a 404 with the page', async () => {
  const upper = (address: string): string => `0x${address.slice(2).toUpperCase()}`;
  for (const [path, canonical] of [
    ['/', '/'],
    ['/?q=a', '/'],
    ['/tokens?sort=symbol&page=2', '/tokens'],
    ['/logs?order=asc', '/logs'],
    [`/pair/${upper(world.pair)}?timeframe=1m`, `/pair/${world.pair}`],
    [`/address/${world.token}`, `/token/${world.token}`],
    [`/portfolio/${upper(world.wallet)}`, `/portfolio/${world.wallet}`],
    ['/dex/DevSwap_V3', '/dex/devswap_v3'],
    ['/block/7?chainId=943', '/block/7?chainId=943'],
  ])
    expect([
      path,
      await eventually(
        () => canonicalOf(path ?? ''),
        (found) => found !== undefined,
      ),
    ]).toEqual([path, canonical]);
  const unknown = `0x${'0'.repeat(38)}ff`;
  for (const path of [`/pair/${unknown}`, `/token/${unknown}`, '/token/0x12', '/tx/0x12', '/dex/none'].concat(
    ['/block/x', '/address/0x', '/portfolio/me', '/contract/0x12', `/pair/${world.token}`],
  )) {
    // The tables of a new head may not be ready in time.
    await eventually(
      async () => (await fetch(world.url + path)).status,
      (status) => status === 404,
    );
    expect([path, await textOf(path)]).toEqual([path, expect.stringContaining('<title>Candlehouse</title>')]);
    expect([path, await canonicalOf(path)]).toEqual([path, undefined]);
  }
});

test('a link to an unknown address has no picture, and no tag has the Host header', async () => {
  const unknown = `0x${'0'.repeat(38)}ff`;
  const picture = await fetch(`${world.url}/preview/pair/${unknown}.png`);
  expect([picture.status, await picture.json()]).toMatchObject([404, { code: 'not_found' }]);
  const page = await new Promise<string>((resolve, reject) => {
    get(`${world.url}/pair/${world.pair}`, { headers: { Host: 'evil.example' } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve(text));
    }).on('error', reject);
  });
  expect(page).toContain(`content="/preview/pair/${world.pair}.png"`);
  expect(page).not.toContain('evil.example');
});

const CANDLES = { up: [0x2f, 0xbf, 0x8f], down: [0xef, 0x6a, 0x6a] } as const;

test('the picture of a link is a PNG of 1200×630 pixels with candles, and is not made again for each request', async () => {
  const page = await open('/alerts');
  for (const path of [`/preview/pair/${world.pair}.png`, `/preview/token/${world.token}.png`]) {
    const answer = await eventually(
      () => fetch(world.url + path),
      ({ status }) => status !== 429,
    );
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'image/png']);
    const png = Buffer.from(await answer.arrayBuffer());
    const facts: unknown = await page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      pen.drawImage(bitmap, 0, 0);
      const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
      let candles = 0;
      for (let at = 0; at < data.length; at += 4)
        if (${JSON.stringify(Object.values(CANDLES))}.some((colour) =>
          colour.every((part, index) => Math.abs(part - data[at + index]) < 4))) candles += 1;
      return { width: bitmap.width, height: bitmap.height, candles };
    })()`);
    const { width, height, candles } = z
      .object({ width: z.number(), height: z.number(), candles: z.number() })
      .parse(facts);
    expect([width, height]).toEqual([1200, 630]);
    // A candle alone has more than a hundred pixels. Text has about a thousand.
    expect(candles).toBeGreaterThan(2_000);
    const again = await fetch(world.url + path, {
      headers: { 'If-None-Match': answer.headers.get('ETag') ?? '' },
    });
    expect(again.status).toBe(304);
  }
});

test('a process makes a few new pictures per second, and refuses more of them with a time to retry', async () => {
  const pairs = await world.addresses('/api/v1/pairs?limit=100');
  const began = performance.now();
  const answers = await Promise.all(
    pairs.map((address) => fetch(`${world.url}/preview/pair/${address}.png`)),
  );
  const seconds = (performance.now() - began) / 1_000;
  const made = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect(made.length + refused.length).toBe(answers.length);
  // One picture may be in the cache.
  expect(made.length).toBeLessThanOrEqual(PICTURES_PER_SECOND * (1 + seconds) + 1);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.map(({ headers }) => headers.get('Retry-After'))).toEqual(refused.map(() => '1'));
});
