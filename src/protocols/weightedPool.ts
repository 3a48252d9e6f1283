/**
 * The state of one Balancer V2 pool, how the vault's events move it, and the marginal prices and depth of a weighted one.
 * A pool of n tokens trades as n(n−1)/2 legs of two. Formulas: WeightedMath.sol (balancer/balancer-v2-monorepo); the
 * invariant is Π B_k^w_k, B = balance, w = weight.
 */
import type { Hex } from '../domain/hex';
import { EMPTY_STATE, type PoolState } from '../domain/pool';
import { ARRAY_LENGTH_MAX } from './abiArrays';
import { poolOfId, type BalancerEvent, type VaultSwap } from './balancerV2';

/** 1 of a weight, 100 % of a fee. */
export const ONE = 10n ** 18n;
/** Weights are kept compressed by some pools, so their sum may miss 1 by rounding: 0.1 % is far more than that. */
const WEIGHT_SUM_SLACK = ONE / 1000n;
const UINT256_MAX = (1n << 256n) - 1n;
const PIPS_ONE = 1_000_000;
/** 1e18 = 100 % in units of one pip. */
const SWAP_FEE_PER_PIP = ONE / BigInt(PIPS_ONE);
const LEG_BASE = 256;
const DEPTH_DELTA = 0.02;

export interface WeightedPoolState {
  readonly poolId: Hex;
  /** In chain order; an index into them is a token's place in a leg. */
  readonly tokens: readonly Hex[];
  /** Raw units, cash and managed together, one per token. Empty: unknown, and then no event makes them known. */
  readonly balances: readonly bigint[];
  /** 1e18 = 1, one per token. Null: unknown, or no weighted pool; then there is no price and no depth. */
  readonly weights: readonly bigint[] | null;
  /** 1e18 = 100 %. 0n until known: BasePool.sol allows no fee below 1e12. */
  readonly swapFee: bigint;
}

/** Two tokens of a pool, `first` < `second`: indices into its tokens. */
export interface Leg {
  /** 256 · first + second; 1 in two-token pools. */
  readonly leg: number;
  readonly first: number;
  readonly second: number;
}

/** A swap as its leg sees it. Amounts are signed pool deltas, + into the pool, raw units. */
export interface LegSwap extends Leg {
  readonly token0: Hex;
  readonly token1: Hex;
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Raw units of one token, without fee. Below one unit in nearly empty pools. */
export interface Depth {
  /** What goes in to make the other token dearer by the share asked for. */
  readonly up: number;
  /** What comes out when the other token is sold until it is cheaper by that share. */
  readonly down: number;
}

/** A pool of which nothing but the id is known. */
export function emptyWeightedPool(poolId: Hex): WeightedPoolState {
  return { poolId, tokens: [], balances: [], weights: null, swapFee: 0n };
}

/** The state after the event; the same object when nothing moved, as after an event of another pool. Never throws. */
export function applyBalancerEvent(state: WeightedPoolState, event: BalancerEvent): WeightedPoolState {
  if (event.kind === 'swap_fee_changed') {
    const { pool, swapFee } = event;
    return pool !== poolOfId(state.poolId) || swapFee === state.swapFee ? state : { ...state, swapFee };
  }
  if (event.poolId !== state.poolId) return state;
  switch (event.kind) {
    case 'swap':
      return moveBalances(state, [event.tokenIn, event.tokenOut], [event.amountIn, -event.amountOut]);
    case 'balance_changed': {
      const { tokens, deltas, protocolFees } = event;
      const moves = deltas.map((delta, index) => delta - (protocolFees[index] ?? 0n));
      return moveBalances(state, tokens, moves);
    }
    case 'balance_managed':
      return moveBalances(state, [event.token], [event.cashDelta + event.managedDelta]);
    case 'tokens_registered':
      return addTokens(state, event.tokens);
    case 'pool_registered':
      return state;
  }
}

/** Balances stay within 0 … 2^256 − 1: what lies beyond comes from history not seen, and may not stop the writer. */
function moveBalances(
  state: WeightedPoolState,
  tokens: readonly Hex[],
  deltas: readonly bigint[],
): WeightedPoolState {
  const balances = [...state.balances];
  let moved = false;
  tokens.forEach((token, place) => {
    const index = state.tokens.indexOf(token);
    const before = balances[index];
    if (before === undefined) return;
    const after = clamp(before + (deltas[place] ?? 0n));
    moved ||= after !== before;
    balances[index] = after;
  });
  return moved ? { ...state, balances } : state;
}

function clamp(value: bigint): bigint {
  if (value < 0n) return 0n;
  return value > UINT256_MAX ? UINT256_MAX : value;
}

/**
 * The vault appends what is registered later (managed pools only), and the weights are then others: unknown until asked
 * for again. A token that the vault drops again keeps its place, with the balance 0 that dropping demands: so the legs
 * keep their numbers, and since the pool then answers fewer weights than there are tokens, it sets no price.
 */
function addTokens(state: WeightedPoolState, tokens: readonly Hex[]): WeightedPoolState {
  const all = [...new Set([...state.tokens, ...tokens])].slice(0, ARRAY_LENGTH_MAX);
  const balances = all.map((_token, index) => state.balances[index] ?? 0n);
  return { ...state, tokens: all, balances, weights: null };
}

/**
 * The state with the vault's own books (getPoolTokens), for a pool whose history was not seen. Weights stay where the
 * tokens are the same. Books that no pool of the vault has (too many tokens, one twice, uneven) change nothing.
 */
export function withPoolTokens(
  state: WeightedPoolState,
  tokens: readonly Hex[],
  balances: readonly bigint[],
): WeightedPoolState {
  if (tokens.length > ARRAY_LENGTH_MAX || tokens.length !== balances.length) return state;
  if (new Set(tokens).size !== tokens.length) return state;
  const same =
    tokens.length === state.tokens.length && tokens.every((token, at) => token === state.tokens[at]);
  return { ...state, tokens, balances, weights: same ? state.weights : null };
}

/** Whether these can be the weights of so many tokens: each above 0, together 1. */
export function areWeights(weights: readonly bigint[], tokenCount: number): boolean {
  if (tokenCount < 2 || weights.length !== tokenCount || weights.some((weight) => weight <= 0n)) return false;
  const excess = weights.reduce((sum, weight) => sum + weight, -ONE);
  return excess <= WEIGHT_SUM_SLACK && excess >= -WEIGHT_SUM_SLACK;
}

/** The state with these weights, or without any where they cannot be those of its tokens. */
export function withWeights(state: WeightedPoolState, weights: readonly bigint[] | null): WeightedPoolState {
  return { ...state, weights: weights !== null && areWeights(weights, state.tokens.length) ? weights : null };
}

/** All legs of a pool of so many tokens, by leg number. */
export function listLegs(tokenCount: number): Leg[] {
  const count = Math.min(tokenCount, ARRAY_LENGTH_MAX);
  const legs: Leg[] = [];
  for (let first = 0; first < count; first += 1) {
    for (let second = first + 1; second < count; second += 1) legs.push(toLeg(first, second));
  }
  return legs;
}

/** The leg of two different tokens, in whatever order they are given. */
export function toLeg(one: number, other: number): Leg {
  const first = Math.min(one, other);
  const second = Math.max(one, other);
  return { leg: LEG_BASE * first + second, first, second };
}

/**
 * The leg that stands for the pool where only one can: its quote, which is the token with the smallest rank, and the
 * heaviest of the others; where none is ranked (Infinity), the two heaviest. Of equals the first; without weights all are
 * equal. The pool's own token, which composable pools hold, counts as the lightest. Null: fewer than two tokens, or one of
 * them twice.
 */
export function pickDefaultLeg(
  { poolId, tokens, weights }: WeightedPoolState,
  quoteRank: (token: Hex) => number,
): Leg | null {
  if (tokens.length < 2 || new Set(tokens).size !== tokens.length) return null;
  const own = tokens.indexOf(poolOfId(poolId));
  const weightOf = (index: number): bigint => (index === own ? -1n : (weights?.[index] ?? 0n));
  // Sorting is stable: equals stay in the pool's order.
  const heaviest = [...tokens.keys()].sort((a, b) => {
    const difference = weightOf(b) - weightOf(a);
    return difference > 0n ? 1 : difference < 0n ? -1 : 0;
  });
  const ranks = tokens.map(quoteRank);
  const least = Math.min(...ranks);
  const [first = 0, second = 1] = heaviest;
  if (least === Infinity) return toLeg(first, second);
  const quote = ranks.indexOf(least);
  return toLeg(quote, quote === first ? second : first);
}

/** The leg that a swap trades; null where a token is not of the pool or both are the same. */
export function toLegSwap(state: WeightedPoolState, swap: VaultSwap): LegSwap | null {
  const { tokenIn, tokenOut, amountIn, amountOut } = swap;
  const indexIn = state.tokens.indexOf(tokenIn);
  const indexOut = state.tokens.indexOf(tokenOut);
  if (indexIn === -1 || indexOut === -1 || indexIn === indexOut) return null;
  const leg = toLeg(indexIn, indexOut);
  return leg.first === indexIn
    ? { ...leg, token0: tokenIn, token1: tokenOut, amount0: amountIn, amount1: -amountOut }
    : { ...leg, token0: tokenOut, token1: tokenIn, amount0: -amountOut, amount1: amountIn };
}

/** What of the tokens' books is known, in the order of the state's tokens; a token without books has nothing. */
export function withBalances(
  state: WeightedPoolState,
  books: { readonly tokens: readonly Hex[]; readonly balances: readonly bigint[] },
): WeightedPoolState {
  const balances = state.tokens.map((token) => books.balances[books.tokens.indexOf(token)] ?? 0n);
  return { ...state, balances };
}

/** The state with what it lacks of balances and fee, and only that, from another of the same pool. */
export function fillState(state: WeightedPoolState, other: WeightedPoolState): WeightedPoolState {
  const balances = state.balances.length > 0 ? state.balances : other.balances;
  return { ...state, balances, swapFee: state.swapFee > 0n ? state.swapFee : other.swapFee };
}

/** The two balances of a leg as the state of a pair. Their quotient is no price: that needs the weights. */
export function toPairState(state: WeightedPoolState, { first, second }: Leg): PoolState {
  return { ...EMPTY_STATE, reserve0: state.balances[first] ?? 0n, reserve1: state.balances[second] ?? 0n };
}

/** A price as an exact fraction of integers, both > 0. */
export interface PriceRatio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * Marginal price of token i, raw token j per raw token i, without fee: (B_j / w_j) / (B_i / w_i), as a fraction. Null
 * without weights, where a balance is 0, or where i and j are not two tokens of the pool.
 */
export function spotRatio(state: WeightedPoolState, i: number, j: number): PriceRatio | null {
  const { balances, weights } = state;
  const numerator = (balances[j] ?? 0n) * (weights?.[i] ?? 0n);
  const denominator = (balances[i] ?? 0n) * (weights?.[j] ?? 0n);
  return i !== j && numerator > 0n && denominator > 0n ? { numerator, denominator } : null;
}

/**
 * The same as a float64, finite and > 0. Only the two conversions and the division round: relative error below 4e-16.
 */
export function weightedSpotPrice(state: WeightedPoolState, i: number, j: number): number | null {
  const ratio = spotRatio(state, i, j);
  if (ratio === null) return null;
  const price = Number(ratio.numerator) / Number(ratio.denominator);
  return Number.isFinite(price) && price > 0 ? price : null;
}

/**
 * Depth of ± `delta` (0 < delta < 1) in raw token i, when it buys or is paid for token j. Along Π B^w = const the price
 * of j in i goes with B_i^((w_i + w_j) / w_j), so it moves by the factor 1 ± delta when B_i does by its w_j / (w_i + w_j)-th
 * power: Δ_i = B_i · ((1 + delta)^(w_j / (w_i + w_j)) − 1). Relative error below 1e-14. Null where there is no price.
 */
export function weightedDepth(
  state: WeightedPoolState,
  i: number,
  j: number,
  delta = DEPTH_DELTA,
): Depth | null {
  if (spotRatio(state, i, j) === null || !(delta > 0 && delta < 1)) return null;
  const weightI = state.weights?.[i] ?? 0n;
  const weightJ = state.weights?.[j] ?? 0n;
  const exponent = Number(weightJ) / Number(weightI + weightJ);
  const balance = Number(state.balances[i] ?? 0n);
  // expm1 and log1p, because 1 + a small share would lose the digits that matter.
  const up = balance * Math.expm1(exponent * Math.log1p(delta));
  const down = -balance * Math.expm1(exponent * Math.log1p(-delta));
  return { up, down };
}

/** A swap fee (1e18 = 100 %) in hundredths of a basis point (1e6 = 100 %), rounded half up, 1e6 at most. */
export function toFeePips(swapFee: bigint): number {
  const pips = (swapFee + SWAP_FEE_PER_PIP / 2n) / SWAP_FEE_PER_PIP;
  return pips > BigInt(PIPS_ONE) ? PIPS_ONE : Number(pips);
}

/** The swap fee (1e18 = 100 %) of a fee in hundredths of a basis point. */
export function fromFeePips(pips: number): bigint {
  return BigInt(pips) * SWAP_FEE_PER_PIP;
}
