/**
 * Decodes events of Balancer V2 vaults. In a pool of n tokens, any two tokens trade as one leg, and each swap
 * becomes a row of its leg. A swap for the pool's own share becomes a mint, and a swap of the share a burn. Rows of
 * states and liquidity events name only the two tokens that represent the whole pool (see pickDefaultLeg); `balances`
 * of a state holds all tokens. A pool's token list never changes after the pool is added. Only managed pools change
 * their tokens, and managed pools have no price.
 */
import type { ChainLog } from '../../domain/block';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { NOT_WALKED } from '../../pricing/legState';
import {
  decodeBalancerEvent,
  poolOfId,
  shareMoveOf,
  SWAP_FEE_CHANGED,
  type BalanceChanged,
  type BalancerEvent,
  type VaultSwap,
} from '../../protocols/balancerV2/decodeBalancerEvent';
import {
  applyBalancerEvent,
  toLeg,
  toLegSwap,
  toPairState,
  weightedSpotPrice,
  withManagers,
  type LegIndexes,
  type WeightedPoolState,
} from '../../protocols/balancerV2/weightedPool';
import { toFeePips } from '../../domain/swapFee';
import type { PoolStateRow } from '../../clickhouse/schema/tables';
import { isBigMove, makerOf, type BlockWork } from './decodeContext';
import { heldKey } from '../rows/blockRows';
import type { KnownPool, VaultPool } from '../pools/poolRegistry';

/** Decodes an event of a configured vault, or of the contract of a known vault pool. */
export function readVaultLog(work: BlockWork, log: ChainLog): void {
  const { registry, onMalformed } = work.context;
  const known = findPoolOf(work, log);
  if (known === undefined && log.topics[0] !== SWAP_FEE_CHANGED) return;
  const event = decodeBalancerEvent(log);
  if (known === undefined) {
    if (event?.kind === 'swap_fee_changed') registry.noteUnlistedFee(log.address, event.swapFee);
    return;
  }
  if (event === null) return onMalformed(log);
  if (event.kind === 'pool_registered') return;
  const { pool, state } = known;
  // A contract may register several pools in the vault. Only the pool of its first registration is used.
  if (event.kind !== 'swap_fee_changed' && event.poolId !== state.poolId) return;
  const after =
    event.kind === 'tokens_registered'
      ? withManagers(state, event.assetManagers)
      : applyBalancerEvent(state, event);
  if (after !== state) registry.setVaultPool({ pool, state: after });
  if (event.kind === 'swap_fee_changed' || event.kind === 'tokens_registered') {
    // A doubt (a reason why the pool backs no price) changes the pool's value, so a new doubt is stored as a
    // new state row.
    if (after.doubts !== state.doubts) pushState(work, log, pool, event, after);
    return;
  }
  rememberHeld(work, log, known);
  if (event.kind === 'swap') pushLegSwap(work, log, pool, event, state, after);
  const moved = liquidityOf(event, state);
  if (moved !== null) pushLiquidity(work, log, pool, moved);
  pushState(work, log, pool, event, after);
}

/** Records the amounts that the vault held for the pool before the transaction. */
function rememberHeld({ facts }: BlockWork, log: ChainLog, { pool, state }: VaultPool): void {
  const key = heldKey({ pair: pool.address, tx_index: log.transactionIndex });
  if (facts.held.has(key)) return;
  facts.held.set(key, { vault: pool.factory, tokens: state.tokens, cash: state.balances });
}

/**
 * Finds the pool of an event. The pool contract emits the swap fee event; the vault emits all other events
 * and names the pool by its id.
 */
function findPoolOf({ context: { registry } }: BlockWork, log: ChainLog): VaultPool | undefined {
  const [topic, poolId] = log.topics;
  if (topic === SWAP_FEE_CHANGED) return registry.findVaultPool(log.address);
  const known = poolId === undefined ? undefined : registry.findVaultPool(poolOfId(poolId));
  return known?.pool.factory === log.address ? known : undefined;
}

function placeOf(work: BlockWork, log: ChainLog, pool: KnownPool) {
  return {
    ord: toOrd(work.block.number, log.logIndex),
    timestamp: work.block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    maker: makerOf(work, log),
  };
}

function pushLegSwap(
  work: BlockWork,
  log: ChainLog,
  pool: KnownPool,
  event: VaultSwap,
  before: WeightedPoolState,
  after: WeightedPoolState,
): void {
  const swap = toLegSwap(after, event);
  if (swap === null) return;
  const price = weightedSpotPrice(after, swap.first, swap.second);
  if (isBigMove(weightedSpotPrice(before, swap.first, swap.second), price))
    work.facts.moved.add(log.transactionIndex);
  const { reserve0, reserve1 } = toPairState(after, swap);
  work.facts.swaps.push({
    ...placeOf(work, log, pool),
    leg: swap.leg,
    token0: swap.token0,
    token1: swap.token1,
    base_is_token0: work.context.baseIsToken0(swap.token0, swap.token1),
    // The vault's event names neither sender nor recipient, so both are the zero address.
    sender: ZERO_ADDRESS,
    recipient: ZERO_ADDRESS,
    amount0: swap.amount0,
    amount1: swap.amount1,
    reserve0,
    reserve1,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    price: price ?? 0,
    fee_pips: toFeePips(after.swapFee),
  });
}

const isExit = ({ deltas }: BalanceChanged): boolean => deltas.some((delta) => delta < 0n);

/** Tokens that went into a pool (mint) or out of it (burn), as absolute raw amounts. */
interface LiquidityMove {
  readonly kind: 'mint' | 'burn';
  /** Zero bytes if the event names no provider. */
  readonly owner: Hex;
  readonly amounts: readonly { readonly token: Hex; readonly amount: bigint }[];
}

/** What a join or an exit moved. Null for other events. */
function liquidityOf(event: BalancerEvent, { tokens }: WeightedPoolState): LiquidityMove | null {
  if (event.kind === 'balance_changed') {
    const amounts = event.tokens.map((token, index) => {
      const delta = event.deltas[index] ?? 0n;
      return { token, amount: delta < 0n ? -delta : delta };
    });
    return { kind: isExit(event) ? 'burn' : 'mint', owner: event.provider, amounts };
  }
  const move = event.kind === 'swap' ? shareMoveOf(event) : null;
  if (move === null || !tokens.includes(move.token)) return null;
  return { kind: move.kind, owner: ZERO_ADDRESS, amounts: [move] };
}

/**
 * Adds a liquidity row. amount0 and amount1 are amounts of the pool's token0 and token1. Amounts of its other
 * tokens go into `others`, so that pricing can value them. The pool's own share is left out: composable pools
 * mint it to the vault, and no liquidity provider owns it.
 */
function pushLiquidity(
  work: BlockWork,
  log: ChainLog,
  pool: KnownPool,
  { kind, owner, amounts }: LiquidityMove,
): void {
  const amountOf = (token: Hex): bigint => amounts.find((one) => one.token === token)?.amount ?? 0n;
  const named = new Set([pool.token0, pool.token1, pool.address]);
  work.facts.liquidity_events.push({
    ...placeOf(work, log, pool),
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    kind,
    owner,
    recipient: ZERO_ADDRESS,
    amount0: amountOf(pool.token0),
    amount1: amountOf(pool.token1),
    liquidity: null,
    tick_lower: null,
    tick_upper: null,
    others: amounts.filter(({ token }) => !named.has(token)).map(({ token, amount }) => ({ token, amount })),
  });
}

type StateEvent = Exclude<BalancerEvent, { kind: 'pool_registered' }>;

function pushState(
  work: BlockWork,
  log: ChainLog,
  pool: KnownPool,
  event: StateEvent,
  after: WeightedPoolState,
): void {
  const leg = legOf(pool, after);
  const { reserve0, reserve1 } = toPairState(after, leg);
  work.facts.pool_states.push({
    ...placeOf(work, log, pool),
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    kind: kindOf(event),
    reserve0,
    reserve1,
    sqrt_price_x96: 0n,
    liquidity: 0n,
    tick: 0,
    doubts: after.doubts,
    price: weightedSpotPrice(after, leg.first, leg.second) ?? 0,
    balances: [...after.balances],
    unswapped: [],
    walked_liquidity: NOT_WALKED,
    near0: 0,
    near1: 0,
  });
}

function legOf({ token0, token1 }: KnownPool, { tokens }: WeightedPoolState): LegIndexes {
  return toLeg(tokens.indexOf(token0), tokens.indexOf(token1));
}

/**
 * Returns the kind of a state row. A transfer by an asset manager counts neither as a trade nor as liquidity
 * of a provider.
 */
function kindOf(event: StateEvent): PoolStateRow['kind'] {
  if (event.kind === 'swap_fee_changed') return 'fee';
  if (event.kind === 'tokens_registered') return 'register';
  if (event.kind === 'swap') return shareMoveOf(event)?.kind ?? 'swap';
  if (event.kind === 'balance_managed') return 'collect';
  return isExit(event) ? 'burn' : 'mint';
}
