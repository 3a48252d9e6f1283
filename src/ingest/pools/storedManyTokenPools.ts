/**
 * Reads the pools of many tokens from the database, as of the last final block. The row of a pool lacks two values. The
 * id by which a vault names a pool comes from the log with which the pool was added, or, for a found pool, from the table
 * found_pools. The fee comes from the newest stored fee change.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { address, array, hash, hexBytes, u256, u64, u8 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import { emptyManyTokenState, withBalances } from '../../protocols/manyTokenPool';
import { getManyTokenProtocol } from '../../protocols/registry';
import { fromFeePips } from '../../domain/swapFee';
import { poolOfRow, type ManyTokenPool } from './poolRegistry';

/** Number of pools in one query. */
const POOLS_MAX = 1_000;

const idRow = rowType({ pool_id: hash });
const foundIdRow = rowType({ address, pool_id: hash });
const feeRow = rowType({ address, ord: u64, topic: hash, data: hexBytes });
const stateRow = rowType({ pair: address, balances: array(u256), doubts: u8, params: array(u256) });

/**
 * `rows` are the rows of such pools in the table pools. `exact` means the same as in Store.loadPoolStates.
 */
export async function readManyTokenPools(
  database: Database,
  chainId: number,
  finalTo: number,
  exact: boolean,
  rows: readonly PoolRow[],
): Promise<ManyTokenPool[]> {
  const pools: ManyTokenPool[] = [];
  for (let from = 0; from < rows.length; from += POOLS_MAX) {
    const chunk = rows.slice(from, from + POOLS_MAX);
    const [ids, fees, states] = await Promise.all([
      readIds(database, chainId, chunk),
      readFeeChanges(database, chainId, finalTo, chunk),
      readStates(database, finalTo, exact, chunk),
    ]);
    for (const row of chunk) {
      const poolId = ids.get(row.address);
      if (poolId === undefined)
        throw new AppError('broken_invariant', `no stored log contains the pool id of pool ${row.address}`);
      const fee = fees.get(row.address);
      // The row already includes the fee changes of the block in which the pool was added.
      const counts = fee !== undefined && blockOfOrd(fee.ord) >= blockOfOrd(row.ord);
      const swapFee = counts ? fee.swapFee : fromFeePips(row.fee_pips);
      const emptyState = { ...emptyManyTokenState(poolId), tokens: row.tokens, swapFee };
      // A pool without a stored state is empty if its creation block is known. Otherwise the pool is older,
      // and its balances are unknown.
      const firstState =
        row.created_block === null ? emptyState : withBalances(emptyState, { tokens: [], balances: [] });
      const { balances, params, doubts } = states.get(row.address) ?? firstState;
      const weights = row.weights.length === 0 ? null : row.weights;
      const known = { ...firstState, balances, params, weights, doubts: row.doubts | doubts };
      pools.push({ pool: poolOfRow(row), state: getManyTokenProtocol(row.protocol).restoreState(known) });
    }
  }
  return pools;
}

/**
 * Pool ids by address. The id that only a vault knows is topic 1 of the vault's log at the position (`ord`) of the pool's
 * row. A found pool has no log at this position, so its id comes from the table found_pools.
 */
async function readIds(
  database: Database,
  chainId: number,
  rows: readonly PoolRow[],
): Promise<Map<Hex, Hex>> {
  const idByPool = new Map<Hex, Hex>();
  const withoutId: PoolRow[] = [];
  for (const row of rows) {
    const poolId = getManyTokenProtocol(row.protocol).idOfPool(row.address);
    if (poolId === null) withoutId.push(row);
    else idByPool.set(row.address, poolId);
  }
  for (const vault of new Set(withoutId.map((row) => row.factory))) {
    const ofVault = withoutId.filter((row) => row.factory === vault);
    const protocols = new Set(ofVault.map(({ protocol }) => getManyTokenProtocol(protocol)));
    for (const protocol of protocols) {
      const topics = [...protocol.factoryTopics].map((topic) => topic.slice(2));
      const params = { chain: chainId, vault: vault.slice(2), topics, ords: ofVault.map((row) => row.ord) };
      const logs = await selectNamed(database, 'ingest/pools/list_vault_ids', params, idRow);
      for (const { pool_id: poolId } of logs) idByPool.set(protocol.poolOfId(poolId), poolId);
    }
  }
  const withoutLog = withoutId.filter((row) => !idByPool.has(row.address));
  if (withoutLog.length === 0) return idByPool;
  const params = { pools: withoutLog.map((row) => row.address.slice(2)) };
  const ids = await selectNamed(database, 'ingest/pools/list_found_ids', params, foundIdRow);
  for (const { address: pool, pool_id: poolId } of ids) idByPool.set(pool, poolId);
  return idByPool;
}

/** The newest final fee change of each pool, where 1e18 means 100 %. */
export async function readFeeChanges(
  database: Database,
  chainId: number,
  finalTo: number,
  rows: readonly Pick<PoolRow, 'address' | 'protocol'>[],
): Promise<Map<Hex, { readonly ord: number; readonly swapFee: bigint }>> {
  const protocols = new Map(rows.map((row) => [row.address, getManyTokenProtocol(row.protocol)]));
  const topics = [...new Set([...protocols.values()].flatMap(({ feeChange }) => feeChange?.topics ?? []))];
  if (topics.length === 0) return new Map();
  const params = {
    chain: chainId,
    pools: rows.map((row) => row.address.slice(2)),
    topics: topics.map((topic) => topic.slice(2)),
    final_ord: lastOrdOfBlock(finalTo),
  };
  const logs = await selectNamed(database, 'ingest/pools/list_vault_fees', params, feeRow);
  const changes = new Map<Hex, { readonly ord: number; readonly swapFee: bigint }>();
  // The newest log comes first. A log of the wrong length changes no fee.
  for (const { address: pool, ord, topic, data } of logs) {
    const swapFee = protocols.get(pool)?.decodeSwapFee({ topics: [topic], data }) ?? null;
    if (swapFee !== null && !changes.has(pool)) changes.set(pool, { ord, swapFee });
  }
  return changes;
}

async function readStates(
  database: Database,
  finalTo: number,
  exact: boolean,
  rows: readonly PoolRow[],
): Promise<Map<Hex, RowOf<typeof stateRow>>> {
  const name = exact ? 'ingest/pools/list_exact_vault_balances' : 'ingest/pools/list_latest_vault_balances';
  const params = { pools: rows.map((row) => row.address.slice(2)), final_ord: lastOrdOfBlock(finalTo) };
  const stateRows = await selectNamed(database, name, params, stateRow);
  return new Map(stateRows.map((row) => [row.pair, row]));
}
