/**
 * The state of a Balancer V2 pool: how events change it, and the marginal prices of a weighted pool. A pool
 * of n tokens trades as n(n−1)/2 legs of two tokens each. Formulas: WeightedMath.sol
 * (balancer/balancer-v2-monorepo); the invariant is Π B_k^w_k, B = balance, w = weight.
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { toFeePips } from '../../domain/swapFee';
import { ARRAY_LENGTH_MAX } from '../abiArrays';
import { poolOfId, shareMoveOf, type BalancerEvent, type VaultSwap } from './decodeBalancerEvent';
import { DOUBTS } from '../doubts';
import type { VaultPoolState } from '../protocol';
import { hasManager, termsDoubt } from './vaultDoubts';
import { fitsWeights, outGivenIn } from './weightedMath';

/** The number that means a weight of 1, or a fee of 100 %. */
export const ONE = 10n ** 18n;
/** Largest deviation of the sum of weights from 1. Some pools compress their weights, so the sum has rounding
 * errors; 0.1 % is far more than these. */
const WEIGHT_SUM_SLACK = ONE / 1000n;
const LEG_BASE = 256;

/** A vault pool. A leg refers to tokens by their index in the list. */
export type WeightedPoolState = VaultPoolState;

/** Two tokens of a pool, given by their indexes in its list of tokens, `first` < `second`. */
export interface LegIndexes {
  /** Number of the leg: 256 · first + second; 1 in pools of two tokens. */
  readonly leg: number;
  readonly first: number;
  readonly second: number;
}

/** A swap on its leg. Amounts are changes of the pool's balances in raw units, positive into the pool. */
interface LegSwap extends LegIndexes {
  readonly token0: Hex;
  readonly token1: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** A pool with a known id and an unknown state. */
export function emptyWeightedPool(poolId: Hex): WeightedPoolState {
  return { poolId, tokens: [], balances: [], weights: null, swapFee: 0n, doubts: 0 };
}

/**
 * The state after the event. The same object if nothing changed, for example after another pool's event. Never throws.
 */
export function applyBalancerEvent(state: WeightedPoolState, event: BalancerEvent): WeightedPoolState {
  if (event.kind === 'swap_fee_changed') {
    const { pool, swapFee } = event;
    if (pool !== poolOfId(state.poolId) || swapFee === state.swapFee) return state;
    return withDoubts({ ...state, swapFee }, termsDoubt([], toFeePips(swapFee)));
  }
  if (event.poolId !== state.poolId) return state;
  switch (event.kind) {
    case 'swap':
      return withDoubts(
        moveBalances(state, [event.tokenIn, event.tokenOut], [event.amountIn, -event.amountOut]),
        fitsState(state, event) ? 0 : DOUBTS.weights,
      );
    case 'balance_changed': {
      const { tokens, deltas, protocolFees } = event;
      const moves = deltas.map((delta, index) => delta - (protocolFees[index] ?? 0n));
      return moveBalances(state, tokens, moves);
    }
    case 'balance_managed':
      // An asset manager may report any managed balance without moving a token. Only the change of the cash is used.
      return withDoubts(moveBalances(state, [event.token], [event.cashDelta]), DOUBTS.managed);
    case 'tokens_registered':
      return withManagers(addTokens(state, event.tokens), event.assetManagers);
    case 'pool_registered':
      return state;
  }
}

/**
 * Whether the pool's weights explain the swap. True if balances or weights are unknown. Also true if the pool
 * has an asset manager, because its swaps then use balances that include managed amounts.
 */
function fitsState(state: WeightedPoolState, swap: VaultSwap): boolean {
  const { tokens, balances, weights, swapFee, doubts } = state;
  if ((doubts & DOUBTS.managed) > 0) return true;
  const [into, out] = [tokens.indexOf(swap.tokenIn), tokens.indexOf(swap.tokenOut)];
  const [balanceIn, balanceOut] = [balances[into], balances[out]];
  const [weightIn, weightOut] = [weights?.[into], weights?.[out]];
  if (balanceIn === undefined || balanceOut === undefined) return true;
  if (weightIn === undefined || weightOut === undefined) return true;
  const { amountIn, amountOut } = swap;
  // The store keeps the fee in pips. Further digits would be lost after a restart, so they are not used here.
  const feePips = toFeePips(swapFee);
  return fitsWeights({ balanceIn, balanceOut, weightIn, weightOut, amountIn, amountOut, feePips });
}

/** The state with additional doubts. The same object if it already has all of them. */
export function withDoubts(state: WeightedPoolState, doubts: number): WeightedPoolState {
  return (state.doubts & doubts) === doubts ? state : { ...state, doubts: state.doubts | doubts };
}

/** The state after tokens were registered with their asset managers. */
export function withManagers(state: WeightedPoolState, managers: readonly Hex[]): WeightedPoolState {
  return withDoubts(state, hasManager(managers) ? DOUBTS.managed : 0);
}

/**
 * Balances stay within 0 … 2^256 − 1. A value outside this range means that a part of the history was not indexed. It
 * must not stop the ingester.
 */
function moveBalances(
  state: WeightedPoolState,
  tokens: readonly Hex[],
  deltas: readonly bigint[],
): WeightedPoolState {
  const balances = [...state.balances];
  let hasMoved = false;
  tokens.forEach((token, place) => {
    const index = state.tokens.indexOf(token);
    const balanceBefore = balances[index];
    if (balanceBefore === undefined) return;
    const balanceAfter = clampAmount(balanceBefore + (deltas[place] ?? 0n), UINT256_MAX);
    hasMoved ||= balanceAfter !== balanceBefore;
    balances[index] = balanceAfter;
  });
  return hasMoved ? { ...state, balances } : state;
}

/**
 * The vault appends tokens that are registered later (managed pools only). The weights then change and are unknown
 * until read again. A deregistered token keeps its index with balance 0, which deregistering requires, so legs keep
 * their numbers. The pool then returns fewer weights than it has tokens here, so it sets no price.
 */
function addTokens(state: WeightedPoolState, tokens: readonly Hex[]): WeightedPoolState {
  const allTokens = [...new Set([...state.tokens, ...tokens])].slice(0, ARRAY_LENGTH_MAX);
  const balances = allTokens.map((_token, index) => state.balances[index] ?? 0n);
  return { ...state, tokens: allTokens, balances, weights: null };
}

/** Whether these can be the weights of `tokenCount` tokens: each above 0, with a sum of 1. */
export function areWeights(weights: readonly bigint[], tokenCount: number): boolean {
  if (tokenCount < 2 || weights.length !== tokenCount || weights.some((weight) => weight <= 0n)) return false;
  const excess = weights.reduce((sum, weight) => sum + weight, -ONE);
  return excess <= WEIGHT_SUM_SLACK && excess >= -WEIGHT_SUM_SLACK;
}

/**
 * The state with these weights, or with null if they cannot belong to its tokens. A pool that holds its own share has no
 * weights here: they would price the share by shares that the pool minted to itself.
 */
export function withWeights(state: WeightedPoolState, weights: readonly bigint[] | null): WeightedPoolState {
  const fits = !holdsOwnShare(state) && areWeights(weights ?? [], state.tokens.length);
  const knownWeights = fits ? weights : null;
  return withDoubts(
    { ...state, weights: knownWeights },
    termsDoubt(knownWeights ?? [], toFeePips(state.swapFee)),
  );
}

function holdsOwnShare({ poolId, tokens }: WeightedPoolState): boolean {
  return tokens.includes(poolOfId(poolId));
}

/** The leg of two different tokens, in either order. */
export function toLeg(one: number, other: number): LegIndexes {
  const first = Math.min(one, other);
  const second = Math.max(one, other);
  return { leg: LEG_BASE * first + second, first, second };
}

/**
 * Chooses the leg that represents the whole pool: its quote token, which is the token with the lowest rank,
 * and the other token with the largest weight. If no token ranks (Infinity), the two tokens with the largest
 * weights. Of equal tokens, the first in the pool's order wins; without weights all tokens are equal. The
 * pool's own share, which composable pools hold, is never part of the leg. Null if there are fewer than two
 * other tokens, or a token appears twice.
 */
export function pickDefaultLeg(
  { poolId, tokens, weights }: WeightedPoolState,
  quoteRank: (token: Hex) => number,
): LegIndexes | null {
  const ownIndex = tokens.indexOf(poolOfId(poolId));
  const tokenIndexes = [...tokens.keys()].filter((index) => index !== ownIndex);
  if (tokenIndexes.length < 2 || new Set(tokens).size !== tokens.length) return null;
  const weightOf = (index: number): bigint => weights?.[index] ?? 0n;
  // Sorting is stable, so equal weights keep the pool's order.
  const heaviest = tokenIndexes.sort((a, b) => {
    const difference = weightOf(b) - weightOf(a);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  });
  const ranks = tokens.map((token, index) => (index === ownIndex ? Infinity : quoteRank(token)));
  const bestRank = Math.min(...ranks);
  const [heaviestIndex = 0, secondIndex = 1] = heaviest;
  if (bestRank === Infinity) return toLeg(heaviestIndex, secondIndex);
  const quote = ranks.indexOf(bestRank);
  return toLeg(quote, quote === heaviestIndex ? secondIndex : heaviestIndex);
}

/** The leg of a swap. Null if a token is not in the pool, if both tokens are the same, and for a join or an exit. */
export function toLegSwap(state: WeightedPoolState, swap: VaultSwap): LegSwap | null {
  const { tokenIn, tokenOut, amountIn, amountOut } = swap;
  if (shareMoveOf(swap) !== null) return null;
  const indexIn = state.tokens.indexOf(tokenIn);
  const indexOut = state.tokens.indexOf(tokenOut);
  if (indexIn === -1 || indexOut === -1 || indexIn === indexOut) return null;
  const leg = toLeg(indexIn, indexOut);
  return leg.first === indexIn
    ? { ...leg, token0: tokenIn, token1: tokenOut, amount0: amountIn, amount1: -amountOut }
    : { ...leg, token0: tokenOut, token1: tokenIn, amount0: -amountOut, amount1: amountIn };
}

/**
 * Sets the balances from the answers of the vault, in the order of the state's tokens. A token without an
 * answer gets 0.
 */
export function withBalances(
  state: WeightedPoolState,
  books: { readonly tokens: readonly Hex[]; readonly balances: readonly bigint[] },
): WeightedPoolState {
  const balances = state.tokens.map((token) => books.balances[books.tokens.indexOf(token)] ?? 0n);
  return { ...state, balances };
}

/** Sets missing balances, a missing fee and further doubts from another state of the same pool. */
export function fillState(state: WeightedPoolState, other: WeightedPoolState): WeightedPoolState {
  const balances = state.balances.length > 0 ? state.balances : other.balances;
  const swapFee = state.swapFee > 0n ? state.swapFee : other.swapFee;
  return withDoubts({ ...state, balances, swapFee }, other.doubts | termsDoubt([], toFeePips(swapFee)));
}

/** The two balances of a leg as the state of a pair. Their ratio is not a price, because a price needs the weights. */
export function toPairState(state: WeightedPoolState, { first, second }: LegIndexes): PoolState {
  return { ...EMPTY_STATE, reserve0: state.balances[first] ?? 0n, reserve1: state.balances[second] ?? 0n };
}

/**
 * Marginal price of token i, raw token j per raw token i, without fee: (B_j / w_j) / (B_i / w_i). Null without weights,
 * in a pool with doubts, if a balance is 0, or if i and j are not two tokens of the pool; otherwise finite and > 0. Only
 * the two conversions and the division round: relative error below 4e-16.
 */
export function weightedSpotPrice(state: WeightedPoolState, i: number, j: number): number | null {
  const { balances, weights, doubts } = state;
  if (doubts > 0) return null;
  const numerator = (balances[j] ?? 0n) * (weights?.[i] ?? 0n);
  const denominator = (balances[i] ?? 0n) * (weights?.[j] ?? 0n);
  if (i === j || numerator <= 0n || denominator <= 0n) return null;
  const price = Number(numerator) / Number(denominator);
  return Number.isFinite(price) && price > 0 ? price : null;
}

/** Raw token j that the pool pays out for `amountIn` of token i. Null where the pool has no price. */
export function quoteWeighted(
  state: WeightedPoolState,
  i: number,
  j: number,
  amountIn: bigint,
): bigint | null {
  const { balances, weights, swapFee } = state;
  if (amountIn <= 0n || weightedSpotPrice(state, i, j) === null) return null;
  const [balanceIn = 0n, balanceOut = 0n] = [balances[i], balances[j]];
  const [weightIn = 0n, weightOut = 0n] = [weights?.[i], weights?.[j]];
  const terms = { balanceIn, balanceOut, weightIn, weightOut };
  return BigInt(Math.floor(outGivenIn(terms, Number(amountIn), Number(swapFee) / 1e12)));
}
