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

const lastTradeRow = rowType({ pair: address, last_trade_at: u32 });
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
  readonly fees: PoolFees;
}

/** Arrays with one item per pool, in the same order as `pools`. */
interface Places {
  readonly pools: readonly StoredPool[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly states: readonly (StateRow | null)[];
  readonly lastTrades: readonly (number | null)[];
  readonly fees: PoolFees;
}

interface Base extends Places {
  readonly finalTo: number;
  readonly ord: number;
  /**
   * Row counts of the final tables up to `ord`. They change only if lost rows are stored again or old rows
   * are dropped.
   */
  readonly counts: string;
}

/** The base of a head, and the pools with those that were added since. */
interface BasedOn extends PairBase {
  readonly base: Base;
  /** The added pools. While they stay the same, `places` is reused. */
  readonly added: readonly StoredPool[];
  readonly places: Places;
}

/** `vaultChain` is the chain for fees of vault pools; null for a chain without vaults. */
export function pairBaseView(runner: QueryRunner, vaultChain: number | null): HeadView<BasedOn> {
  return {
    async read(head) {
      const base = await readBase(runner, vaultChain, head);
      return over(base, await readRows(runner, vaultChain, head, base.ord), null);
    },
    async next(before, { to }) {
      const { base } = before;
      if (base.finalTo > to.finalTo || to.finalTo - base.finalTo > BASE_BLOCKS_MAX) return null;
      const [counts, changes] = await Promise.all([
        countRows(runner, base.ord),
        readRows(runner, vaultChain, to, base.ord),
      ]);
      return counts === base.counts && changes.states.size <= CHANGES_MAX
        ? over(base, changes, before)
        : null;
    },
  };
}

function over(base: Base, changes: Rows, previous: BasedOn | null): BasedOn {
  const { pools: added } = changes;
  const isSame = previous !== null && isDeepStrictEqual(added, previous.added);
  const places = isSame ? previous.places : added.length === 0 ? base : grow(base, added);
  return { base, added, places, ...under(places, changes) };
}

async function readBase(runner: QueryRunner, vaultChain: number | null, head: HeadSnapshot): Promise<Base> {
  const ord = lastOrdOfBlock(head.finalTo);
  // The counts are read before the rows. If rows are stored again during the read, the next counts differ, and the
  // base is read again.
  const counts = await countRows(runner, ord);
  const rows = await readRows(runner, vaultChain, { ...head, number: head.finalTo, blocks: [] }, null);
  const stateOf = (address: string): StateRow | null => rows.states.get(address) ?? null;
  const tradeOf = (address: string): number | null => rows.lastTrades.get(address) ?? null;
  const places = placesOf(rows.pools, stateOf, tradeOf, rows.fees);
  return { ...places, finalTo: head.finalTo, ord, counts };
}

/** `since` limits the read to rows above this position (`ord`); null reads all rows. */
async function readRows(
  runner: QueryRunner,
  vaultChain: number | null,
  head: HeadSnapshot,
  since: number | null,
): Promise<Rows> {
  const params: QueryParams = {
    ...snapshotParams(head),
    tip_ord: lastOrdOfBlock(head.number),
    limit: ROWS_MAX,
    ...(since === null ? {} : { since_ord: since }),
  };
  const [pools, states, lastTrades, fees] = await Promise.all([
    listPools(runner, params),
    runner.run('pairs/list_states', params, stateRow),
    runner.run('pairs/list_last_trades', params, lastTradeRow),
    vaultChain === null ? new Map() : listPoolFees(runner, { ...params, chain_id: vaultChain }),
  ]);
  return {
    pools: shareTexts(pools).sort(byAddress),
    states: new Map(states.map((row) => [row.pair, row])),
    lastTrades: new Map(lastTrades.map(({ pair, last_trade_at }) => [pair, last_trade_at])),
    fees,
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
    dex: shared(dexes, pool.dex),
    factory: shared(addresses, pool.factory),
    token0: shared(addresses, pool.token0),
    token1: shared(addresses, pool.token1),
  }));
}

function shared<Text>(texts: Map<Text, Text>, text: Text): Text {
  const sameText = texts.get(text);
  if (sameText === undefined) texts.set(text, text);
  return sameText ?? text;
}

function placesOf(
  pools: readonly StoredPool[],
  stateOf: (address: string) => StateRow | null,
  tradeOf: (address: string) => number | null,
  fees: PoolFees,
): Places {
  return {
    pools,
    indexOf: new Map(pools.map(({ address }, index) => [address, index])),
    states: pools.map(({ address }) => stateOf(address)),
    lastTrades: pools.map(({ address }) => tradeOf(address)),
    fees,
  };
}

function grow(base: Base, added: readonly StoredPool[]): Places {
  const indexOf = (address: string): number => base.indexOf.get(address) ?? -1;
  return placesOf(
    [...base.pools, ...added].sort(byAddress),
    (address) => base.states[indexOf(address)] ?? null,
    (address) => base.lastTrades[indexOf(address)] ?? null,
    base.fees,
  );
}

function under({ pools, indexOf, states, lastTrades, fees }: Places, changes: Rows): PairBase {
  const addressAt = (index: number): string => pools[index]?.address ?? '';
  return {
    pools,
    indexOf: (address) => indexOf.get(address),
    stateAt: (index) => changes.states.get(addressAt(index)) ?? states[index] ?? null,
    lastTradeAt: (index) => changes.lastTrades.get(addressAt(index)) ?? lastTrades[index] ?? null,
    feePipsAt(index) {
      const address = addressAt(index);
      return changes.fees.get(address) ?? fees.get(address) ?? pools[index]?.fee_pips ?? 0;
    },
  };
}

const byAddress = (a: StoredPool, b: StoredPool): number => (a.address < b.address ? -1 : 1);
