/** Compares lists of events with the canonical events of the test chain, by filter, page and position. */
import type { QueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import type { LiquidityEventRow, PoolStateRow, SwapRow } from '../../../../src/clickhouse/schema/tables';
import { lastOrdOfBlock, ORD_SPAN } from '../../../../src/domain/ord';
import {
  ActivityCounter,
  ALL_ACTIVITY,
  listEventsBetween,
  listNewestEvents,
  matchesActivity,
  type ActivityFilter,
} from '../../../../src/query/activity/activity';
import { Directory } from '../../../../src/query/tokens/directory';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { listNewEvents } from '../../../../src/query/activity/newEvents';
import { NewestEvents } from '../../../../src/query/activity/newestEvents';
import {
  activityItemShape,
  isDecoded,
  type ActivityEntry,
  type ActivityItem,
} from '../../../../src/wire/activity';
import { feeOf } from './plainMarket';
import { commitOf, hexOf, snapshotOf, type World } from '../../../support/worlds/world';
import { makeMarketWorld, MARKET_PLAN, storeMarket } from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';

const marketWorld = makeMarketWorld(MARKET_PLAN);
const { world, finalTo: FINAL, storedTo: STORED, tip: TIP } = marketWorld;
enlargeValues(world);
const heads = [
  snapshotOf(world, FINAL, TIP, FINAL + 20),
  snapshotOf(world, FINAL, FINAL),
  snapshotOf(world, STORED, TIP),
  snapshotOf(world, FINAL - 40, FINAL - 40),
];
let store: TestStore;
beforeAll(async () => {
  store = await storeMarket(marketWorld);
});

afterAll(() => store?.close());

/**
 * Enlarges USD values beyond the 16 digits of a float. With 12 decimal places, trades above 9,000 USD have so many
 * digits.
 */
function enlargeValues({ blocks }: World): void {
  const large = <T extends bigint | null>(value: T): T =>
    (value === null ? value : value * 123_456_789n) as T;
  for (const { swaps, liquidity } of blocks) {
    const traded = swaps.map((row) => ({
      ...row,
      amount_usd: large(row.amount_usd),
    }));
    swaps.splice(0, swaps.length, ...traded);
    const moved = liquidity.map((row) => ({
      ...row,
      amount0_usd: large(row.amount0_usd),
      amount1_usd: large(row.amount1_usd),
    }));
    liquidity.splice(0, liquidity.length, ...moved);
  }
}

/** The float nearest to a value with 12 decimal places. */
function nearestUsd(scaled: bigint): number {
  const digits = scaled.toString().padStart(13, '0');
  return Number(`${digits.slice(0, -12)}.${digits.slice(-12)}`);
}

interface Stored {
  readonly kind: 'swap' | 'mint' | 'burn' | 'sync';
  readonly row: SwapRow | LiquidityEventRow | PoolStateRow;
}

/** Every canonical event up to the snapshot's block, newest first. */
function expectStored(head: HeadSnapshot, filter: ActivityFilter): Stored[] {
  const events: Stored[] = [];
  for (const block of world.blocks) {
    if (block.number > head.number) continue;
    for (const row of block.swaps) events.push({ kind: 'swap', row });
    for (const row of block.states) if (row.kind === 'sync') events.push({ kind: 'sync', row });
    for (const row of block.liquidity) {
      if (row.kind === 'mint' || row.kind === 'burn') events.push({ kind: row.kind, row });
    }
  }
  return events
    .filter(({ kind, row }) => filter.kinds.includes(kind) && (filter.pair ?? row.pair) === row.pair)
    .filter(({ row }) => filter.token === null || row.token0 === filter.token || row.token1 === filter.token)
    .filter(({ row }) => filter.maker === null || row.maker === filter.maker)
    .sort((a, b) => b.row.ord - a.row.ord);
}

/** The decimal text of raw / 10^decimals, made by moving the decimal point. */
function plain(raw: bigint, decimals: number): string {
  const digits = (raw < 0n ? -raw : raw).toString().padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  const text = `${digits.slice(0, at)}.${digits.slice(at)}`.replace(/0+$/, '').replace(/\.$/, '');
  return (raw < 0n ? '-' : '') + text;
}

function checkItem(item: ActivityEntry, { kind, row }: Stored, head: HeadSnapshot): void {
  activityItemShape.parse(item);
  const decimalsOf = (address: string): number | null =>
    world.tokens.find((token) => token.address === address)!.decimals;
  const known = decimalsOf(row.token0) !== null && decimalsOf(row.token1) !== null;
  const [d0, d1] = [decimalsOf(row.token0) ?? 0, decimalsOf(row.token1) ?? 0];
  const block = Math.floor(row.ord / ORD_SPAN);
  expect(item).toMatchObject({
    id: `${block}-${row.ord % ORD_SPAN}`,
    event_type: kind,
    block_number: block,
    timestamp: row.timestamp,
    tx_hash: row.tx_hash,
    pair_address: row.pair,
    dex_name: row.dex,
    pool_type: row.pool_type,
    token0: { address: row.token0 },
    token1: { address: row.token1 },
    maker: row.maker,
    finalized: block <= head.finalNumber,
  });
  if (item.event_type === 'swap' && 'sender' in row) checkSwap(item, row, d0, d1, known);
  if (item.event_type === 'sync' && 'reserve0' in row) {
    expect(item.reserve0).toBe(plain(row.reserve0, d0));
    expect(item.reserve1).toBe(plain(row.reserve1, d1));
    expect(item.amount_usd).toBeNull();
  }
  if ((item.event_type === 'mint' || item.event_type === 'burn') && 'owner' in row) {
    expect(item.owner).toBe(row.owner);
    expect(item.amount0).toBe(plain(row.amount0, d0));
    expect(item.liquidity_raw).toBe(row.liquidity === null ? null : row.liquidity.toString());
    expect(item.tick_lower).toBe(row.pool_type === 3 ? row.tick_lower : undefined);
    const usd = [row.amount0_usd, row.amount1_usd].map((value) =>
      value === null ? null : nearestUsd(value),
    );
    expect([item.amount0_usd, item.amount1_usd]).toEqual(usd);
    const counted = usd.filter((_, side) => (row.trust >> side) % 2 === 1).map(Number);
    if (row.others_usd !== null) counted.push(nearestUsd(row.others_usd));
    expect(item.amount_usd).toBe(counted.length === 0 ? null : counted.reduce((sum, value) => sum + value));
  }
}

function checkSwap(
  item: Extract<ActivityItem, { event_type: 'swap' }>,
  row: SwapRow,
  d0: number,
  d1: number,
  known: boolean,
): void {
  const [base, baseDecimals] = row.base_is_token0 ? [row.amount0, d0] : [row.amount1, d1];
  const [quote, quoteDecimals] = row.base_is_token0 ? [row.amount1, d1] : [row.amount0, d0];
  const baseToken = row.base_is_token0 ? row.token0 : row.token1;
  expect(item.side).toBe(base < 0n ? 'buy' : 'sell');
  expect(base < 0n ? item.token_out : item.token_in).toBe(baseToken);
  expect([item.amount0, item.amount1]).toEqual([plain(row.amount0, d0), plain(row.amount1, d1)]);
  if (base < 0n) expect(item.amount_out).toBe(plain(-base, baseDecimals));
  else expect(item.amount_in).toBe(plain(base, baseDecimals));
  expect(item.amount_usd).toBe(row.tracked ? nearestUsd(row.amount_usd) : null);
  expect(item.price_usd === null ? 0 : Number(item.price_usd)).toBe(row.price_usd);
  expect(item.quote_price_usd === null ? 0 : Number(item.quote_price_usd)).toBe(row.quote_price_usd);
  expect(item.fee_usd).toBe(row.tracked ? nearestUsd(feeOf(row)) : null);
  const scaled = row.price * 10 ** (d0 - d1);
  const price = row.price === 0 || !known ? null : row.base_is_token0 ? scaled : 1 / scaled;
  if (price === null) expect(item.price).toBeNull();
  else expect(Math.abs(Number(item.price) / price - 1)).toBeLessThan(1e-12);
  const none = base === 0n || quote === 0n || !known;
  expect(item.execution_price === null).toBe(none);
  if (!none) {
    const ratio =
      Math.abs(Number(quote)) / 10 ** quoteDecimals / (Math.abs(Number(base)) / 10 ** baseDecimals);
    expect(Math.abs(Number(item.execution_price) / ratio - 1)).toBeLessThan(1e-12);
  }
  expect(item.sqrt_price_x96).toBe(row.pool_type === 3 ? row.sqrt_price_x96.toString() : undefined);
  expect([item.sender, item.recipient]).toEqual([row.sender, row.recipient]);
}

const PAIR0 = hexOf('bb', 0, 40);
const FILTERS: Record<string, ActivityFilter> = {
  everything: ALL_ACTIVITY,
  'one kind': { ...ALL_ACTIVITY, kinds: ['swap'] },
  'mints and burns': { ...ALL_ACTIVITY, kinds: ['mint', 'burn'] },
  syncs: { ...ALL_ACTIVITY, kinds: ['sync'] },
  'a pair': { ...ALL_ACTIVITY, pair: PAIR0 },
  'a V3 pair': { ...ALL_ACTIVITY, pair: hexOf('bb', 2, 40) },
  'a token': { ...ALL_ACTIVITY, token: hexOf('aa', 1, 40) },
  'a maker': { ...ALL_ACTIVITY, maker: hexOf('ee', 2, 40) },
  'a pair and a maker': { ...ALL_ACTIVITY, pair: PAIR0, maker: hexOf('ee', 2, 40) },
  'a pair and a token that it holds': { ...ALL_ACTIVITY, pair: PAIR0, token: hexOf('aa', 0, 40) },
  'a pair and a token that it lacks': { ...ALL_ACTIVITY, pair: PAIR0, token: hexOf('aa', 5, 40) },
  'a token, a maker and a kind': {
    kinds: ['swap'],
    pair: null,
    token: hexOf('aa', 1, 40),
    maker: hexOf('ee', 1, 40),
  },
  'an unknown pair': { ...ALL_ACTIVITY, pair: hexOf('99', 1, 40) },
};

/** The states in which a filter is tested: the first one, and another one in turn. */
function headsFor(name: string): HeadSnapshot[] {
  const turn = Object.keys(FILTERS).indexOf(name);
  return name === 'everything' ? heads : [heads[0]!, heads[1 + (turn % 3)]!];
}

describe('lists of events equal the events of the test chain', () => {
  test('events of new blocks are equal whether built from the ingester’s rows or read from the tables', async () => {
    const head = heads[0]!;
    const directory = new Directory(store.runner);
    const fresh = new Map(
      world.blocks.map(({ number, swaps, liquidity, states }) => [
        commitOf(number),
        { swaps, liquidity_events: liquidity, pool_states: states },
      ]),
    );
    const told = await listNewEvents({ runner: store.runner, directory, fresh }, head, head.blocks, 10_000);
    const read = await listNewEvents(
      { runner: store.runner, directory, fresh: new Map() },
      head,
      head.blocks,
      10_000,
    );
    expect(told.length).toBeGreaterThan(100);
    expect(told).toEqual(read);
    const values = told.map(({ item }) => (isDecoded(item) ? item.amount_usd : null) ?? 0);
    expect(values.filter((value) => value > 2 ** 53 / 1e12).length).toBeGreaterThan(20);
  });

  test.each(Object.keys(FILTERS))(
    'the events of %s, newest first, equal a plain recomputation',
    async (name) => {
      const filter = FILTERS[name]!;
      const counter = new ActivityCounter(store.runner);
      for (const [turn, head] of headsFor(name).entries()) {
        const wanted = expectStored(head, filter);
        const got = await listNewestEvents(store.runner, head, filter, {
          beforeOrd: null,
          skip: 0,
          limit: 3_000,
        });
        expect(got.map(({ ord }) => ord)).toEqual(wanted.map(({ row }) => row.ord));
        // Checks all fields of every fifth event at the first head without a filter. Otherwise checks few events, to
        // save time.
        const step = turn === 0 && filter === ALL_ACTIVITY ? 5 : 29;
        got.forEach(({ item }, index) => {
          if (index % step === 0) checkItem(item, wanted[index]!, head);
        });
        expect(got.every(({ item }) => matchesActivity(filter, item))).toBe(true);
        expect(await counter.count(head, filter)).toBe(wanted.length);
        expect(await counter.count(head, filter)).toBe(wanted.length);
      }
    },
  );

  test.each(Object.keys(FILTERS))(
    'pages of the events of %s do not overlap, whatever their size',
    async (name) => {
      const filter = FILTERS[name]!;
      const newest = new NewestEvents(store.runner, new Directory(store.runner));
      for (const [index, head] of headsFor(name).slice(0, 2).entries()) {
        const wanted = expectStored(head, filter).map(({ row }) => row.ord);
        const pages = [
          [0, 1],
          [3, 7],
          [25, 26],
          [0, 101],
          [1, 101],
          [wanted.length - 2, 10],
          [wanted.length + 5, 3],
        ] as const;
        // Reads all pages for one wide and one narrow filter. Reads two pages for the other filters, and at the
        // other heads.
        const isFull = index === 0 && ['everything', 'a pair'].includes(name);
        for (const [skip, limit] of isFull ? pages : pages.slice(1, 3)) {
          const from = Math.max(0, skip);
          const got = await newest.list(head, filter, { beforeOrd: null, skip: from, limit });
          expect(got.map(({ ord }) => ord)).toEqual(wanted.slice(from, from + limit));
        }
        const before = wanted[Math.floor(wanted.length / 3)] ?? 5;
        const got = await newest.list(head, filter, { beforeOrd: before, skip: 0, limit: 9 });
        expect(got.map(({ ord }) => ord)).toEqual(wanted.filter((ord) => ord < before).slice(0, 9));
      }
    },
  );

  test('all first pages of a head share one read of the newest events of all pools', async () => {
    let statements = 0;
    const counting: QueryRunner = {
      ...store.runner,
      run: (...asked) => ((statements += 1), store.runner.run(...asked)),
    };
    const newest = new NewestEvents(counting, new Directory(counting));
    const [head, other] = [heads[0]!, heads[2]!];
    await newest.list(head, ALL_ACTIVITY, { beforeOrd: null, skip: 0, limit: 26 });
    const once = statements;
    await newest.list(head, ALL_ACTIVITY, { beforeOrd: null, skip: 25, limit: 76 });
    expect(statements).toBe(once);
    await newest.list(other, ALL_ACTIVITY, { beforeOrd: null, skip: 0, limit: 26 });
    expect(statements).toBeGreaterThan(once);
  });

  test.each(Object.keys(FILTERS))(
    'the events of %s between two positions come in ascending order',
    async (name) => {
      const filter = FILTERS[name]!;
      for (const [index, head] of headsFor(name).entries()) {
        const wanted = expectStored(head, filter)
          .map(({ row }) => row.ord)
          .reverse();
        const after = wanted[Math.floor(wanted.length / 4)] ?? 0;
        const to = lastOrdOfBlock(head.number - 3);
        const range = wanted.filter((ord) => ord > after && ord <= to);
        for (const limit of index === 0 ? [1, 3_000] : [13]) {
          const got = await listEventsBetween(store.runner, head, filter, after, to, limit);
          expect(got.map(({ ord }) => ord)).toEqual(range.slice(0, limit));
        }
      }
    },
  );
});
