/**
 * Reads the pools of Balancer V2 vaults from the database, as of the last final block. Two values come from
 * stored logs: the pool id comes from the log with which the pool was added, and the fee comes from the
 * newest fee change.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { address, array, hash, hexBytes, u256, u64, u8 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import { poolOfId, SWAP_FEE_CHANGED, VAULT_TOPICS } from '../../protocols/balancerV2/decodeBalancerEvent';
import {
  emptyWeightedPool,
  withBalances,
  withDoubts,
  withWeights,
} from '../../protocols/balancerV2/weightedPool';
import { fromFeePips } from '../../domain/swapFee';
import { poolOfRow, type VaultPool } from './poolRegistry';

/** Number of pools in one query. */
const POOLS_MAX = 1_000;
const VAULT_TOPIC_LIST = [...VAULT_TOPICS].map((topic) => topic.slice(2));

const idRow = rowType({ pool_id: hash });
const feeRow = rowType({ address, ord: u64, data: hexBytes });
const balancesRow = rowType({ pair: address, balances: array(u256), doubts: u8 });

/**
 * `rows` are the rows of vault pools in the table pools. `exact` means the same as in Store.loadPoolStates.
 */
export async function readVaultPools(
  database: Database,
  chainId: number,
  finalTo: number,
  exact: boolean,
  rows: readonly PoolRow[],
): Promise<VaultPool[]> {
  const vaultPools: VaultPool[] = [];
  for (let from = 0; from < rows.length; from += POOLS_MAX) {
    const chunk = rows.slice(from, from + POOLS_MAX);
    const [ids, fees, balances] = await Promise.all([
      readIds(database, chainId, chunk),
      readVaultFees(database, chainId, finalTo, chunk),
      readBalances(database, finalTo, exact, chunk),
    ]);
    for (const row of chunk) {
      const poolId = ids.get(row.address);
      if (poolId === undefined)
        throw new AppError(
          'broken_invariant',
          `no stored log contains the pool id of vault pool ${row.address}`,
        );
      const fee = fees.get(row.address);
      // The row already includes the fee changes of the block in which the pool was added.
      const counts = fee !== undefined && blockOfOrd(fee.ord) >= blockOfOrd(row.ord);
      const swapFee = counts ? fee.swapFee : fromFeePips(row.fee_pips);
      const emptyState = { ...emptyWeightedPool(poolId), tokens: row.tokens, swapFee };
      // A pool without a stored state is empty if its creation block is known. Otherwise the pool is older,
      // and its balances are unknown.
      const firstState =
        row.created_block === null ? emptyState : withBalances(emptyState, { tokens: [], balances: [] });
      const storedBalances = balances.get(row.address);
      const state = { ...firstState, balances: storedBalances?.balances ?? firstState.balances };
      const weights = row.weights.length === 0 ? null : row.weights;
      const doubts = row.doubts | (storedBalances?.doubts ?? 0);
      vaultPools.push({ pool: poolOfRow(row), state: withDoubts(withWeights(state, weights), doubts) });
    }
  }
  return vaultPools;
}

/**
 * Pool ids by address. The id is topic 1 of the vault's log at the position (`ord`) of the pool's row. A found pool
 * has no log at this position, so its id comes from the table found_pools.
 */
async function readIds(
  database: Database,
  chainId: number,
  rows: readonly PoolRow[],
): Promise<Map<Hex, Hex>> {
  const idByPool = new Map<Hex, Hex>();
  for (const vault of new Set(rows.map((row) => row.factory))) {
    const ords = rows.filter((row) => row.factory === vault).map((row) => row.ord);
    const params = { chain: chainId, vault: vault.slice(2), topics: VAULT_TOPIC_LIST, ords };
    const logs = await selectNamed(database, 'ingest/pools/list_vault_ids', params, idRow);
    for (const { pool_id: poolId } of logs) idByPool.set(poolOfId(poolId), poolId);
  }
  const withoutId = rows
    .filter(({ address }) => !idByPool.has(address))
    .map(({ address }) => address.slice(2));
  if (withoutId.length === 0) return idByPool;
  const ids = await selectNamed(database, 'ingest/pools/list_found_ids', { pools: withoutId }, idRow);
  for (const { pool_id: poolId } of ids) idByPool.set(poolOfId(poolId), poolId);
  return idByPool;
}

/** The newest final fee change of each pool. */
export async function readVaultFees(
  database: Database,
  chainId: number,
  finalTo: number,
  rows: readonly Pick<PoolRow, 'address'>[],
): Promise<Map<Hex, { readonly ord: number; readonly swapFee: bigint }>> {
  if (rows.length === 0) return new Map();
  const params = {
    chain: chainId,
    pools: rows.map((row) => row.address.slice(2)),
    topic: SWAP_FEE_CHANGED.slice(2),
    final_ord: lastOrdOfBlock(finalTo),
  };
  const logs = await selectNamed(database, 'ingest/pools/list_vault_fees', params, feeRow);
  return new Map(logs.map(({ address: pool, ord, data }) => [pool, { ord, swapFee: BigInt(data) }]));
}

async function readBalances(
  database: Database,
  finalTo: number,
  exact: boolean,
  rows: readonly PoolRow[],
): Promise<Map<Hex, { readonly balances: readonly bigint[]; readonly doubts: number }>> {
  const name = exact ? 'ingest/pools/list_exact_vault_balances' : 'ingest/pools/list_latest_vault_balances';
  const params = { pools: rows.map((row) => row.address.slice(2)), final_ord: lastOrdOfBlock(finalTo) };
  const balanceRows = await selectNamed(database, name, params, balancesRow);
  return new Map(balanceRows.map((row) => [row.pair, row]));
}
