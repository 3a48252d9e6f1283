/**
 * The web page in a real browser on the real program: all views, sorting and search of lists, keyboard, themes, faults.
 */
import { isDeepStrictEqual } from 'node:util';

import type { Page } from 'playwright-core';

import { DESKTOP, layoutShifts, measurePicture, PHONE, untilLoaded } from '../../support/server/browser';
import { keepPicture, startPages, type PageOptions, type Pages } from '../../support/server/pages';
import { downloadBy } from '../../support/server/chartPage';
import { asCsv, readCsv, type CsvBar, type PageWorld } from '../../support/worlds/pageWorld';
import { eventually } from '../../support/eventually';

/** Web Vitals rates a value below 0.1 as good. */
const SHIFTS_MAX = 0.05;

let pages: Pages;
let world: PageWorld;

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

/** Reads the table in one step, because the page may redraw it at any time. */
const rowPaths = (page: Page, label: string): Promise<(string | null)[]> =>
  page.evaluate(
    `[...document.querySelectorAll('table[aria-label=${label}] tbody tr')].map((row) => row.getAttribute('data-path'))`,
  );

beforeAll(async () => {
  pages = await startPages();
  ({ world } = pages);
});

afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

const VIEWS: [name: string, path: () => string][] = [
  ['market', () => '/'],
  ['pairs', () => '/pairs'],
  ['pair', () => `/pair/${world.pair}`],
  ['token', () => `/token/${world.token}`],
  ['portfolio', () => `/portfolio/${world.wallet}`],
  ['contract', () => `/contract/${world.pair}`],
  ['dexes', () => '/dexes'],
  ['dex', () => '/dex/devswap_v2'],
  ['search', () => '/search?q=hexd'],
  ['docs', () => '/docs'],
];

test.each(VIEWS)(
  'the page draws the view "%s" on desktop and phone, in dark and light themes',
  async (name, path) => {
    for (const look of [DESKTOP, PHONE]) {
      const page = await open(path(), { look });
      const picture = await page.screenshot();
      await keepPicture(page, `${name}-${look.theme}-${look.width}`);
      const { deviation, colours } = await measurePicture(page, picture);
      expect(deviation).toBeGreaterThan(8);
      expect(colours).toBeGreaterThan(12);
      expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
        look.width,
      );
      const { sum, moved } = await layoutShifts(page);
      expect({ look: look.width, moved: sum < SHIFTS_MAX ? [] : moved }).toEqual({
        look: look.width,
        moved: [],
      });
    }
  },
);

test('a page named like a built-in property of JavaScript does not exist, and causes no error', async () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const page = await open(`/#/${name}`);
    expect(await page.locator('main').innerText()).toContain('This page does not exist');
  }
});

test('a click on a column sorts the tokens like the API, and a second click reverses the order', async () => {
  const page = await open('/');
  const head = page.locator('th button[data-sort=symbol]');
  for (const order of ['desc', 'asc']) {
    await head.click();
    await page
      .locator(`th[aria-sort=${order === 'asc' ? 'ascending' : 'descending'}] button[data-sort=symbol]`)
      .waitFor();
    await untilLoaded(page);
    const wanted = await world.addresses(`/api/v1/tokens?sort=symbol&order=${order}&min_liquidity_usd=1000`);
    expect(await rowPaths(page, 'Tokens')).toEqual(wanted.map((address) => `/token/${address}`));
  }
  expect(page.url()).toContain('sort=symbol');
});

test('pages of the pair table have the same order as pages of the API, and the URL keeps the position', async () => {
  const page = await open('/pairs?sort=created_at&liquidity=0');
  const wanted = await world.addresses('/api/v1/pairs?sort=created_at&limit=100');
  const seen = await rowPaths(page, 'Pairs');
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.locator('.pager .range').filter({ hasText: /^26/ }).waitFor();
  seen.push(...(await rowPaths(page, 'Pairs')));
  expect(seen).toEqual(wanted.slice(0, 50).map((address) => `/pair/${address}`));
  await page.reload();
  await untilLoaded(page);
  expect(await page.locator('.pager .range').innerText()).toMatch(/^26/);
});

test('the filter finds the same pairs as the API, and the page shows a message if no pair matches', async () => {
  const page = await open('/pairs');
  const filter = page.getByRole('searchbox', { name: 'Filter pairs' });
  await filter.fill('weth');
  const wanted = async (): Promise<string[]> =>
    (await world.addresses('/api/v1/pairs?q=weth')).map((address) => `/pair/${address}`);
  await eventually(
    async () => [await wanted(), await rowPaths(page, 'Pairs')],
    ([hashes, rows]) => isDeepStrictEqual(rows, hashes),
  );
  await filter.fill('no such thing');
  await page.getByText('No matching pairs').waitFor();
});

test('the slash key, typing, an arrow and Enter open a token from the search, and arrows and Enter open a row of a table', async () => {
  const page = await open('/');
  await page.keyboard.press('/');
  expect(await page.evaluate('document.activeElement.id')).toBe('search');
  await page.keyboard.type('hexd');
  await page.locator('#found [role=option][id]').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const [found] = await world.addresses('/api/v1/tokens?q=hexd');
  await page.waitForURL(`**/token/${found}`);
  await page.goto('/tokens');
  await untilLoaded(page);
  const [, second] = await rowPaths(page, 'Tokens');
  await page.locator('table[aria-label=Tokens] tbody tr').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${second}`);
});

test('the search box offers an address both as a pair and as a wallet', async () => {
  const page = await open('/');
  await page.getByRole('combobox', { name: 'Search' }).fill(world.pair);
  const options = page.locator('#found [role=option][id]');
  await options.first().waitFor();
  expect(await options.locator('.badge').allInnerTexts()).toEqual(expect.arrayContaining(['pair', 'wallet']));
});

test('the theme follows the system until the user switches it, and the choice is kept', async () => {
  const page = await open('/', { look: { ...DESKTOP, theme: 'light' } });
  const background = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.getByRole('button', { name: 'Switch to light' }).click();
  expect(await background()).toBe(light);
  await page.reload();
  expect(await background()).toBe(light);
});

test('a failed request shows an error with a retry button, and an unknown pair shows a message', async () => {
  const page = await pages.openBlank({
    expected: (status, path) => status === 404 || (status === 0 && path === '/readyz'),
  });
  // While /readyz does not answer, failed parts of the page do not load by themselves.
  await page.route('/readyz', (route) => route.abort());
  await page.route('**/api/v1/tokens*', (route) =>
    route.fulfill({ status: 503, json: { success: false, error: 'away', code: 'unavailable' } }),
  );
  await page.goto('/');
  await page.getByRole('alert').getByText('away').waitFor();
  await page.unroute('**/api/v1/tokens*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await untilLoaded(page);
  expect((await rowPaths(page, 'Tokens')).length).toBeGreaterThan(5);
  await page.goto('/pair/0x00000000000000000000000000000000000000ff');
  await page.getByText('There is no pair at').waitFor();
});

test('names from the chain are shown as plain text, even if they contain HTML', async () => {
  const [hostile] = await world.addresses('/api/v1/tokens?q=onerror');
  const page = await open(`/token/${hostile}`);
  expect(await page.locator('h1').innerText()).toContain('<img src=x');
  expect(await page.locator('main img').count()).toBe(0);
});

/** The first and last bar of the chart and the number of bars, as the chart reports them. */
async function shownBars(page: Page): Promise<{ bars: number; first: number; last: number }> {
  const chart = page.locator('.chart');
  const read = async (name: string): Promise<number> => Number(await chart.getAttribute(`data-${name}`));
  return { bars: await read('bars'), first: await read('first'), last: await read('last') };
}

async function csvBars(page: Page): Promise<CsvBar[]> {
  return readCsv(await downloadBy(page, 'CSV'));
}

/** Waits until the newest bars of the API are the bars of the chart, on a chain at rest. Returns all bars of the API. */
const checkNewestBars = (page: Page, timeframe: string, currency: string): Promise<CsvBar[]> =>
  world.still(async () => {
    const path = `/api/v1/pairs/${world.pair}/ticks?timeframe=${timeframe}&currency=${currency}&continuous=true`;
    const [series] = await eventually(
      async () => [asCsv(await world.wholeSeries(path)), await csvBars(page)] as const,
      ([wanted, drawn]) => isDeepStrictEqual(drawn, wanted.slice(-drawn.length)),
    );
    return series;
  });

test('the chart shows the bars of the API for each timeframe and currency', async () => {
  const page = await open(`/pair/${world.pair}`);
  for (const currency of ['quote', 'usd']) {
    await page.locator(`button[data-value=${currency}]`).click();
    for (const timeframe of ['1m', '5m', '15m', '4h', '1d', '1h']) {
      await page.locator(`button[data-value="${timeframe}"]`).click();
      await untilLoaded(page);
      const series = await checkNewestBars(page, timeframe, currency);
      const { bars } = await shownBars(page);
      expect(bars).toBeGreaterThanOrEqual(Math.min(300, series.length));
    }
  }
});

test('dragging the chart back loads all older bars, each once and without gaps', async () => {
  const page = await open(`/pair/${world.pair}?timeframe=1m&currency=quote`);
  const before = await shownBars(page);
  const box = await page.locator('.chart-canvas').boundingBox();
  if (box === null) throw new Error('the page has no chart');
  const middle = box.y + box.height / 2;
  for (
    let drags = 0;
    drags < 60 && (await page.locator('.chart').getAttribute('data-state')) !== 'all';
    drags += 1
  ) {
    await page.mouse.move(box.x + 20, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 120, middle, { steps: 4 });
    await page.mouse.up();
    await untilLoaded(page);
  }
  const series = await checkNewestBars(page, '1m', 'quote');
  expect((await shownBars(page)).bars).toBe(series.length);
  expect(series.length).toBeGreaterThan(before.bars);
});

test('new trades appear in the trade list and in the last bar without a reload, as in the API', async () => {
  const page = await open(`/pair/${world.pair}?timeframe=1d&currency=quote`);
  const newest = page.locator('table.tape tbody tr').first();
  const first = await newest.getAttribute('data-id');
  const trades = async (): Promise<number> => (await csvBars(page)).at(-1)?.trades ?? 0;
  const before = await trades();
  await eventually(
    () => newest.getAttribute('data-id'),
    (id) => id !== first,
  );
  await eventually(trades, (now) => now > before);
  await checkNewestBars(page, '1d', 'quote');
  await page.locator('#live[data-state=live]').waitFor();
});

/** Counts the times that the page asks the browser for styles, which is slow. */
const COUNT_STYLES = `window.styles = 0;
  const read = window.getComputedStyle;
  window.getComputedStyle = (...given) => { window.styles += 1; return read.apply(window, given); };`;

test('a trade draws the last bar of the chart again, and not the whole series', async () => {
  const page = await open(`/pair/${world.pair}?timeframe=1m`, { script: COUNT_STYLES });
  await page.getByRole('button', { name: 'Indicators' }).click();
  for (const box of await page.locator('.menu-panel:visible input').all()) await box.check();
  const drawn = async (): Promise<number> =>
    Number(await page.locator('.chart-canvas').getAttribute('data-drawn'));
  await eventually(drawn, (bars) => bars > 0 && bars <= 2);
  const styles = async (): Promise<number> => Number(await page.evaluate('window.styles'));
  const [before, newest] = [await styles(), page.locator('table.tape tbody tr').first()];
  for (let trades = 0; trades < 3; trades += 1) {
    const id = await newest.getAttribute('data-id');
    await eventually(
      () => newest.getAttribute('data-id'),
      (next) => next !== id,
    );
    expect(await drawn()).toBeLessThanOrEqual(2);
  }
  const { bars } = await shownBars(page);
  expect(bars).toBeGreaterThan(200);
  expect((await styles()) - before).toBeLessThan(bars / 2);
  await checkNewestBars(page, '1m', 'usd');
});

test.each([
  ['pair', () => world.pair],
  ['token', () => world.token],
])(
  'focus and selection stay on the page of a %s while trades arrive and figures change',
  async (view, address) => {
    const page = await open(`/${view}/${address()}`);
    const newest = page.locator('table.tape tbody tr').first();
    const price = page.locator('.page-price');
    const keepFocus = (selector: string): Promise<unknown> =>
      page.evaluate(`window.kept = document.querySelector('${selector}'), window.kept.focus()`);
    const isFocused = (): Promise<unknown> => page.evaluate('document.activeElement === window.kept');
    const first = await newest.getAttribute('data-id');
    await keepFocus('table.tape tbody tr:last-child .copy');
    await eventually(
      () => newest.getAttribute('data-id'),
      (id) => id !== first,
    );
    expect(await isFocused()).toBe(true);
    const before = await price.innerText();
    await keepFocus('.page-name a');
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('.rail-card dt'))");
    await eventually(
      () => price.innerText(),
      (text) => text !== before,
    );
    expect(await isFocused()).toBe(true);
    expect(await page.evaluate('getSelection().toString()')).toBe('Liquidity');
  },
);
