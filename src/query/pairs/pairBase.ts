/**
 * Keeps pools, states, last trades and fees of every pool as of a snapshot: a full copy (base) plus the changes
 * since. A block changes a few hundred of 100,000 pools. To read all pools for each block would take a large part
 * of the block time.
 */
import { isDeepStrictEqual } from 'node:util';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, text, u32 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { HeadView } from '../head/perVersion';
import { stateRow, type StateRow } from './pairRows';
import { listPoolFees, type PoolFees } from './poolFees';
import { listPools, type StoredPool } from './pools';

/** Limit for safety: more pools than any chain has. */
const ROWS_MAX = 2_000_000;
/**
 * A base is read again if it is older than BASE_BLOCKS_MAX blocks, or if more than CHANGES_MAX pools changed since.
 */
const BASE_BLOCKS_MAX = 5_000;
const CHANGES_MAX = 20_000;

/** A row of list_last_trades.sql, with the time in unix seconds. */
const lastTradeRow = rowType({ pair: address, last_trade_at: u32 });
/** The row of pairs/count_rows.sql: a text that changes if final rows were added. */
const countsRow = rowType({ counts: text });

export interface PairBase {
  /** Pools sorted by address. The array stays the same until a pool is added. */
  readonly pools: readonly StoredPool[];
  /** Index of a pool in `pools`. */
  indexOf(address: string): number | undefined;
  /** The newest state of the pool at an index, or null. */
  stateAt(index: number): StateRow | null;
  /** Time of the last trade, unix seconds; null without trades. */
  lastTradeAt(index: number): number | null;
  /** The current fee in pips (1e6 = 100 %). */
  feePipsAt(index: number): number;
}

interface Rows {
  readonly pools: readonly StoredPool[];
  readonly states: ReadonlyMap<string, StateRow>;
  readonly lastTrades: ReadonlyMap<string, number>;
  /** Fees of pools in a vault whose fee has changed. */
  readonly changedFees: PoolFees;
}

/** Arrays with one item per pool, in the same order as `pools`. */
interface PoolColumns {
  readonly pools: readonly StoredPool[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly states: readonly (StateRow | null)[];
  readonly lastTrades: readonly (number | null)[];
  readonly fees: PoolFees;
}

interface Base extends PoolColumns {
  readonly finalTo: number;
  readonly finalOrd: number;
  /**
   * Row counts of the final tables up to `ord`. They change only if lost rows are stored again or old rows
   * are dropped.
   */
  readonly rowCounts: string;
}

/** The base of a head, and the pools with those that were added since. */
interface BasedOn extends PairBase {
  readonly base: Base;
  /** The added pools. While they stay the same, `columns` is reused. */
  readonly addedPools: readonly StoredPool[];
  readonly columns: PoolColumns;
}

/** `feeChain` is the chain; null if no pool of the chain changes its fee. */
export function pairBaseView(runner: QueryRunner, feeChain: number | null): HeadView<BasedOn> {
  return {
    async read(head) {
      const base = await readBase(runner, feeChain, head);
      return withChanges(base, await readRows(runner, feeChain, head, base.finalOrd), null);
    },
    async update(before, { to }) {
      const { base } = before;
      if (base.finalTo > to.finalTo || to.finalTo - base.finalTo > BASE_BLOCKS_MAX) return null;
      const [counts, changes] = await Promise.all([
        countRows(runner, base.finalOrd),
        readRows(runner, feeChain, to, base.finalOrd),
      ]);
      return counts === base.rowCounts && changes.states.size <= CHANGES_MAX
        ? withChanges(base, changes, before)
        : null;
    },
  };
}

function withChanges(base: Base, changes: Rows, previous: BasedOn | null): BasedOn {
  const { pools: addedPools } = changes;
  const hasSamePools = previous !== null && isDeepStrictEqual(addedPools, previous.addedPools);
  const columns = hasSamePools
    ? previous.columns
    : addedPools.length === 0
      ? base
      : withAddedPools(base, addedPools);
  return { base, addedPools, columns, ...withColumns(columns, changes) };
}

async function readBase(runner: QueryRunner, feeChain: number | null, head: HeadSnapshot): Promise<Base> {
  const finalOrd = lastOrdOfBlock(head.finalTo);
  // The counts are read before the rows. If rows are stored again during the read, the next counts differ, and the
  // base is read again.
  const rowCounts = await countRows(runner, finalOrd);
  const rows = await readRows(runner, feeChain, { ...head, number: head.finalTo, blocks: [] }, null);
  const stateOf = (address: string): StateRow | null => rows.states.get(address) ?? null;
  const tradeOf = (address: string): number | null => rows.lastTrades.get(address) ?? null;
  const columns = columnsOf(rows.pools, stateOf, tradeOf, rows.changedFees);
  return { ...columns, finalTo: head.finalTo, finalOrd, rowCounts };
}

/** `sinceOrd` limits the read to rows above this position (`ord`); null reads all rows. */
async function readRows(
  runner: QueryRunner,
  feeChain: number | null,
  head: HeadSnapshot,
  sinceOrd: number | null,
): Promise<Rows> {
  const params: QueryParams = {
    ...snapshotParams(head),
    tip_ord: lastOrdOfBlock(head.number),
    limit: ROWS_MAX,
    ...(sinceOrd === null ? {} : { since_ord: sinceOrd }),
  };
  const [pools, states, lastTrades, changedFees] = await Promise.all([
    listPools(runner, params),
    runner.run('pairs/list_states', params, stateRow),
    runner.run('pairs/list_last_trades', params, lastTradeRow),
    feeChain === null ? new Map() : listPoolFees(runner, { ...params, chain_id: feeChain }),
  ]);
  return {
    pools: shareTexts(pools).sort(byAddress),
    states: new Map(states.map((row) => [row.pair, row])),
    lastTrades: new Map(lastTrades.map(({ pair, last_trade_at }) => [pair, last_trade_at])),
    changedFees,
  };
}

async function countRows(runner: QueryRunner, ord: number): Promise<string> {
  const [row] = await runner.run('pairs/count_rows', { ord }, countsRow);
  return row?.counts ?? '';
}

/** Equal texts in different rows share one string in memory. Separate strings would take 25 MB for 100,000 pools. */
function shareTexts(pools: readonly StoredPool[]): StoredPool[] {
  const [dexes, addresses] = [new Map<string, string>(), new Map<Hex, Hex>()];
  return pools.map((pool) => ({
    ...pool,
    dex: sharedText(dexes, pool.dex),
    factory: sharedText(addresses, pool.factory),
    token0: sharedText(addresses, pool.token0),
    token1: sharedText(addresses, pool.token1),
  }));
}

function sharedText<Text>(texts: Map<Text, Text>, text: Text): Text {
  const sameText = texts.get(text);
  if (sameText === undefined) texts.set(text, text);
  return sameText ?? text;
}

function columnsOf(
  pools: readonly StoredPool[],
  stateOf: (address: string) => StateRow | null,
  tradeOf: (address: string) => number | null,
  fees: PoolFees,
): PoolColumns {
  return {
    pools,
    indexOf: new Map(pools.map(({ address }, index) => [address, index])),
    states: pools.map(({ address }) => stateOf(address)),
    lastTrades: pools.map(({ address }) => tradeOf(address)),
    fees,
  };
}

function withAddedPools(base: Base, added: readonly StoredPool[]): PoolColumns {
  const indexOf = (address: string): number => base.indexOf.get(address) ?? -1;
  return columnsOf(
    [...base.pools, ...added].sort(byAddress),
    (address) => base.states[indexOf(address)] ?? null,
    (address) => base.lastTrades[indexOf(address)] ?? null,
    base.fees,
  );
}

function withColumns({ pools, indexOf, states, lastTrades, fees }: PoolColumns, changes: Rows): PairBase {
  const addressAt = (index: number): string => pools[index]?.address ?? '';
  return {
    pools,
    indexOf: (address) => indexOf.get(address),
    stateAt: (index) => changes.states.get(addressAt(index)) ?? states[index] ?? null,
    lastTradeAt: (index) => changes.lastTrades.get(addressAt(index)) ?? lastTrades[index] ?? null,
    feePipsAt(index) {
      const address = addressAt(index);
      return changes.changedFees.get(address) ?? fees.get(address) ?? pools[index]?.fee_pips ?? 0;
    },
  };
}

/** Lists break ties by the names that clients see. */
const byAddress = (a: StoredPool, b: StoredPool): number =>
  (a.pool_id ?? a.address) < (b.pool_id ?? b.address) ? -1 : 1;
