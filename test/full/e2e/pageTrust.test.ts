/** What the web page says about trades, prices and its own state, in a real browser on the real program. */
import { isDeepStrictEqual } from 'node:util';

import type { Page, Route } from 'playwright-core';
import { z } from 'zod';

import { PHONE, untilLoaded } from '../../support/server/browser';
import {
  changeAnswers,
  changeFields,
  keepPicture,
  startPages,
  type PageOptions,
  type Pages,
} from '../../support/server/pages';
import { downloadBy } from '../../support/server/chartPage';
import { asCsv, readCsv, type CsvBar, type PageWorld } from '../../support/worlds/pageWorld';
import { eventually } from '../../support/eventually';
import { readyShape, type ReadyAnswer } from '../../../src/wire/ready';
import { formatPrice, formatUsdPrice } from '../../../src/web/core/format';

let pages: Pages;
let world: PageWorld;

const open = (path: string, options?: PageOptions): Promise<Page> => pages.open(path, options);

beforeAll(async () => {
  // A reorg would load the trades again.
  pages = await startPages({ swaps: 400, days: 1, live: { reorgMs: [1e9, 1e9] } });
  ({ world } = pages);
});

afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

const refShape = z.looseObject({ address: z.string(), symbol: z.string().nullable() });
const pairShape = z.object({ data: z.looseObject({ base_token: refShape, quote_token: refShape }) });
const swapsShape = z.object({
  data: z.array(
    z.looseObject({
      id: z.string(),
      token_out: z.string(),
      base_token: refShape,
      price: z.string().nullable(),
      price_usd: z.string().nullable(),
      quote_price_usd: z.string().nullable(),
    }),
  ),
});
type Swap = z.infer<typeof swapsShape>['data'][number];

const tokensOfPair = async (): Promise<z.infer<typeof pairShape>['data']> =>
  pairShape.parse(await world.json(`/api/v1/pairs/${world.pair}`)).data;

/** The trade list of the page, in one step: the kind and price of each row by the id of its event. */
async function shownTrades(page: Page): Promise<Record<string, readonly [kind: string, price: string]>> {
  const rows = z.array(z.tuple([z.string(), z.string(), z.string()])).parse(
    await page.evaluate(`[...document.querySelectorAll('table.tape tbody tr')].map((row) =>
      [row.dataset.id, row.querySelector('.kind').textContent, row.querySelector('.tape-price').textContent])`),
  );
  return Object.fromEntries(rows.map(([id, kind, price]) => [id, [kind, price]]));
}

/** Compares the rows of the page with the newest swaps of the API, on a chain at rest. */
async function checkTrades(
  page: Page,
  filter: string,
  token: string,
  priceOf: (swap: Swap, isBase: boolean) => string,
): Promise<void> {
  await untilLoaded(page);
  await world.still(async () => {
    const path = `/api/v1/activity?event_type=swap&limit=50&${filter}`;
    const { data } = swapsShape.parse(await world.json(path));
    expect(data.length).toBeGreaterThan(10);
    // A pool whose balance of a token falls sells the token to the trader.
    const wanted = data.map((swap): [string, readonly [string, string]] => [
      swap.id,
      [swap.token_out === token ? 'buy' : 'sell', priceOf(swap, swap.base_token.address === token)],
    ]);
    const shown = await eventually(
      () => shownTrades(page),
      (trades) => data.every(({ id }) => id in trades),
    );
    expect(Object.fromEntries(data.map(({ id }) => [id, shown[id]]))).toEqual(Object.fromEntries(wanted));
  });
}

/** Waits until the chart has the bars of the API, on a chain at rest. Returns the bars. */
const checkChart = (page: Page, path: string): Promise<CsvBar[]> =>
  world.still(async () => {
    const [bars] = await eventually(
      async () => [asCsv(await world.wholeSeries(path)), readCsv(await downloadBy(page, 'CSV'))] as const,
      ([wanted, drawn]) => isDeepStrictEqual(drawn, wanted),
    );
    expect(bars.length).toBeGreaterThan(5);
    return bars;
  });

test('the trades on the page of a token have the side and the price of this token, also where it is the quote token', async () => {
  const { base_token, quote_token } = await tokensOfPair();
  for (const { address } of [base_token, quote_token]) {
    const page = await open(`/token/${address}`);
    expect(await page.locator('th.tape-price').innerText()).toMatch(/price usd/i);
    await checkTrades(page, `token=${address}`, address, (swap, isBase) =>
      formatUsdPrice(isBase ? swap.price_usd : swap.quote_price_usd),
    );
    await keepPicture(page, `trades-token-${address.slice(2, 6)}`);
  }
});

test('the trades on the page of a pair follow the currency and the direction of its chart', async () => {
  const { base_token, quote_token } = await tokensOfPair();
  const page = await open(`/pair/${world.pair}?timeframe=1h`);
  const filter = `pair=${world.pair}`;
  const head = page.locator('th.tape-price');
  await checkTrades(page, filter, base_token.address, ({ price_usd }) => formatUsdPrice(price_usd));
  await page.locator('button[data-value=quote]').click();
  await checkTrades(page, filter, base_token.address, ({ price }) => formatPrice(price));
  expect((await head.innerText()).toLowerCase()).toBe(`price ${quote_token.symbol?.toLowerCase()}`);
  await page.locator('button[data-value=base]').click();
  await checkTrades(page, filter, quote_token.address, ({ price }) => formatPrice(1 / Number(price)));
  expect((await head.innerText()).toLowerCase()).toBe(`price ${base_token.symbol?.toLowerCase()}`);
  await keepPicture(page, 'trades-inverted');
  await checkChart(
    page,
    `/api/v1/pairs/${world.pair}/ticks?timeframe=1h&currency=quote&invert=true&continuous=true`,
  );
});

test('the chart of a token shows the published price first, and other sources and times without trades on demand', async () => {
  const page = await open(`/token/${world.token}?timeframe=1h`);
  const fill = page.getByRole('button', { name: 'Fill' });
  const compare = async (query: string): Promise<number> => {
    await untilLoaded(page);
    const path = `/api/v1/tokens/${world.token}/ticks?timeframe=1h&currency=usd&continuous=true&${query}`;
    const bars = await checkChart(page, path);
    // A bar opens at the close of the bar before it.
    expect(bars.slice(1).map(({ open: opens }) => opens)).toEqual(
      bars.slice(0, -1).map(({ close }) => close),
    );
    return bars.length;
  };
  await compare('source=path');
  await keepPicture(page, 'token-chart-path');
  for (const source of ['main_pool', 'all']) {
    await page.locator(`button[data-value=${source}]`).click();
    await compare(`source=${source}`);
  }
  expect(page.url()).toContain('source=all');
  const bars = await compare('source=all');
  await fill.click();
  expect(await compare('source=all&fill=true')).toBeGreaterThanOrEqual(bars);
  expect(await fill.getAttribute('aria-pressed')).toBe('true');
});

/** A function that changes the answers of /readyz on their way to the page. */
async function changeReadiness(page: Page): Promise<(change: (answer: ReadyAnswer) => ReadyAnswer) => void> {
  let change = (answer: ReadyAnswer): ReadyAnswer => answer;
  await changeAnswers(page, '/readyz', (answer) => change(readyShape.parse(answer)));
  return (next) => void (change = next);
}

test('the header names the state of the service, and prices are grey while they are old', async () => {
  const page = await pages.openBlank({ look: PHONE });
  const setAnswer = await changeReadiness(page);
  await page.route('**/activity/stream*', (route) => route.fulfill({ status: 503, json: {} }));
  await page.goto(`/pair/${world.pair}`);
  await untilLoaded(page);
  const text = page.locator('#state-text');
  const price = async (): Promise<string> =>
    z
      .string()
      .parse(await page.evaluate(`getComputedStyle(document.querySelector('.page-price strong')).color`));
  const fresh = await price();
  const states: [RegExp, (answer: ReadyAnswer) => ReadyAnswer][] = [
    [/^delayed by 6\d s$/, (answer) => withHead(answer, { age_seconds: 62, block_number: LAST })],
    [
      /^delayed by 9 min$/,
      (answer) => withHead(answer, { age_seconds: 540, block_seconds: 100, block_number: LAST }),
    ],
    [
      /^backfilling, 41 %, 3 min left$/,
      (answer) => ({
        ...answer,
        backfill: { from_block: 1, to_block: 900, done_pct: 41.6, seconds_left: 170 },
      }),
    ],
    [
      /^database away$/,
      (answer) => ({
        ...answer,
        checks: { ...answer.checks, database: { ok: false, last_answer_seconds: 9 } },
      }),
    ],
  ];
  for (const [wanted, change] of states) {
    setAnswer(change);
    await eventually(
      () => text.innerText(),
      (shown) => wanted.test(shown),
    );
    expect(await price()).not.toBe(fresh);
    await keepPicture(page, `state-${wanted.source.slice(1, 9).trim()}`);
  }
  // On a chain with a block every ten minutes, half an hour without a block is no delay.
  setAnswer((answer) =>
    withHead(answer, { age_seconds: 1_800, block_seconds: 600, block_number: LAST, ok: true }),
  );
  await eventually(
    () => text.innerText(),
    (shown) => shown === 'connecting',
  );
  expect(await price()).toBe(fresh);
});

/** No newer block ends the delay of a changed answer. */
const LAST = 4_294_967_295;

function withHead(answer: ReadyAnswer, head: Partial<ReadyAnswer['checks']['head']>): ReadyAnswer {
  return { ...answer, checks: { ...answer.checks, head: { ...answer.checks.head, ...head } } };
}

test('the header says live when blocks arrive', async () => {
  const page = await open('/');
  await page.locator('#live[data-state=live]').waitFor();
  expect(await page.locator('#state-text').innerText()).toBe('live');
  await keepPicture(page, 'state-live');
});

test('parts of the page that failed while the service was away load by themselves when it is back', async () => {
  const page = await pages.openBlank();
  const away = (route: Route): Promise<void> => route.fulfill({ status: 503, json: {} });
  for (const path of ['**/api/v1/**', '/readyz']) await page.route(path, away);
  await page.goto('/');
  await eventually(
    () => page.getByRole('alert').count(),
    (count) => count >= 3,
  );
  for (const path of ['**/api/v1/**', '/readyz']) await page.unroute(path, away);
  await eventually(
    () => page.getByRole('alert').count(),
    (count) => count === 0,
  );
  await untilLoaded(page);
  expect(await page.locator('table[aria-label=Tokens] tbody tr').count()).toBeGreaterThan(5);
});

test('the trade list says that it loads or has failed until its first page is there, although trades arrive', async () => {
  const page = await pages.openBlank({ expected: (status) => status === 400 });
  const next: (() => void)[] = [];
  await page.route('**/api/v1/activity?*', async (route) => {
    const isFirst = next.length === 0;
    await new Promise<void>((resolve) => next.push(resolve));
    await (isFirst ? route.fulfill({ status: 400, json: {} }) : route.continue());
  });
  await page.goto(`/pair/${world.pair}`);
  const rows = page.locator('table.tape tbody tr');
  const notice = page.locator('.tape-card').locator('.skeleton, [role=alert]');
  const isAlert = (): Promise<boolean> => notice.evaluate((element) => element.role === 'alert');
  const untilMore = async (): Promise<void> => {
    const before = await rows.count();
    await eventually(
      () => rows.count(),
      (count) => count > before,
    );
  };
  await untilMore();
  expect(await isAlert()).toBe(false);
  next[0]?.();
  await eventually(isAlert, (failed) => failed);
  await untilMore();
  expect(await isAlert()).toBe(true);
  await notice.getByRole('button').click();
  await eventually(isAlert, (failed) => !failed);
  for (const answer of next) answer();
  await notice.waitFor({ state: 'detached' });
  expect(await rows.count()).toBeGreaterThan(10);
});

test('liquidity without a trusted price names what counts, the whole and the reason', async () => {
  const page = await pages.openBlank({ look: PHONE });
  await changeFields(page, `**/api/v1/tokens/${world.token}`, {
    price_confidence: 'low',
    liquidity_usd: 0,
    pools_liquidity_usd: 7_990,
    warnings: [{ code: 'low_liquidity', message: 'Too little <b>liquidity</b>', severity: 'warning' }],
  });
  await changeFields(page, `**/api/v1/pairs/${world.pair}`, {
    liquidity_usd: 0,
    reserve0_usd: 3_000,
    reserve1_usd: 4_990,
  });
  const liquidity = page.locator('.fact', { hasText: /^Liquidity/ }).locator('dd');
  for (const [path, reason] of [
    [`/token/${world.token}`, 'Too little <b>liquidity</b>'],
    [`/pair/${world.pair}`, 'No token of this pool has a trusted price'],
  ] as const) {
    await page.goto(path);
    await untilLoaded(page);
    const text = (await liquidity.innerText()).replace(/\s+/g, ' ');
    expect(text).toBe(`counted $0 of $7.99k: price not trusted ${reason}`);
  }
  await keepPicture(page, 'counted');
});

test('the page of an LP token says so and links to its pair', async () => {
  const page = await open(`/token/${world.pair}`);
  const link = page.locator('.lp-of a');
  expect(await link.getAttribute('href')).toBe(`/pair/${world.pair}`);
  const { base_token, quote_token } = await tokensOfPair();
  expect(await link.innerText()).toBe(`${base_token.symbol} / ${quote_token.symbol}`);
  const other = await pages.openBlank();
  const lp_pair = { address: world.pair, name: 'A / B' };
  await changeFields(other, `**/api/v1/tokens/${world.token}`, { lp_pair });
  await other.goto(`/token/${world.token}`);
  await untilLoaded(other);
  expect(await other.locator('.lp-of').innerText()).toBe('LP token of A / B');
});

const eventsShape = z.object({
  data: z.array(
    z.looseObject({
      id: z.string(),
      tx_hash: z.string(),
      decoded: z
        .looseObject({ name: z.string(), args: z.array(z.looseObject({ value: z.unknown() })) })
        .nullable(),
    }),
  ),
});

test('amounts of decoded logs are in whole tokens, with the raw integer in the tooltip', async () => {
  const [page, answer] = await world.still(async () => [
    await open(`/contract/${world.pair}`),
    await world.json(`/api/v1/contracts/${world.pair}/events?limit=50`),
  ]);
  const { data } = eventsShape.parse(answer);
  const { tokens } = z
    .object({ data: z.looseObject({ tokens: z.array(refShape.extend({ decimals: z.int() })) }) })
    .parse(await world.json(`/api/v1/pairs/${world.pair}`)).data;
  const sync = data.findLast(({ decoded }) => decoded?.name === 'Sync');
  expect(sync).toBeDefined();
  for (const [index, { value }] of (sync?.decoded?.args ?? []).entries()) {
    const raw = String(value);
    const cell = page.locator(`dd[title="${raw} raw"]`).first();
    const [number = '', symbol] = (await cell.innerText()).split(' ');
    const { symbol: wanted = null, decimals = 0 } = tokens[index] ?? {};
    expect(symbol).toBe(wanted);
    expect(Number(number.replaceAll(',', ''))).toBeCloseTo(Number(raw) / 10 ** decimals, 3);
  }
  await keepPicture(page, 'decoded');
});

test('the search finds a transaction by its whole hash and opens its logs', async () => {
  const { data } = eventsShape.parse(await world.json(`/api/v1/contracts/${world.pair}/events?limit=50`));
  const hash = data.at(-1)?.tx_hash ?? '';
  const logs = await world.json(`/api/v1/logs?tx_hash=${hash}&limit=200`);
  const page = await open('/');
  await page.getByRole('combobox', { name: 'Search' }).fill(hash);
  await page.locator('#found [role=option]', { hasText: hash }).click();
  await page.waitForURL(`**/tx/${hash}`);
  await untilLoaded(page);
  expect(await page.locator('ol.events > li').count()).toBe(eventsShape.parse(logs).data.length);
  await keepPicture(page, 'transaction');
});

test('a search names each pair by its tokens, not by its LP token', async () => {
  const page = await open('/');
  await page.getByRole('combobox', { name: 'Search' }).fill('uni-v2');
  const options = page.locator('#found [role=option][id]');
  await options.first().waitFor();
  const titles = await options.locator('strong').allInnerTexts();
  expect(titles.length).toBeGreaterThan(3);
  expect(titles.filter((title) => !title.includes(' / '))).toEqual([]);
  await keepPicture(page, 'search');
});

test('results of an earlier text cannot be opened while the next search runs', async () => {
  const page = await open('/');
  const box = page.getByRole('combobox', { name: 'Search' });
  const results = page.locator('#found [role=option][id]');
  await box.fill('wpls');
  await results.first().waitFor();
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/api/v1/search?*', async (route) => {
    await held;
    await route.continue();
  });
  await box.fill('hexd');
  expect(await results.count()).toBe(0);
  expect(await page.locator('#found').innerText()).toBe('Searching …');
  answer();
  await results.first().waitFor();
  expect((await results.first().innerText()).toLowerCase()).toContain('hexd');
});
