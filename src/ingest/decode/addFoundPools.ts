/**
 * Adds what the pool search knows about pools older than the start block. Found pools are added at the end of the
 * block to which found_pools assigns them. If the pool is known already, its state is kept. Otherwise the found state
 * becomes a row of pool_states with one of the largest log indexes of the block, which no real log has. A pool without
 * an event has the same state at the end of every block. Only the fee of a vault pool may have changed, because its
 * fee event does not make the pool known.
 */
import type { FoundPoolRow, OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { PoolStateRow } from '../../clickhouse/schema/tables';
import { ZERO_HASH } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { parsePoolType, type PoolState } from '../../domain/pool';
import { NOT_WALKED } from '../../pricing/legState';
import { getProtocol, isVaultProtocol } from '../../protocols/registry';
import {
  emptyWeightedPool,
  toLeg,
  toPairState,
  weightedSpotPrice,
  withDoubts,
  withWeights,
  type WeightedPoolState,
} from '../../protocols/balancerV2/weightedPool';
import { fromFeePips, toFeePips } from '../../domain/swapFee';
import type { BlockFacts } from '../rows/blockRows';
import { toPoolRow, toScaleDecimals, type KnownPool } from '../pools/poolRegistry';
import type { DecodeContext } from './decodeContext';

type Priced = PoolState & { readonly price: number; readonly balances: readonly bigint[] };

/**
 * `facts` is the decoded block. The registry still records the changes of this block, so a reorg removes the
 * pools too.
 */
export function addFoundPools(
  context: DecodeContext,
  facts: BlockFacts,
  found: readonly FoundPoolRow[],
): void {
  const { number, timestamp } = facts.ref;
  // The last ord of a block is reserved for the block's prices.
  let ord = lastOrdOfBlock(number) - 1;
  for (const foundRow of found) {
    const { address } = foundRow;
    if (context.registry.findPool(address) !== undefined) continue;
    if (context.registry.findVaultPool(address) !== undefined) continue;
    const newFee = context.registry.findUnlistedFee(address);
    const isVault = isVaultProtocol(foundRow.protocol);
    const isChanged = isVault && newFee !== undefined;
    const row = isChanged ? { ...foundRow, fee_pips: toFeePips(newFee) } : foundRow;
    const pool = toKnownPool(row);
    const state = isVault ? addVault(context, row, pool) : addPair(context, row, pool);
    facts.pools.push({
      ...toPoolRow(pool, ord),
      tokens: [...row.tokens],
      weights: [...row.weights],
      doubts: row.doubts,
    });
    const movedAt = row.moved_at > 0 ? Math.min(row.moved_at, timestamp) : timestamp;
    facts.pool_states.push(stateRow('found', pool, state, { ord, timestamp: movedAt, doubts: row.doubts }));
    ord -= 1;
  }
}

/**
 * Repeats the states of V3 pools whose ticks from before the start block are used from this block on. Their depth is
 * then known without waiting for their next event.
 */
export function addTickStates(
  context: DecodeContext,
  facts: BlockFacts,
  old: readonly Pick<OldTicksRow, 'pair' | 'low' | 'high'>[],
): void {
  const { number, timestamp } = facts.ref;
  const changedPairs = new Set(facts.pool_states.map(({ pair }) => pair));
  let ord = lastOrdOfBlock(number) - 1 - facts.pool_states.filter(({ kind }) => kind === 'found').length;
  for (const { pair, low, high } of old) {
    const pool = context.registry.findPool(pair);
    if (pool === undefined || changedPairs.has(pair) || low > high) continue;
    const state = context.registry.stateOf(pair);
    const price = context.protocolOfPool(pool).spotPrice(state, pool) ?? 0;
    const priced = { ...state, price, balances: [] };
    facts.pool_states.push(stateRow('ticks', pool, priced, { ord, timestamp, doubts: 0 }));
    ord -= 1;
  }
}

function stateRow(
  kind: 'found' | 'ticks',
  pool: KnownPool,
  state: Priced,
  row: Pick<PoolStateRow, 'ord' | 'timestamp' | 'doubts'>,
): PoolStateRow {
  return {
    ...row,
    kind,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tx_hash: ZERO_HASH,
    tx_index: 0,
    maker: null,
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    sqrt_price_x96: state.sqrtPriceX96,
    liquidity: state.liquidity,
    tick: state.tick,
    price: state.price,
    balances: [...state.balances],
    unswapped: [],
    walked_liquidity: NOT_WALKED,
    near0: 0,
    near1: 0,
  };
}

function toKnownPool(row: FoundPoolRow): KnownPool {
  return {
    address: row.address,
    dex: row.dex,
    protocol: getProtocol(row.protocol).name,
    poolType: parsePoolType(row.pool_type),
    factory: row.factory,
    token0: row.token0,
    token1: row.token1,
    feePips: row.fee_pips,
    tickSpacing: row.tick_spacing,
    scaleDecimals: toScaleDecimals(row.scale_decimals),
    baseIsToken0: row.base_is_token0,
  };
}

function addPair(context: DecodeContext, row: FoundPoolRow, pool: KnownPool): Priced {
  const state: PoolState = {
    reserve0: row.reserve0,
    reserve1: row.reserve1,
    sqrtPriceX96: row.sqrt_price_x96,
    liquidity: row.liquidity,
    tick: row.tick,
  };
  context.registry.addPool(pool);
  context.registry.setState(pool.address, state);
  return { ...state, price: context.protocolOfPool(pool).spotPrice(state, pool) ?? 0, balances: [] };
}

/**
 * Builds the same state as a restart that loads the pool from the database: the fee is rounded to whole pips.
 */
function addVault(context: DecodeContext, row: FoundPoolRow, pool: KnownPool): Priced {
  const startState: WeightedPoolState = {
    ...emptyWeightedPool(row.pool_id ?? ZERO_HASH),
    tokens: row.tokens,
    balances: row.balances,
    swapFee: fromFeePips(row.fee_pips),
  };
  const state = withDoubts(
    withWeights(startState, row.weights.length === 0 ? null : row.weights),
    row.doubts,
  );
  context.registry.setVaultPool({ pool, state });
  const leg = toLeg(state.tokens.indexOf(pool.token0), state.tokens.indexOf(pool.token1));
  const price = weightedSpotPrice(state, leg.first, leg.second) ?? 0;
  return { ...toPairState(state, leg), price, balances: state.balances };
}
