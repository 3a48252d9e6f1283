/**
 * Adds findings to the decoded block and to the registry. A finding of the pool search is added at the end of its block.
 * If the pool is known already, its state is kept. Otherwise the found state becomes a row of pool_states with one of
 * the largest log indexes of the block, which no real log has. A pool without an event has the same state at the end of
 * every block. Only the fee of a vault pool may have changed, because its fee event does not make the pool known.
 */
import type { FoundPoolRow, OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { PoolStateRow } from '../../clickhouse/schema/tables';
import { ZERO_HASH } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { typeInState } from '../../domain/pools/poolShape';
import { NOT_WALKED } from '../../pricing/legState';
import { hookDoubt } from '../../protocols/hooks';
import { getManyTokenProtocol } from '../../protocols/registry';
import { toFinding, toPoolRow, type Finding, type PlacedFinding } from '../pools/finding';
import type { KnownPool } from '../pools/poolRegistry';
import type { BlockFacts } from '../rows/blockRows';
import type { DecodeContext } from './decodeContext';
import { stateColumns } from './decodeManyTokenLog';

/** Adds the pool and its row. If the pool is known already, a pool of many tokens gets the missing parts of its state. */
export function addFinding({ registry }: DecodeContext, facts: BlockFacts, finding: PlacedFinding): void {
  const { pool, state, rates } = finding;
  if ('poolId' in state) {
    const known = registry.findManyTokenPool(pool.address);
    const protocol = getManyTokenProtocol(pool.protocol);
    if (rates !== undefined) {
      const rated = known && protocol.withRates?.(known.state, rates);
      if (rated !== undefined) registry.setManyTokenPool({ pool, state: rated });
      return;
    }
    const newest = known === undefined ? state : protocol.fillState(known.state, state);
    registry.setManyTokenPool({ pool, state: newest });
    if (known !== undefined) return;
    if (finding.createdTx !== null && protocol.lacksBooks(newest)) facts.lacking.add(pool.address);
  } else {
    // The pool search may have added the pool at an earlier block of the same batch.
    if (registry.findPool(pool.address) !== undefined) return;
    registry.addPool(pool);
    const { bins, ...rest } = state;
    registry.setState(pool.address, bins === undefined ? state : rest);
    if (bins !== undefined) facts.toldBins.set(pool.address, bins);
  }
  facts.pools.push(toPoolRow(finding, facts.ref));
}

/**
 * Stores what the node told about an older pool whose logs in this block make no state row, such as a fee change or a
 * malformed log. Without a row, a restart would forget it. About a pool of a vault, the node is asked again.
 */
export function addFirstState(
  context: DecodeContext,
  facts: BlockFacts,
  { pool, state, ord, createdTx, rates }: PlacedFinding,
): void {
  const isOfPool = ({ pair }: PoolStateRow): boolean => pair === pool.address;
  const isAdded = facts.pools.some((row) => row.ord === ord && row.address === pool.address);
  if (!isAdded || state === EMPTY_STATE || createdTx !== null || rates !== undefined) return;
  if ('poolId' in state && getManyTokenProtocol(pool.protocol).isVault) return;
  if (facts.pool_states.some(isOfPool)) return;
  const newest =
    context.registry.findManyTokenPool(pool.address)?.state ?? context.registry.stateOf(pool.address);
  const place = { ord, timestamp: facts.ref.timestamp };
  facts.pool_states.push(stateRow(context, 'fee', { pool, state: newest }, place));
  facts.pool_states.sort((a, b) => a.ord - b.ord);
}

/**
 * `facts` is the decoded block. The registry still records the changes of this block, so a reorg removes the
 * pools too.
 */
export function addFoundPools(
  context: DecodeContext,
  facts: BlockFacts,
  rows: readonly FoundPoolRow[],
): void {
  const { registry } = context;
  const { number, timestamp } = facts.ref;
  // The last ord of a block is reserved for the block's prices.
  let ord = lastOrdOfBlock(number) - 1;
  for (const row of rows) {
    const { address } = row;
    if (registry.findPool(address) !== undefined || registry.findManyTokenPool(address) !== undefined)
      continue;
    const finding = toFinding(row, registry.findUnlistedFee(address));
    const { movedAt = 0 } = finding;
    addFinding(context, facts, { ...finding, ord, createdTx: null });
    const place = { ord, timestamp: movedAt > 0 ? Math.min(movedAt, timestamp) : timestamp };
    facts.pool_states.push(stateRow(context, 'found', finding, place));
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
    facts.pool_states.push(stateRow(context, 'ticks', { pool, state }, { ord, timestamp }));
    ord -= 1;
  }
}

function stateRow(
  context: DecodeContext,
  kind: 'found' | 'ticks' | 'fee',
  { pool, state }: Pick<Finding, 'pool' | 'state'>,
  row: Pick<PoolStateRow, 'ord' | 'timestamp'>,
): PoolStateRow {
  return {
    ...row,
    kind,
    pair: pool.address,
    dex: pool.dex,
    pool_type: 'poolId' in state ? pool.poolType : typeInState(pool.poolType, state.tick),
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tx_hash: ZERO_HASH,
    tx_index: 0,
    maker: null,
    ...('poolId' in state ? stateColumns(pool, state, row.timestamp) : pairColumns(context, pool, state)),
  };
}

function pairColumns(
  context: DecodeContext,
  pool: KnownPool,
  state: PoolState,
): ReturnType<typeof stateColumns> {
  return {
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    sqrt_price_x96: state.sqrtPriceX96,
    liquidity: state.liquidity,
    tick: state.tick,
    doubts: hookDoubt(pool),
    price: context.protocolOfPool(pool).spotPrice(state, pool) ?? 0,
    balances: [],
    params: [],
    unswapped: [],
    walked_liquidity: NOT_WALKED,
    near0: 0,
    near1: 0,
  };
}
