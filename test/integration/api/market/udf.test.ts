/** Compares the UDF adapter with the bars of /ticks, with the requests of the charting library. */
import { TIMEFRAME_SECONDS, type Timeframe } from '../../../../src/domain/timeframes';
import type { Bar } from '../../../../src/wire/ticks';
import {
  RESOLUTIONS,
  udfConfigShape,
  udfHistoryShape,
  udfQuotesShape,
  udfSearchAnswerShape,
  udfSymbolShape,
  type UdfHistory,
  type UdfSearchHit,
  type UdfSymbol,
} from '../../../../src/wire/dialects/udf';
import { hexOf, snapshotOf } from '../../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  startMarket,
  type MarketServer,
} from '../../../support/server/marketServer';

const PAIR = hexOf('bb', 0, 40);
const TIMEFRAME_OF: Record<string, Timeframe> = {
  '1': '1m',
  '5': '5m',
  '15': '15m',
  '60': '1h',
  '240': '4h',
  '1D': '1d',
};

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world } = marketWorld;
/** A pair that never trades. */
const SILENT = hexOf('bb', 10, 40);
for (const { swaps } of world.blocks)
  swaps.splice(0, swaps.length, ...swaps.filter(({ pair }) => pair !== SILENT));
const HEAD = snapshotOf(world, marketWorld.finalTo, marketWorld.tip);
let market: MarketServer;
beforeAll(async () => {
  market = await startMarket(marketWorld);
});

afterAll(() => market?.close());

async function getJson<T>(path: string): Promise<T> {
  const answer = await market.api.get(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return JSON.parse(answer.text) as T;
}

const history = async (params: string): Promise<UdfHistory> =>
  udfHistoryShape.parse(await getJson(`/udf/history?${params}`));

/** All bars of a pair from /ticks, which other tests compare with the logs. */
async function allTicks(pair: string, timeframe: Timeframe, currency: string): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (let to = ''; ;) {
    const path = `/api/v1/pairs/${pair}/ticks?limit=1000&timeframe=${timeframe}&currency=${currency}${to}`;
    const { data, meta } = await getJson<{ data: Bar[]; meta: { next_to: number | null } }>(path);
    bars.unshift(...data);
    if (meta.next_to === null) return bars;
    to = `&to=${meta.next_to}`;
  }
}

type PlainBar = Pick<Bar, 'time' | 'open' | 'high' | 'low' | 'close' | 'volume'>;

const toBars = (answer: UdfHistory): PlainBar[] =>
  answer.s === 'no_data'
    ? []
    : answer.t.map((time, i) => ({
        time,
        open: answer.o[i]!,
        high: answer.h[i]!,
        low: answer.l[i]!,
        close: answer.c[i]!,
        volume: answer.v[i]!,
      }));

const plain = (bars: readonly Bar[]): PlainBar[] =>
  bars.map(({ time, open, high, low, close, volume }) => ({ time, open, high, low, close, volume }));

const PAIRS = [PAIR, hexOf('bb', 1, 40), hexOf('bb', 2, 40)];

describe('UDF history has the bars of /ticks', () => {
  test('UDF history at every resolution equals the bars of /ticks', async () => {
    for (const resolution of RESOLUTIONS)
      expect(toBars(await history(`symbol=${PAIR}&resolution=${resolution}&countback=20000`))).toEqual(
        plain(await allTicks(PAIR, TIMEFRAME_OF[resolution]!, 'quote')),
      );
  });

  // A resolution is only another name of a timeframe, so two of them prove the ranges.
  test.each(['1', '240'])(
    'UDF history at resolution %s equals the bars of /ticks in each currency, by range and by countback',
    async (resolution) => {
      for (const pair of PAIRS) {
        for (const [code, currency] of [
          ['', 'quote'],
          ['&currencyCode=usd', 'usd'],
        ] as const) {
          const bars = plain(await allTicks(pair, TIMEFRAME_OF[resolution]!, currency));
          const common = `symbol=${pair}&resolution=${resolution}${code}`;
          expect(toBars(await history(`${common}&countback=20000`))).toEqual(bars);
          const from = bars[Math.floor(bars.length / 3)]?.time ?? 0;
          const to = bars.at(-2)?.time ?? 0;
          expect(toBars(await history(`${common}&from=${from}&to=${to}`))).toEqual(
            bars.filter(({ time }) => time >= from && time < to),
          );
          // The library requests times before 1970 and in the future. `countback` takes precedence over `from`.
          expect(toBars(await history(`${common}&from=-1325376000&to=9999999999`))).toEqual(bars);
          expect(toBars(await history(`${common}&from=${from}&to=${to}&countback=5`))).toEqual(
            bars.filter(({ time }) => time < to).slice(-5),
          );
        }
      }
    },
  );

  test.each([['240', 4]])(
    'UDF history at resolution %s, paged by %s bars and nextTime like the library, has every bar once and ends',
    async (resolution, window) => {
      let jumps = 0;
      const seconds = TIMEFRAME_SECONDS[TIMEFRAME_OF[resolution]!];
      for (const pair of PAIRS) {
        const bars = plain(await allTicks(pair, TIMEFRAME_OF[resolution]!, 'quote'));
        const seen: PlainBar[] = [];
        let to = HEAD.timestamp + 1;
        for (let pages = 0; ; pages += 1) {
          expect(pages).toBeLessThan(2_000);
          const from = to - window * seconds;
          const answer = await history(`symbol=${pair}&resolution=${resolution}&from=${from}&to=${to}`);
          const page = toBars(answer);
          expect(page.every(({ time }, i) => i === 0 || time > page[i - 1]!.time)).toBe(true);
          expect(page.every(({ time }) => time >= from && time < to)).toBe(true);
          seen.unshift(...page);
          if (answer.s === 'ok') to = from;
          else if (answer.nextTime === undefined) break;
          else {
            expect(answer.nextTime).toBeLessThan(from);
            jumps += 1;
            to = answer.nextTime + 1;
          }
        }
        expect(seen).toEqual(bars);
      }
      expect(jumps).toBeGreaterThan(0);
    },
  );

  test('paging UDF history back with countback gives every bar once, and then no_data', async () => {
    const bars = plain(await allTicks(PAIR, '1m', 'quote'));
    const seen: PlainBar[] = [];
    for (let to = HEAD.timestamp + 1; ;) {
      const answer = await history(`symbol=${PAIR}&resolution=1&to=${to}&countback=13`);
      if (answer.s === 'no_data') {
        expect(answer).toEqual({ s: 'no_data' });
        break;
      }
      seen.unshift(...toBars(answer));
      to = answer.t[0]!;
    }
    expect(seen).toEqual(bars);
  });

  test('UDF history of a pair without trades, or of a time before the first trade, is no_data', async () => {
    expect(await history(`symbol=${PAIR}&resolution=60&from=0&to=1000000000`)).toEqual({ s: 'no_data' });
    expect(await history(`symbol=${SILENT}&resolution=60&from=0&to=9999999999`)).toEqual({ s: 'no_data' });
  });
});

test.each([
  ['/udf/history?symbol=NONE&resolution=60', 'symbol'],
  ['/udf/history?resolution=60', 'symbol'],
  [`/udf/history?symbol=${PAIR}`, 'resolution'],
  [`/udf/history?symbol=${PAIR}&resolution=30`, 'resolution'],
  [`/udf/history?symbol=${PAIR}&resolution=60&from=x`, 'from'],
  [`/udf/history?symbol=${PAIR}&resolution=60&from=20&to=10`, 'from'],
  [`/udf/history?symbol=${PAIR}&resolution=60&countback=0`, 'countback'],
  [`/udf/history?symbol=${PAIR}&resolution=60&countback=20001`, 'countback'],
  [`/udf/history?symbol=${PAIR}&resolution=60&currencyCode=EUR`, 'currencyCode'],
  [`/udf/history?symbol=${hexOf('99', 1, 40)}&resolution=60`, 'no pair'],
  ['/udf/symbols?symbol=WPLS/NOTHING@pulsex_v1', 'symbol'],
  ['/udf/symbols?symbol=0xa1077a294dDE1B09bB078844df40758a5D0f9a27', 'checksum'],
  ['/udf/symbols', 'symbol'],
  ['/udf/search?limit=101', 'limit'],
  ['/udf/quotes?symbols=', 'symbols'],
  [`/udf/quotes?symbols=${Array.from({ length: 31 }, () => 'a').join(',')}`, '30'],
])('the UDF request %s is answered {s: error} with a text that contains %s', async (path, text) => {
  const answer = await getJson<{ s: string; errmsg: string }>(path);
  expect(answer).toEqual({ s: 'error', errmsg: expect.stringContaining(text) });
});

test('UDF config lists the resolutions and the DEXes, and UDF time is the server time', async () => {
  const config = udfConfigShape.parse(await getJson('/udf/config'));
  expect(config.supported_resolutions).toEqual(
    Object.keys(TIMEFRAME_OF).sort((a, b) => RESOLUTIONS.indexOf(a as '1') - RESOLUTIONS.indexOf(b as '1')),
  );
  expect(config.exchanges.map(({ value }) => value)).toEqual([
    '',
    'pulsex_v1',
    'pulsex_v2',
    'nine_v3',
    'empty_dex',
  ]);
  const before = Math.floor(Date.now() / 1000);
  const { text, headers } = await market.api.get('/udf/time');
  expect(headers['content-type']).toMatch(/^text\/plain/);
  expect(Number(text)).toBeGreaterThanOrEqual(before);
  expect(Number(text)).toBeLessThanOrEqual(Date.now() / 1000);
});

describe('UDF finds each pair by its symbol', () => {
  test('every pair is found by the name, full name and ticker of its UDF search hit', async () => {
    const hits = udfSearchAnswerShape.parse(
      await getJson('/udf/search?query=&type=&exchange=&limit=100'),
    ) as UdfSearchHit[];
    const pools = world.blocks.flatMap((block) => block.pools);
    expect(hits.map(({ ticker }) => ticker).sort()).toEqual(pools.map(({ address }) => address).sort());
    expect(new Set(hits.map(({ symbol }) => symbol.toLowerCase())).size).toBe(hits.length);
    for (const hit of hits) {
      for (const way of [hit.symbol, hit.symbol.toUpperCase(), hit.full_name, hit.ticker]) {
        const symbol = udfSymbolShape.parse(await getJson(`/udf/symbols?symbol=${encodeURIComponent(way)}`));
        expect([symbol.ticker, symbol.name]).toEqual([hit.ticker, hit.symbol]);
      }
    }
  });

  test('the oldest of several pairs with the same name has the short UDF name, and newer pairs cannot take it', async () => {
    const pools = world.blocks.flatMap((block) => block.pools);
    const names = new Map<string, string[]>();
    for (const { address } of pools) {
      const { name } = await getJson<UdfSymbol>(`/udf/symbols?symbol=${address}`);
      const short = name.replace(/#0x[0-9a-f]{40}$/, '');
      if (short !== name) expect(name).toBe(`${short}#${address}`);
      names.set(short.toLowerCase(), [...(names.get(short.toLowerCase()) ?? []), address]);
    }
    for (const [short, addresses] of names) {
      const made = addresses
        .map((address) => pools.find((pool) => pool.address === address)!)
        .sort((a, b) => (a.created_block ?? 0) - (b.created_block ?? 0) || (a.address < b.address ? -1 : 1));
      const { ticker } = await getJson<UdfSymbol>(`/udf/symbols?symbol=${encodeURIComponent(short)}`);
      expect(ticker).toBe(made[0]!.address);
    }
  });

  test('pricescale, the price step of UDF, shows five significant digits in the requested currency', async () => {
    for (const pair of PAIRS) {
      const { data } = await getJson<{ data: { price: string | null; price_usd: string | null } }>(
        `/api/v1/pairs/${pair}`,
      );
      for (const [code, price] of [
        ['', data.price],
        ['&currencyCode=USD', data.price_usd],
      ] as const) {
        const { pricescale, currency_code, original_currency_code } = await getJson<UdfSymbol>(
          `/udf/symbols?symbol=${pair}${code}`,
        );
        expect(currency_code).toBe(code === '' ? original_currency_code : 'USD');
        const places = Math.log10(pricescale);
        expect(Number.isInteger(places) && places >= 2 && places <= 15).toBe(true);
        if (price !== null && places < 15) expect(Number(price) * pricescale).toBeGreaterThanOrEqual(1e4);
      }
    }
  });

  test('UDF search finds pairs by part of a name, by DEX and by address', async () => {
    const ask = (params: string): Promise<UdfSearchHit[]> => getJson(`/udf/search?limit=100&${params}`);
    const all = await ask('');
    expect((await ask('query=wpls')).length).toBeGreaterThan(0);
    for (const hit of await ask('query=wpls')) expect(hit.symbol).toContain('WPLS');
    expect(await ask('exchange=9mm V3'.replace(' ', '%20'))).toEqual(
      all.filter(({ symbol }) => symbol.includes('@nine_v3')),
    );
    expect(await ask('exchange=nine_v3')).toEqual(all.filter(({ exchange }) => exchange === '9mm V3'));
    expect(await ask(`query=${PAIR}`)).toEqual(all.filter(({ ticker }) => ticker === PAIR));
    expect(await ask('type=stock')).toEqual([]);
    expect(await ask("query=%25' OR 1=1".replaceAll(' ', '%20'))).toEqual([]);
    expect(await getJson('/udf/search?limit=2')).toEqual(all.slice(0, 2));
  });
});

test('UDF quotes come from the two newest daily bars in the requested order, with an error for an unknown symbol', async () => {
  const wanted = [...PAIRS, 'NONE'];
  const { d } = udfQuotesShape.parse(await getJson(`/udf/quotes?symbols=${wanted.join(',')}`));
  expect(d.map(({ n }) => n)).toEqual(wanted);
  expect(d.at(-1)).toMatchObject({ s: 'error' });
  for (const [i, pair] of PAIRS.entries()) {
    const bars = (
      await getJson<{ data: Bar[] }>(
        `/api/v1/pairs/${pair}/ticks?timeframe=1d&currency=quote&fill=true&limit=2`,
      )
    ).data;
    const [before, today] = [bars[0]!, bars[1]!];
    expect(d[i]).toMatchObject({
      s: 'ok',
      v: {
        lp: today.close,
        open_price: today.open,
        high_price: today.high,
        low_price: today.low,
        prev_close_price: before.close,
        ch: today.close - before.close,
        volume: today.volume,
      },
    });
  }
});
