/** Reads pools as of a snapshot: one by its address, or all. */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { bool, u32, u8, type ColumnType } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolsTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { parsePoolType } from '../../domain/pool';
import type { PoolType } from '../../domain/pools/poolShape';
import { endsByTransfer } from '../../protocols/registry';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { StateRow } from './pairRows';

const poolType: ColumnType<PoolType> = { ...u8, read: (reader) => parsePoolType(reader.u8()) };
const { types } = poolsTable;
const storedPoolRow = rowType({
  ...pick(types, ['address', 'dex', 'protocol', 'factory', 'token0', 'token1', 'base_is_token0']),
  ...pick(types, ['pool_id', 'hooks', 'hook_bits']),
  pool_type: poolType,
  /** All tokens of a weighted or stable pool in chain order; empty for two-token pools. */
  all_tokens: types.tokens,
  /** Weights of a weighted pool, times 10^18; empty for other pools. */
  all_weights: types.weights,
  /** Block of the pool's first stored event; `created_block` is null if the pool was created before the first ingested block. */
  first_block: u32,
  ...pick(types, ['fee_pips', 'tick_spacing', 'created_block', 'created_at', 'created_tx']),
});
export type StoredPool = RowOf<typeof storedPoolRow>;

/** Whether a bonding curve gave all its tokens to another pool. */
export function hasEnded({
  pool,
  facts: { state },
}: {
  readonly pool: Pick<StoredPool, 'protocol'>;
  readonly facts: { readonly state: Pick<StateRow, 'liquidity'> | null };
}): boolean {
  return state !== null && state.liquidity === 0n && endsByTransfer(pool.protocol);
}

const foundPoolRow = rowType({ ...storedPoolRow.columns, is_final: bool });

/** The pool at an address, or null. `is_final`: no reorg can remove the pool. */
export async function findPool(
  runner: QueryRunner,
  head: HeadSnapshot,
  address: Hex,
): Promise<RowOf<typeof foundPoolRow> | null> {
  const params = { ...snapshotParams(head), pair: address.slice(2) };
  const [row] = await runner.run('pairs/find_pool', params, foundPoolRow);
  return row ?? null;
}

/** Every pool of a snapshot. With `since_ord`, only later pools. */
export async function listPools(runner: QueryRunner, params: QueryParams): Promise<StoredPool[]> {
  return runner.run('pairs/list_pools', params, storedPoolRow);
}

export function tokensOfPool({ all_tokens, token0, token1 }: StoredPool): readonly Hex[] {
  return all_tokens.length === 0 ? [token0, token1] : all_tokens;
}

/** The number of the pool's leg of two tokens (swaps.leg), or null without such a leg. */
export function legOfPool(pool: StoredPool, token0: Hex, token1: Hex): number | null {
  const tokens = tokensOfPool(pool);
  const [firstIndex, secondIndex] = [tokens.indexOf(token0), tokens.indexOf(token1)];
  return firstIndex < 0 || secondIndex < 0 || firstIndex >= secondIndex
    ? null
    : 256 * firstIndex + secondIndex;
}

/** Weights of the pool's tokens, 0 to 1; empty for pools without weights. */
export function weightsOfPool({ all_weights }: StoredPool): readonly number[] {
  return all_weights.map((weight) => Number(weight) / 1e18);
}
