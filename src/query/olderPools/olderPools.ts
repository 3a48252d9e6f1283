/**
 * Reads what the ingester found out about the time before the first ingested block: how far its search is, creations
 * of older pools, and supplies of tokens.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { address, array, i256, u256 } from '../../clickhouse/rows/columns';
import { rowType, tuple, type RowOf } from '../../clickhouse/rows/rowType';
import { poolBirthsTable, poolSearchTable } from '../../clickhouse/schema/olderPoolTables';
import type { WatchedHolder } from '../../domain/chainDescription';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { isHistoryPartial } from '../holders/balances';

/** Limit for safety: more pools or tokens than any chain has. */
const ROWS_MAX = 2_000_000;
/**
 * A row may become visible up to this time, in microseconds, after a row with a later version. Reads of new rows
 * therefore start this much earlier.
 */
const LATE_US = 60_000_000;

const { chain_id, version, ...searchTypes } = poolSearchTable.types;
const searchRow = rowType(searchTypes);
const birthRow = rowType(poolBirthsTable.types);
/**
 * A row of list_supplies.sql, in raw units: a token before the first ingested block (`_before`), and by later
 * transfers.
 */
const supplyRow = rowType({
  token: address,
  supply_before: u256,
  held_before: array(tuple(address, u256)),
  zero_balance: i256,
  held: array(tuple(address, i256)),
});

/** How complete the index is with respect to the time before its first block. */
interface PoolSearchState {
  /** Whether all pools of the factories are listed. */
  readonly complete: boolean;
  /** Whether the search has not ended yet, or did not begin. */
  readonly searching: boolean;
  /** First ingested block. */
  readonly startBlock: number;
  /** The creation events of the factories are read from this block on. */
  readonly searchedFrom: number;
  /** Searched part of the blocks before the first ingested block, 0 to 100. */
  readonly donePct: number;
  /** Number of pools found that are older than the first ingested block. */
  readonly olderPools: number;
}

export async function readPoolSearch(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<PoolSearchState> {
  const { startBlock } = head;
  const noSearch = { startBlock, searchedFrom: startBlock, olderPools: 0 };
  if (!isHistoryPartial(head)) return { complete: true, searching: false, donePct: 100, ...noSearch };
  const [row] = await runner.run('older_pools/find_search', { chain: chainId }, searchRow);
  if (row?.start_block !== startBlock) return { complete: false, searching: true, donePct: 0, ...noSearch };
  const { state, searched_from: searchedFrom, search_to: searchTo, pools: olderPools } = row;
  const doneShare = startBlock <= searchTo ? 1 : (startBlock - searchedFrom) / (startBlock - searchTo);
  return {
    complete: state === 'complete',
    searching: state === 'searching',
    startBlock,
    searchedFrom,
    donePct: Math.floor(doneShare * 1_000) / 10,
    olderPools,
  };
}

/** The creation of a pool that is older than the first ingested block. */
export type PoolBirth = Omit<RowOf<typeof birthRow>, 'address' | 'version'>;

export type PoolBirths = ReadonlyMap<string, PoolBirth>;
const NO_BIRTHS: PoolBirths = new Map();

/** A function that returns the known creations. Each call reads only the rows that are new. */
export function createPoolBirths(runner: QueryRunner): (head: HeadSnapshot) => Promise<PoolBirths> {
  const birthByPool = new Map<string, PoolBirth>();
  let newestVersion = 0;
  return async (head) => {
    if (!isHistoryPartial(head)) return NO_BIRTHS;
    const sinceUs = Math.max(0, newestVersion - LATE_US);
    const params = { since_version: sinceUs, limit: ROWS_MAX };
    for (const { address: pool, version: written, ...birth } of await runner.run(
      'older_pools/list_births',
      params,
      birthRow,
    )) {
      birthByPool.set(pool, birth);
      newestVersion = Math.max(newestVersion, written);
    }
    return birthByPool;
  };
}

/** A supply in raw units, and the balances of watched holders, which are parts of it. */
export interface ToldSupply {
  readonly total: bigint;
  readonly watched: ReadonlyMap<string, bigint>;
}

/**
 * Supplies as of a head, for an index that begins late: what the contract had before the first ingested block, plus
 * mints and minus burns since. Empty for a complete index.
 */
export async function listToldSupplies(
  runner: QueryRunner,
  head: HeadSnapshot,
  watched: readonly WatchedHolder[],
): Promise<ReadonlyMap<string, ToldSupply>> {
  if (!isHistoryPartial(head)) return new Map();
  const holders = watched.map(({ address }) => address.slice(2));
  const params = { ...snapshotParams(head), holders, limit: ROWS_MAX };
  const rows = await runner.run('older_pools/list_supplies', params, supplyRow);
  return new Map(
    rows.flatMap((row) => {
      const total = row.supply_before - row.zero_balance;
      // A burn beyond the supply means that the transfers do not add up.
      return total < 0n ? [] : [[row.token, { total, watched: balancesOf(row, total) }] as const];
    }),
  );
}

/** Balances of the holders that the contract was asked about. A balance that cannot be right counts as 0. */
function balancesOf(
  { held, held_before: heldBefore }: Pick<RowOf<typeof supplyRow>, 'held' | 'held_before'>,
  total: bigint,
): ReadonlyMap<string, bigint> {
  const changeByHolder = new Map(held);
  return new Map(
    heldBefore.map(([holder, amount]) => {
      const balance = amount + (changeByHolder.get(holder) ?? 0n);
      return [holder, balance < 0n || balance > total ? 0n : balance];
    }),
  );
}
