/**
 * Exports ticks and activity as CSV, Parquet and Arrow. Reads the files back with the engine and compares the rows with
 * the JSON of the same snapshot.
 */
import { readBack, type ReadRow } from '../../../support/engine/readBack';
import { hexOf, snapshotOf } from '../../../support/worlds/world';
import {
  makeMarketWorld,
  MARKET_PLAN,
  serveMarket,
  storeMarket,
  type MarketServer,
} from '../../../support/server/marketServer';

const PAIR = hexOf('bb', 0, 40);
const TOKEN = hexOf('aa', 0, 40);
const FORMATS = {
  'text/csv': 'CSVWithNames',
  'application/vnd.apache.parquet': 'Parquet',
  'application/vnd.apache.arrow.stream': 'ArrowStream',
} as const;

const BARS =
  'time UInt32, open Float64, high Float64, low Float64, close Float64, volume Float64, volume_usd Nullable(Float64), ' +
  'trades UInt64, buys UInt64, sells UInt64, closed Bool';
const TEXTS =
  'side token_in token_out amount_in amount_out amount0 amount1 price price_usd quote_price_usd execution_price sender recipient ' +
  'sqrt_price_x96 liquidity_raw owner reserve0 reserve1 maker token0_symbol token1_symbol';
const EVENTS = [
  'id String, event_type String, block_number UInt32, timestamp UInt32, tx_hash String, log_index UInt32',
  'pair_address String, dex_name String, pool_type UInt8, token0_address String, token1_address String, finalized Bool',
  ...TEXTS.split(' ').map((name) => `${name} Nullable(String)`),
  ...['tick', 'tick_lower', 'tick_upper'].map((name) => `${name} Nullable(Int32)`),
  ...['token0_decimals', 'token1_decimals'].map((name) => `${name} Nullable(UInt8)`),
  ...['amount_usd', 'fee_usd', 'amount0_usd', 'amount1_usd'].map((name) => `${name} Nullable(Float64)`),
].join(', ');

const marketWorld = makeMarketWorld(MARKET_PLAN);
let market: MarketServer;
beforeAll(async () => {
  // readBack.ts writes tables, so the store cannot be shared.
  const { world, finalTo, tip } = marketWorld;
  market = await serveMarket(await storeMarket(marketWorld), snapshotOf(world, finalTo, tip));
});

afterAll(() => market?.close());

type Row = ReadRow;

/** Reads a file with the engine. The engine returns 64-bit integers as text, which this function turns into numbers. */
async function readRowsBack(bytes: Buffer, format: string, columns: string): Promise<Row[]> {
  const rows = await readBack(market.writerUrl, market.db, bytes, format, columns);
  return rows.map((row) => ({ ...row, ...whole(row, ['trades', 'buys', 'sells']) }));
}

const whole = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.flatMap((name) => (name in row ? [[name, Number(row[name])]] : [])));

/** An item of /activity as one flat row. */
function flatten(item: Row): Row {
  const names = EVENTS.split(', ').map((column) => column.split(' ')[0]!);
  const { token0, token1, ...rest } = item as { token0: Row; token1: Row };
  const tokens = Object.fromEntries(
    [token0, token1].flatMap((token, i) =>
      Object.entries(token).map(([name, value]) => [`token${i}_${name}`, value]),
    ),
  );
  const flat: Row = { ...rest, ...tokens };
  return Object.fromEntries(names.map((name) => [name, flat[name] ?? null]));
}

const TICKS = [
  `/api/v1/pairs/${PAIR}/ticks?timeframe=1m&limit=1000&currency=quote`,
  `/api/v1/pairs/${PAIR}/ticks?timeframe=5m&limit=7`,
  `/api/v1/pairs/${hexOf('bb', 2, 40)}/ticks?timeframe=1h&currency=quote&invert=true`,
  `/api/v1/pairs/${PAIR}/ticks?to=1&currency=quote`,
  `/api/v1/tokens/${TOKEN}/ticks?timeframe=15m&limit=50`,
];
const ACTIVITY = [
  '/api/v1/activity?limit=100',
  '/api/v1/activity?limit=40&page=3&event_type=mint,burn',
  `/api/v1/activity?limit=100&pair=${hexOf('bb', 2, 40)}`,
  `/api/v1/activity?pair=${hexOf('99', 1, 40)}`,
];

describe.each(Object.entries(FORMATS))('%s', (type, format) => {
  test.each(TICKS)('a file of %s has exactly the bars of the JSON answer', async (path) => {
    const { data, meta } = (await market.api.get(path)).json as unknown as {
      data: Row[];
      meta: { next_to: number | null };
    };
    const answer = await market.api.get(path, { Accept: type });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringContaining(type)]);
    expect(await readRowsBack(answer.bytes, format, BARS)).toEqual(data);
    if (meta.next_to === null) expect(answer.headers['link']).toBeUndefined();
    else expect(answer.headers['link']).toContain(`to=${meta.next_to}`);
  });

  test.each(ACTIVITY)(
    'a file of %s has the events of the JSON answer, one flat row for each',
    async (path) => {
      const { data, meta } = (await market.api.get(path)).json as unknown as {
        data: Row[];
        meta: { next_cursor: string | null };
      };
      const answer = await market.api.get(path, { Accept: type });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringContaining(type)]);
      const rows = await readRowsBack(answer.bytes, format, EVENTS);
      expect(rows).toEqual(data.map(flatten));
      if (meta.next_cursor !== null) expect(answer.headers['link']).toContain(`cursor=${meta.next_cursor}`);
    },
  );

  test('a file has its own ETag, supports HEAD and If-None-Match, and sends Vary: Accept', async () => {
    const path = TICKS[0]!;
    const json = await market.api.get(path);
    const answer = await market.api.get(path, { Accept: type });
    expect(json.headers['vary']).toMatch(/\bAccept\b/);
    expect(answer.headers['vary']).toMatch(/\bAccept\b/);
    expect(answer.headers['etag']).not.toBe(json.headers['etag']);
    const again = await market.api.get(path, { Accept: type, 'If-None-Match': answer.headers['etag']! });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await market.api.get(path, { Accept: type, 'If-None-Match': json.headers['etag']! });
    expect(other.status).toBe(200);
    const onlyHead = await market.api.get(path, { Accept: type }, 'HEAD');
    expect([onlyHead.status, onlyHead.text]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type', 'x-indexed-block'])
      expect(onlyHead.headers[name]).toBe(answer.headers[name]);
  });

  test('a file names its next page in the Link header, where JSON has meta', async () => {
    const seen: Row[] = [];
    let path: string | undefined = `/api/v1/pairs/${PAIR}/ticks?timeframe=1m&limit=30&currency=quote`;
    const { data } = (await market.api.get(path.replace('limit=30', 'limit=1000'))).json as unknown as {
      data: Row[];
    };
    while (path !== undefined) {
      const answer = await market.api.get(path, { Accept: type });
      seen.unshift(...(await readRowsBack(answer.bytes, format, BARS)));
      path = /^<([^>]+)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
    }
    expect(seen).toEqual(data);
  });
});

test.each([
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
  ['image/png', 'application/json'],
  ['application/json, text/csv', 'application/json'],
  ['text/csv, application/json;q=0.5', 'text/csv'],
  ['text/csv;q=0.4, application/vnd.apache.parquet', 'application/vnd.apache.parquet'],
  ['nonsense;;q=x,\u00e9', 'application/json'],
])('the header Accept "%s" gives %s and never a 406', async (accept, type) => {
  for (const path of [TICKS[1]!, ACTIVITY[0]!]) {
    const answer = await market.api.get(path, accept === '' ? {} : { Accept: accept });
    expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([200, type]);
  }
});

test('errors and endpoints without tables answer JSON for any Accept header', async () => {
  const bad = await market.api.get(`/api/v1/pairs/${PAIR}/ticks?limit=0`, { Accept: 'text/csv' });
  expect([bad.status, bad.json['code']]).toEqual([400, 'bad_request']);
  const overview = await market.api.get('/api/v1/overview', { Accept: 'text/csv' });
  expect([overview.status, overview.headers['content-type']]).toEqual([
    200,
    'application/json; charset=utf-8',
  ]);
});
