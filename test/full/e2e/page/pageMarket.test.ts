/** The lists, the watchlist and the stored choices of the web page, in a real browser on the real program. */
import { isDeepStrictEqual } from 'node:util';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { downloadBy } from '../../../support/server/chartPage';
import { copyFirst } from '../../../support/server/explorerPage';
import { PHONE, untilLoaded } from '../../../support/server/browser';
import {
  changeAnswers,
  changeFields,
  readStored,
  startPages,
  type PageOptions,
  type Pages,
} from '../../../support/server/pages';
import type { PageWorld } from '../../../support/worlds/pageWorld';
import { eventually } from '../../../support/eventually';

const expected = (status: number, path: string): boolean =>
  (status === 404 || status === 400) && /^\/api\/v1\/(tokens|contracts)/.test(path);

let pages: Pages;
let world: PageWorld;

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

/** Stores a value before the page opens, once, so that the page may change it. */
const stored = (key: string, value: unknown): string =>
  `if (localStorage.getItem('${key}') === null) localStorage.setItem('${key}', ${JSON.stringify(JSON.stringify(value))});`;

const rowPaths = (page: Page, label: string): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('table[aria-label="${label}"] tbody tr')].map((row) => row.dataset.path ?? '')`,
  );

/** Waits until the table has the rows of the API, in its order. The chain goes on during the comparison. */
async function untilAsApi(page: Page, label: string, path: string): Promise<void> {
  const kind = label === 'Tokens' ? 'token' : 'pair';
  await eventually(
    async () => [
      await rowPaths(page, label),
      (await world.addresses(path)).map((address) => `/${kind}/${address}`),
    ],
    ([rows, wanted]) => wanted !== undefined && wanted.length > 0 && isDeepStrictEqual(rows, wanted),
  );
}

beforeAll(async () => {
  pages = await startPages({ swaps: 400, days: 1, expected });
  ({ world } = pages);
});

afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

test('gainers, losers, most traded and new pairs are the lists of the API, and the address bar names them', async () => {
  const page = await open('/tokens');
  const lists: [name: string, label: string, path: string, bar: string][] = [
    ['Gainers', 'Tokens', 'tokens?sort=price_change_24h&min_liquidity_usd=1000', 'sort=price_change_24h'],
    ['Losers', 'Tokens', 'tokens?sort=price_change_24h&order=asc&min_liquidity_usd=1000', 'order=asc'],
    ['Most traded', 'Tokens', 'tokens?sort=tx_24h&min_liquidity_usd=1000', 'sort=tx_24h'],
    ['New pairs', 'Pairs', 'pairs?sort=created_at&min_liquidity_usd=1000', '/pairs?'],
  ];
  for (const [name, label, path, bar] of lists) {
    const link = page.getByRole('navigation', { name: 'Lists' }).getByText(name, { exact: true });
    await link.click();
    await page.waitForURL((url) => url.href.includes(bar));
    await untilAsApi(page, label, `/api/v1/${path}`);
    expect(await link.getAttribute('aria-current')).toBe('page');
  }
});

test('the least liquidity is $1k until another is chosen, stays in the address bar, and a reload keeps it', async () => {
  const page = await open('/pairs?sort=created_at');
  const least = page.getByRole('combobox', { name: 'Least liquidity' });
  expect(await least.inputValue()).toBe('1000');
  await least.selectOption('Any liquidity');
  await untilAsApi(page, 'Pairs', '/api/v1/pairs?sort=created_at');
  expect(page.url()).toContain('liquidity=0');
  // A search looks through all pairs, unless a least liquidity was chosen.
  await page.goto('/pairs?q=e');
  await untilAsApi(page, 'Pairs', '/api/v1/pairs?q=e');
  expect(await least.inputValue()).toBe('0');
  await page.goto('/pairs?sort=created_at&liquidity=999999999999');
  await page
    .getByText('No matching pairs with $1.00T of liquidity; “Any liquidity” shows the others')
    .waitFor();
  await least.selectOption('1000000');
  const path = '/api/v1/pairs?sort=created_at&min_liquidity_usd=1000000';
  await untilAsApi(page, 'Pairs', path);
  const [few, all] = await Promise.all([
    world.addresses(`${path}&limit=100`),
    world.addresses('/api/v1/pairs?limit=100'),
  ]);
  expect(few.length).toBeLessThan(all.length);
  expect(page.url()).toContain('liquidity=1000000');
  await page.reload();
  await untilAsApi(page, 'Pairs', path);
  expect(await least.inputValue()).toBe('1000000');
});

const listShape = z.looseObject({ data: z.array(z.looseObject({ address: z.string() })) });
const detailShape = z.looseObject({ data: z.looseObject({ address: z.string() }) });

test('lists and pages say why a price is missing, and "not counted" instead of $0 where a price is not trusted', async () => {
  const page = await pages.openBlank();
  const text = 'No price: the best pool of DUST has $20.00 on the side with a known price, $50 needed';
  const price_reason = { code: 'low_liquidity', text, have_usd: 20, need_usd: 50 };
  const unpriced = { price_usd: null, price_reason };
  const untrusted = { liquidity_usd: 0, price_confidence: 'none', ...unpriced };
  for (const list of ['tokens', 'pairs'])
    await changeAnswers(page, `**/api/v1/${list}?*`, (answer) => {
      const { data, ...rest } = listShape.parse(answer);
      return { ...rest, data: data.map((item) => ({ ...item, ...untrusted })) };
    });
  for (const [list, reason] of [
    ['tokens', 'The token has no USD price, so its liquidity does not count'],
    ['pairs', 'No token of this pool has a trusted price, or the pool is empty'],
  ] as const) {
    await page.goto(`/${list}`);
    await untilLoaded(page);
    const cell = page.locator('td.col-liquidity').first();
    await cell.getByText('not counted').waitFor();
    expect(await cell.locator('span').getAttribute('title')).toBe(reason);
    expect(await page.locator('td.col-price span').first().getAttribute('title')).toBe(text);
  }
  for (const [kind, address] of [
    ['token', world.token],
    ['pair', world.pair],
  ] as const) {
    await changeAnswers(page, `**/api/v1/${kind}s/${address}`, (answer) => {
      const { data, ...rest } = detailShape.parse(answer);
      return { ...rest, data: { ...data, ...unpriced } };
    });
    await page.goto(`/${kind}/${address}`);
    await untilLoaded(page);
    expect(await page.locator('.page-price').innerText()).toContain(text);
  }
  await changeAnswers(page, '**/api/v1/search?*', () => ({ data: [] }));
  await page.goto('/search?q=hexd');
  await untilLoaded(page);
  const hits = await page.locator('.found-list .muted').allInnerTexts();
  expect(new Set(hits.map((text) => text.slice(text.lastIndexOf('·'))))).toEqual(
    new Set(['· liquidity not counted']),
  );
});

test('the tooltip of the market cap says how it is computed, or what is unknown', async () => {
  const page = await pages.openBlank();
  const cap = page.locator('.fact', { hasText: /^Market cap/ });
  for (const [fields, shown, hint] of [
    [{ market_cap_usd: 5, circulating_supply: '1' }, '$5.00', /^Price times the circulating supply/],
    [{ market_cap_usd: 0, circulating_supply: '0' }, '$0', /^Price times the circulating supply/],
    [{ market_cap_usd: null, circulating_supply: null }, '—', /^Unknown, because the circulating supply is/],
    [{ market_cap_usd: null, circulating_supply: '1' }, '—', /^Unknown, because the price is/],
  ] as const) {
    await changeFields(page, `**/api/v1/tokens/${world.token}`, fields);
    await page.goto(`/token/${world.token}`);
    await untilLoaded(page);
    expect([await cap.locator('dd').innerText(), await cap.getAttribute('title')]).toEqual([
      shown,
      expect.stringMatching(hint),
    ]);
    await page.unroute(`**/api/v1/tokens/${world.token}`);
  }
});

test('a new block changes only the cells that changed: rows, focus and selection stay, also when rows change places', async () => {
  const page = await pages.openBlank();
  let isTurned = false;
  await changeAnswers(page, '**/api/v1/tokens?*', (answer) => {
    const { data, ...rest } = listShape.parse(answer);
    return { ...rest, data: isTurned ? [...data.slice(0, 6).reverse(), ...data.slice(6)] : data };
  });
  await page.goto('/tokens');
  await untilLoaded(page);
  const rows = `[...document.querySelectorAll('table[aria-label=Tokens] tbody tr')]`;
  await page.evaluate(`window.before = ${rows}; window.texts = before.map((row) => row.textContent);
    window.paths = before.map((row) => row.dataset.path);
    getSelection().selectAllChildren(before[1].querySelector('.symbol'));
    window.focused = before[1].querySelector('.copy'); focused.focus();`);
  const selected = await page.evaluate('getSelection().toString()');
  isTurned = true;
  await eventually(
    () => page.evaluate(`${rows}.indexOf(before[1])`),
    (place) => place === 4,
  );
  const now = await page.evaluate(`({
    // Other tokens may enter the list.
    redrawn: ${rows}.filter((row) => !before.includes(row) && paths.includes(row.dataset.path)).length,
    changed: before.some((row, index) => row.textContent !== texts[index]),
    focused: document.activeElement === focused,
    selected: getSelection().toString(),
    reachable: ${rows}.filter((row) => row.tabIndex === 0).length,
  })`);
  expect(now).toEqual({ redrawn: 0, changed: true, focused: true, selected, reachable: 1 });
});

const swapsShape = z.object({
  data: z.array(z.looseObject({ id: z.string(), amount_usd: z.number().nullable() })),
});

test('large swaps appear while they happen, none below the chosen value, and the choice is kept', async () => {
  const page = await open('/');
  await page.getByRole('combobox', { name: 'Least value of a large swap' }).selectOption('100');
  const ids = (): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('.large-swaps tbody tr')].map((row) => row.dataset.id)`);
  await untilLoaded(page);
  const [first] = await eventually(ids, (shown) => shown.length > 3);
  const later = await eventually(ids, ([newest]) => newest !== undefined && newest !== first);
  const { data } = swapsShape.parse(await world.json('/api/v1/activity?event_type=swap&limit=100'));
  const known = data.filter(({ id }) => later.includes(id));
  expect(known.length).toBeGreaterThan(0);
  for (const { amount_usd } of known) expect(amount_usd).toBeGreaterThanOrEqual(100);
  expect(await readStored(page, 'largeSwaps')).toBe(100);
  await page.reload();
  await untilLoaded(page);
  expect(await page.getByRole('combobox', { name: 'Least value of a large swap' }).inputValue()).toBe('100');
});

test('stars fill the watchlist, which is sorted, exported, and imported into another browser', async () => {
  const page = await open('/tokens?sort=liquidity_usd');
  for (const at of [0, 1, 2]) await page.locator('table[aria-label=Tokens] .star').nth(at).click();
  const tokens = (await rowPaths(page, 'Tokens')).slice(0, 3).map((hash) => hash.replace('/token/', ''));
  await page.goto(`/pair/${world.pair}`);
  await untilLoaded(page);
  await page.locator('.head-tools .star').click();
  await page.getByRole('link', { name: 'Market' }).first().click();
  await page.getByRole('link', { name: 'Watchlist' }).click();
  await eventually(
    () => rowPaths(page, 'Watched pairs'),
    (rows) => isDeepStrictEqual(rows, [`/pair/${world.pair}`]),
  );
  await page.locator('table[aria-label="Watched tokens"] button[data-sort=symbol]').click();
  await page.locator('table[aria-label="Watched tokens"] button[data-sort=symbol]').click();
  const bySymbol = (await world.addresses('/api/v1/tokens?sort=symbol&order=asc&limit=100')).filter(
    (address) => tokens.includes(address),
  );
  await eventually(
    () => rowPaths(page, 'Watched tokens'),
    (rows) =>
      isDeepStrictEqual(
        rows,
        bySymbol.map((address) => `/token/${address}`),
      ),
  );
  expect(page.url()).toContain('sort=symbol');
  const text = (await downloadBy(page, 'Export')).toString();
  expect(JSON.parse(text)).toEqual({ candlehouse_watchlist: 1, tokens, pairs: [world.pair] });

  const other = await open('/watchlist', { look: PHONE });
  await other.getByText('Nothing is watched yet').waitFor();
  const file = { name: 'list.json', mimeType: 'application/json', buffer: Buffer.from(text) };
  await other.getByLabel('Watchlist file').setInputFiles(file);
  await other.getByText('4 added').waitFor();
  await eventually(
    () => rowPaths(other, 'Watched tokens'),
    (rows) => rows.length === 3,
  );
  await other.locator('table[aria-label="Watched pairs"] .star').click();
  await other.getByText('No watched pair').waitFor();
});

test('hostile stored values and imported files give only addresses, a bounded number of them', async () => {
  const address = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;
  const hostile = [
    '<img src=x onerror=alert(1)>',
    '0x12',
    7,
    null,
    { toString: 'x' },
    world.token.toUpperCase().replace('0X', '0x'),
    world.token,
  ];
  const page = await open('/watchlist', {
    script:
      stored('watchlist', { tokens: hostile, pairs: 'all', __proto__: [] }) +
      stored('columns.tokens', [{ a: 1 }, 'no such column', 'constructor']) +
      stored('alerts', [{ id: 'x', kind: 'above', token: 'javascript:alert(1)', symbol: 's', usd: 1 }, 5]) +
      stored('alerts.hits', [{ text: 'x', hash: 'javascript:alert(1)', at: 1 }]) +
      stored('largeSwaps', { valueOf: 1 }) +
      stored('wallets', ['<b>', 3]),
  });
  await eventually(
    () => rowPaths(page, 'Watched tokens'),
    (rows) => isDeepStrictEqual(rows, [`/token/${world.token}`]),
  );
  const load = (text: string): Promise<void> =>
    page
      .getByLabel('Watchlist file')
      .setInputFiles({ name: 'list.json', mimeType: 'application/json', buffer: Buffer.from(text) });
  await load('{"tokens": [');
  await page.getByText('The file is no watchlist').waitFor();
  await load(`{"tokens": ["${'0'.repeat(70_000)}"]}`);
  await page.getByText('The file is too large for a watchlist').waitFor();
  const many = Array.from({ length: 200 }, (_, index) => address(index + 1));
  await load(JSON.stringify({ tokens: [...hostile, ...many], pairs: [] }));
  await page.getByText(/^119 added, \d+ refused$/).waitFor();
  const kept = z.object({ tokens: z.array(z.string()) }).parse(await readStored(page, 'watchlist')).tokens;
  expect(kept).toHaveLength(120);
  expect(kept.every((entry) => /^0x[0-9a-f]{40}$/.test(entry))).toBe(true);
  for (const path of ['/alerts', '/tokens', '/portfolio']) {
    await page.goto(path);
    await untilLoaded(page);
  }
  await page.goto('/alerts');
  await page.getByText('No alerts yet').waitFor();
  expect(await page.locator('main img, main b').count()).toBe(0);
});

test('the user chooses the columns of a table, and the choice lasts', async () => {
  const page = await open('/tokens', { look: PHONE });
  const heads = async (): Promise<string[]> => {
    const cells = page.locator('table[aria-label=Tokens] th');
    const texts: string[] = [];
    for (const cell of await cells.all()) if (await cell.isVisible()) texts.push(await cell.innerText());
    return texts;
  };
  expect(await heads()).not.toContain('Liquidity');
  await page.getByText('Columns', { exact: true }).click();
  const box = page.getByRole('group', { name: 'Columns' });
  await box.getByLabel('Market cap').check();
  await box.getByLabel('Vol 24h').uncheck();
  const check = async (): Promise<void> => {
    const shown = await heads();
    expect(shown).toEqual(expect.arrayContaining(['Market cap', 'Liquidity', 'Age']));
    expect(shown.some((name) => name.startsWith('Vol 24h'))).toBe(false);
  };
  await check();
  await page.reload();
  await untilLoaded(page);
  await check();
  expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(390);
  await page.getByText('Columns', { exact: true }).click();
  await page.getByRole('button', { name: 'Usual columns' }).click();
  expect(await heads()).not.toContain('Liquidity');
});

test('"back" restores the scroll position, the sort order and the page of a list', async () => {
  const page = await open('/pairs?sort=liquidity_usd&limit=25&page=2&liquidity=0');
  const top = async (): Promise<number> => Number(await page.evaluate('Math.round(scrollY)'));
  const rows = page.locator('table[aria-label=Pairs] tbody tr[data-path]');
  await rows.nth(14).scrollIntoViewIfNeeded();
  await page.evaluate('window.scrollTo(0, 420)');
  await eventually(top, (now) => now === 420);
  const hash = await rows.nth(14).getAttribute('data-path');
  await rows.nth(14).locator('.col-age').click();
  await page.waitForURL(`**${hash}`);
  await untilLoaded(page);
  expect(await top()).toBe(0);
  await page.goBack();
  await page.waitForURL(/\/pairs\?/);
  await untilLoaded(page);
  await eventually(top, (now) => now === 420);
  expect(page.url()).toContain('sort=liquidity_usd');
  expect(await page.locator('.pager .range').innerText()).toMatch(/^26/);
  // The position stays after the view has loaded, and a new view begins at its top.
  await page.getByRole('link', { name: 'DEXes' }).click();
  await eventually(top, (now) => now === 0);
});

/** Without navigator.clipboard, as over plain HTTP. */
const PLAIN = 'delete Navigator.prototype.clipboard;';

test('every transaction, maker, token and pair in the lists, trades and wallets has a link and a copy button', async () => {
  const paths = ['/', '/pairs', `/pair/${world.pair}`, `/token/${world.token}`, `/portfolio/${world.wallet}`];
  for (const path of paths) {
    const page = await open(path, { script: PLAIN });
    const links = z.array(z.tuple([z.string(), z.string()])).parse(
      await page.evaluate(`[...document.querySelectorAll('table.data tbody a')].map((link) =>
        [link.pathname.split('/')[2] ?? '', link.closest('td').querySelector('.copy')?.getAttribute('aria-label') ?? ''])`),
    );
    expect([path, links.length > 0]).toEqual([path, true]);
    expect(links.filter(([hex, copied]) => copied !== `Copy ${hex}`)).toEqual([]);
    const label = await copyFirst(page);
    await page.locator('#search').focus();
    await page.keyboard.press('ControlOrMeta+v');
    expect(`Copy ${await page.locator('#search').inputValue()}`).toBe(label);
    await page.goto('about:blank');
  }
});

test('on a phone, the copy buttons of lists, large swaps and wallets are always shown, 24 px wide and high', async () => {
  for (const path of ['/', '/pairs', `/portfolio/${world.wallet}`]) {
    const page = await open(path, { look: PHONE });
    const sizes = z.array(z.tuple([z.number(), z.number(), z.string()])).parse(
      await page.evaluate(`[...document.querySelectorAll('table.data tbody .copy')]
        .filter((button) => button.getClientRects().length > 0)
        .map((button) => [button.offsetWidth, button.offsetHeight, getComputedStyle(button).opacity])`),
    );
    expect([path, sizes.length > 0]).toEqual([path, true]);
    expect(sizes.filter(([width, height, opacity]) => width < 24 || height < 24 || opacity !== '1')).toEqual(
      [],
    );
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    expect([path, Math.max(width, PHONE.width)]).toEqual([path, PHONE.width]);
  }
});
