/**
 * Recomputes the bars of `source=path` from the audit of every block: the price of the audit, whenever it differs from the
 * price of the audit of the block before. In final blocks, head blocks, and after a reorg. Recomputes the bars of
 * `source=main_pool` from the swaps of the pool.
 */
import type { QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import { TIMEFRAME_SECONDS, type Timeframe } from '../../../src/domain/timeframes';
import type { IngestSession } from '../../../src/ingest/session/session';
import { snapshotParams, type HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { readPricePage } from '../../../src/query/bars/hopPages';
import type { PricePoint } from '../../../src/query/bars/pathPoints';
import { readHead } from '../../../src/query/head/headState';
import { auditAnswerShape } from '../../../src/wire/audit';
import { ticksAnswerShape, type Bar } from '../../../src/wire/ticks';
import { tokenTicksAnswerShape, type TokenCurrency, type TokenTicksAnswer } from '../../../src/wire/tokens';
import { askRows } from '../../support/engine/askRows';
import { openTestStore, type TestStore } from '../../support/engine/testStore';
import { startApi, type ApiServer } from '../../support/server/apiServer';
import { headerOf } from '../../simulation/chain/simNode';
import { AuditChain, TOKENS } from '../../integration/api/audit/auditChain';
import { AUDIT_CHAIN, openAuditSession } from '../../integration/api/audit/auditWorld';

const SEED = 4_244;
const DEPTH = 20;
/** A page may read this many changes beyond twice its limit: all changes of one block, and changes of the head. */
const HOPS_SPARE = 160;
type Name = keyof typeof TOKENS;
/** An anchor, paths of one to four hops, a token without a price, a price push, and a token that is born late. */
const NAMES = [
  'DAI',
  'WPLS',
  'HEX',
  'PLSX',
  'FOUR',
  'LOST',
  'THIN',
  'LATE',
] as const satisfies readonly Name[];

let store: TestStore;
let chain: AuditChain;
let session: IngestSession;
let head: HeadSnapshot;
let api: ApiServer;
/** Prices of audits by token and block hash, because a reorg replaces blocks. */
const audited = new Map<string, Promise<Audited>>();

interface Audited {
  readonly usd: string | null;
  readonly native: string | null;
}

beforeAll(async () => {
  store = await openTestStore();
  chain = new AuditChain(SEED);
  chain.mine(92);
  session = await openAuditSession(chain, store.db, DEPTH);
  api = await startApi(store.runner, () => head, { chain: AUDIT_CHAIN });
  await catchUp(store.runner);
  for (const name of NAMES) await changesOf(TOKENS[name].address, 'usd');
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

async function catchUp(runner: QueryRunner): Promise<void> {
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  head = (await readHead(runner, AUDIT_CHAIN.chainId))!;
  expect([head.number, head.hash]).toEqual([chain.head.number, chain.head.hash]);
  expect(head.blocks.length).toBeGreaterThan(5);
}

function auditOf(token: Hex, block: number): Promise<Audited> {
  const key = `${token} ${chain.at(block)!.hash}`;
  const known = audited.get(key) ?? readAudit(token, block);
  audited.set(key, known);
  return known;
}

async function readAudit(token: Hex, block: number): Promise<Audited> {
  const { status, text } = await api.get(`/api/v1/tokens/${token}/audit?block=${block}`);
  if (status === 404) return { usd: null, native: null };
  const { data } = auditAnswerShape.parse(JSON.parse(text));
  return { usd: data.price_usd, native: data.price_native };
}

interface Change {
  readonly timestamp: number;
  readonly price: number;
  /** The prices differ so little that the stored ones, which have fewer digits, may be equal. */
  readonly doubtful: boolean;
}

/** The blocks in which the audit's price differs from the price one block before. */
async function changesOf(token: Hex, currency: TokenCurrency): Promise<Change[]> {
  const changes: Change[] = [];
  const numbers = Array.from({ length: head.number - head.startBlock + 1 }, (_, i) => head.startBlock + i);
  const audits = await Promise.all(numbers.map((number) => auditOf(token, number)));
  let before: string | null = null;
  for (const [index, number] of numbers.entries()) {
    const price = audits[index]![currency];
    const doubtful =
      price !== null && before !== null && Math.abs(Number(price) / Number(before) - 1) < 1e-14;
    if (price !== null && price !== before)
      changes.push({ timestamp: chain.at(number)!.timestamp, price: Number(price), doubtful });
    before = price;
  }
  return changes;
}

type PlainBar = Pick<Bar, 'time' | 'open' | 'high' | 'low' | 'close'>;

function barsOf(changes: readonly Omit<Change, 'doubtful'>[], seconds: number): PlainBar[] {
  const slots = [...new Set(changes.map(({ timestamp }) => timestamp - (timestamp % seconds)))];
  return slots.map((time) => {
    const prices = changes
      .filter(({ timestamp }) => timestamp >= time && timestamp < time + seconds)
      .map(({ price }) => price);
    return {
      time,
      open: prices[0]!,
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices.at(-1)!,
    };
  });
}

async function getTicks(token: Hex, query: string): Promise<TokenTicksAnswer> {
  const { status, text } = await api.get(`/api/v1/tokens/${token}/ticks?${query}`);
  expect([query, status]).toEqual([query, 200]);
  return tokenTicksAnswerShape.parse(JSON.parse(text));
}

function expectClose(got: readonly Bar[], wanted: readonly PlainBar[]): void {
  expect(got.map(({ time }) => time)).toEqual(wanted.map(({ time }) => time));
  got.forEach((bar, index) => {
    for (const field of ['open', 'high', 'low', 'close'] as const)
      expect(Math.abs(bar[field] / wanted[index]![field] - 1)).toBeLessThan(1e-9);
  });
}

/**
 * The expected bars. Each bar may be made of all price changes, or of all but the doubtful ones, whichever the answer
 * has.
 */
function expectedBars(got: readonly Bar[], changes: readonly Change[], seconds: number): PlainBar[] {
  const sure = new Map(
    barsOf(
      changes.filter(({ doubtful }) => !doubtful),
      seconds,
    ).map((bar) => [bar.time, bar]),
  );
  const given = new Map(got.map((bar) => [bar.time, bar]));
  return barsOf(changes, seconds).flatMap((bar) => {
    const other = sure.get(bar.time);
    const have = given.get(bar.time);
    if (have === undefined) return other === undefined ? [] : [bar];
    const isOther = other !== undefined && Math.abs(have.open / other.open - 1) < 1e-9;
    return [isOther ? other : bar];
  });
}

/** Compares the bars of one token, and returns their number. */
async function check(name: Name, timeframe: Timeframe, currency: TokenCurrency): Promise<number> {
  const { address } = TOKENS[name];
  const changes = await changesOf(address, currency);
  const query = `source=path&timeframe=${timeframe}&currency=${currency}&limit=1000`;
  const { data, meta } = await getTicks(address, query);
  const wanted = expectedBars(data, changes, TIMEFRAME_SECONDS[timeframe]);
  expectClose(data, wanted);
  expect(meta).toMatchObject({ no_data: wanted.length === 0, next_to: null, as_of_block: head.number });
  const reason = { usd: 'no_usd_price', native: 'no_native_price' }[currency];
  expect(meta.reason).toBe(wanted.length === 0 ? reason : undefined);
  return data.length;
}

async function checkAll(timeframes: readonly Timeframe[]): Promise<number> {
  let bars = 0;
  for (const timeframe of timeframes)
    for (const name of NAMES)
      for (const currency of ['usd', 'native'] as const) bars += await check(name, timeframe, currency);
  return bars;
}

test('bars of the published price equal the audits of all blocks, final or not', async () => {
  expect(await checkAll(['1m', '15m'])).toBeGreaterThan(100);
});

test('limit, to, fill and continuous choose bars of the published price as they do for all prices', async () => {
  const { address } = TOKENS.HEX;
  const every = await getTicks(address, 'source=path&timeframe=1m&limit=1000');
  const whole = expectedBars(every.data, await changesOf(address, 'usd'), 60);
  const pages: Bar[] = [];
  for (let to: number | null = null, first = true; first || to !== null; first = false) {
    const query = `source=path&timeframe=1m&limit=7${to === null ? '' : `&to=${to}`}`;
    const { data, meta } = await getTicks(address, query);
    pages.unshift(...data);
    to = meta.next_to;
  }
  expectClose(pages, whole);
  const middle = whole[9]!.time;
  const before = whole.filter(({ time }) => time < middle);
  const { data, meta } = await getTicks(
    address,
    `source=path&timeframe=1m&limit=4&continuous=true&to=${middle}`,
  );
  const connected = before.map((bar, index): PlainBar => {
    const open = before[index - 1]?.close ?? bar.open;
    return { ...bar, open, high: Math.max(bar.high, open), low: Math.min(bar.low, open) };
  });
  expectClose(data, connected.slice(-4));
  expect(meta.next_to).toBe(data[0]!.time);
  const filled = await getTicks(address, `source=path&timeframe=1m&limit=1000&fill=true`);
  const times = Array.from({ length: filled.data.length }, (_, i) => whole[0]!.time + 60 * i);
  expect(filled.data.map(({ time }) => time)).toEqual(times);
  expect(times.at(-1)).toBe(head.timestamp - (head.timestamp % 60));
  expectClose(
    filled.data.filter(({ time }) => whole.some((bar) => bar.time === time)),
    whole,
  );
  const early = await getTicks(address, `source=path&to=${chain.at(1)!.timestamp}`);
  expect(early).toMatchObject({ data: [], meta: { no_data: true, next_to: null } });
  expect(early.meta.reason).toBeUndefined();
});

test('volume and counts of the published price are those of all swaps, and zero in a bar without a swap', async () => {
  let quiet = 0;
  let traded = 0;
  for (const name of NAMES) {
    const { address } = TOKENS[name];
    const all = new Map(
      (await getTicks(address, 'timeframe=1m&limit=1000')).data.map((bar) => [bar.time, bar]),
    );
    const path = await getTicks(address, 'source=path&timeframe=1m&limit=1000');
    for (const { time, volume, volume_usd, trades, buys, sells, closed } of path.data) {
      const same = all.get(time);
      if (trades === 0) quiet += 1;
      // Bars of all swaps leave out a bar in which no swap has a price.
      if (same === undefined && trades > 0) continue;
      traded += same === undefined ? 0 : 1;
      const none = { volume: 0, volume_usd: 0, trades: 0, buys: 0, sells: 0, closed };
      expect({ volume, volume_usd, trades, buys, sells, closed }).toEqual({ ...none, ...pick(same) });
    }
  }
  expect(Math.min(quiet, traded)).toBeGreaterThan(10);
});

function pick(bar: Bar | undefined): Partial<Bar> {
  if (bar === undefined) return {};
  const { volume, volume_usd, trades, buys, sells, closed } = bar;
  return { volume, volume_usd, trades, buys, sells, closed };
}

test('pages of any size give every change of the published price once', async () => {
  const source = { runner: store.runner, chainId: AUDIT_CHAIN.chainId, sources: AUDIT_CHAIN };
  for (const name of NAMES) {
    const { address: token } = TOKENS[name];
    for (const native of [null, TOKENS.WPLS.address]) {
      const question = { token, native, firstBlock: head.startBlock };
      const whole = await readPricePage(source, head, question, head.number, 100_000);
      expect(whole.firstBlock).toBe(head.startBlock);
      for (const limit of [5, 23]) {
        const points: PricePoint[] = [];
        for (let block = head.number; block >= head.startBlock;) {
          const page = await readPricePage(source, head, question, block, limit);
          expect(page.changes).toBeLessThan(2 * limit + HOPS_SPARE);
          points.unshift(...page.points);
          block = page.firstBlock - 1;
        }
        expect(points).toEqual(whole.points);
      }
    }
  }
});

test('bars of the main pool are the bars of the pool with the most weight in the audit, named in meta.pool', async () => {
  const seen = new Set<string>();
  for (const name of NAMES) {
    const { address } = TOKENS[name];
    const { text } = await api.get(`/api/v1/tokens/${address}/audit`);
    const pool = auditAnswerShape.parse(JSON.parse(text)).data.hops[0]?.pools[0];
    for (const currency of ['usd', 'native'] as const) {
      const query = `timeframe=1m&limit=9&continuous=true&currency=${currency}`;
      const { data, meta } = await getTicks(address, `source=main_pool&${query}`);
      expect(meta).toMatchObject({ currency, base_token: { address }, pool: pool?.address ?? null });
      if (pool === undefined) {
        expect([data, meta.no_data, meta.reason]).toEqual([[], true, 'no_main_pool']);
        continue;
      }
      const wanted = await poolBars(pool.address, address, currency);
      expectClose(data, wanted.slice(-9));
      expect(data.map(({ trades }) => trades)).toEqual(wanted.slice(-9).map(({ trades }) => trades));
      expect(meta.next_to).toBe(wanted.length > 9 ? data[0]!.time : null);
      seen.add(currency);
    }
    // The bars of the pair itself, where it has prices of this token in USD.
    const pair = await api.get(`/api/v1/pairs/${pool?.address ?? address}/ticks?timeframe=1m&limit=9`);
    if (pair.status !== 200) continue;
    const own = ticksAnswerShape.parse(JSON.parse(pair.text));
    if (own.meta.base_token.address !== address) continue;
    const { data } = await getTicks(address, 'source=main_pool&timeframe=1m&limit=9');
    expect(data).toEqual(own.data);
    seen.add('pair');
  }
  expect([...seen].sort()).toEqual(['native', 'pair', 'usd']);
});

/** Continuous bars of a pool from its swaps, per whole `token`. */
async function poolBars(
  pool: string,
  token: Hex,
  currency: TokenCurrency,
): Promise<(PlainBar & { trades: number })[]> {
  const columns = `ord, timestamp, native_usd, if((lower(hex(s.token0)) = {token:String}) = base_is_token0, price_usd, quote_price_usd) AS usd`;
  const swaps = await askRows<{ ord: string; timestamp: number; native_usd: number; usd: number }>(
    store.db,
    `SELECT * FROM (
       SELECT ${columns} FROM swaps AS s WHERE lower(hex(s.pair)) = {pool:String} AND ord <= {final_ord:UInt64}
       UNION ALL SELECT ${columns} FROM swaps_head AS s
       WHERE lower(hex(s.pair)) = {pool:String} AND has({commits:Array(UInt64)}, commit) AND ord > {final_ord:UInt64}
     ) AS every ORDER BY every.ord`,
    { ...snapshotParams(head), pool: pool.slice(2), token: token.slice(2) },
  );
  const priced = swaps.map(({ timestamp, usd, native_usd }) => ({
    timestamp,
    price: currency === 'usd' ? usd : usd / native_usd,
  }));
  const bars = barsOf(
    priced.filter(({ price }) => price > 0),
    60,
  );
  return bars.map((bar, index) => {
    const open = bars[index - 1]?.close ?? bar.open;
    const trades = priced.filter(
      ({ timestamp }) => timestamp >= bar.time && timestamp < bar.time + 60,
    ).length;
    return { ...bar, open, high: Math.max(bar.high, open), low: Math.min(bar.low, open), trades };
  });
}

test('an unknown source is a 400 that names the allowed ones, and a token without a pool is not found', async () => {
  const bad = await api.get(`/api/v1/tokens/${TOKENS.HEX.address}/ticks?source=pool`);
  expect([bad.status, bad.json['code']]).toEqual([400, 'bad_request']);
  expect(bad.json['error']).toBe('source: got "pool"; allowed: one of all, path, main_pool');
  const flag = await api.get(`/api/v1/tokens/${TOKENS.HEX.address}/ticks?continuous=1`);
  expect([flag.status, flag.json['error']]).toEqual([400, 'continuous: got "1"; allowed: true or false']);
  for (const source of ['path', 'main_pool']) {
    const { status } = await api.get(`/api/v1/tokens/0x${'9'.repeat(40)}/ticks?source=${source}`);
    expect([source, status]).toEqual([source, 404]);
  }
});

test('bars of the published price follow the new branch after a reorg', async () => {
  chain.reorg(9, 12);
  await catchUp(store.runner);
  expect(await checkAll(['1m'])).toBeGreaterThan(60);
});
