/**
 * The parts of a pool of many tokens that all its protocols share: balances, doubts, and the legs of two tokens that
 * trade against each other.
 */
import { clampAmount, UINT256_MAX } from '../domain/amounts';
import type { Hex } from '../domain/hex';
import { EMPTY_STATE, type PoolState } from '../domain/pool';
import type { ManyTokenState, ManyTokenSwap } from './manyTokenProtocol';

/** A leg is one number of two bytes, one for each index. */
const LEG_BASE = 256;

/** Two tokens of a pool, given by their indexes in its list of tokens, `first` < `second`. */
interface LegIndexes {
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
export function emptyManyTokenState(poolId: Hex): ManyTokenState {
  return { poolId, tokens: [], balances: [], weights: null, swapFee: 0n, doubts: 0, params: [] };
}

/** The state with additional doubts. The same object if it already has all of them. */
export function withDoubts(state: ManyTokenState, doubts: number): ManyTokenState {
  return (state.doubts & doubts) === doubts ? state : { ...state, doubts: state.doubts | doubts };
}

/**
 * Balances stay within 0 … 2^256 − 1. A value outside this range means that a part of the history was not indexed. It
 * must not stop the ingester.
 */
export function moveTokens(
  state: ManyTokenState,
  tokens: readonly Hex[],
  deltas: readonly bigint[],
): ManyTokenState {
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
 * Sets the balances from the answers of the vault, in the order of the state's tokens. A token without an
 * answer gets 0.
 */
export function withBalances(
  state: ManyTokenState,
  books: { readonly tokens: readonly Hex[]; readonly balances: readonly bigint[] },
): ManyTokenState {
  const balances = state.tokens.map((token) => books.balances[books.tokens.indexOf(token)] ?? 0n);
  return { ...state, balances };
}

/** The leg of two different tokens, in either order. */
export function toLeg(one: number, other: number): LegIndexes {
  const first = Math.min(one, other);
  const second = Math.max(one, other);
  return { leg: LEG_BASE * first + second, first, second };
}

/**
 * Chooses the leg that represents the whole pool: its quote token, which is the token with the lowest rank,
 * and the other token with the largest weight. If no token has a rank below Infinity, the leg has the two tokens with
 * the largest weights. Of equal tokens, the first in the pool's order wins; without weights all tokens are equal. The
 * pool's own share, which composable pools hold and whose address is `pool`, is never part of the leg. Null if there are
 * fewer than two other tokens, or a token appears twice.
 */
export function pickDefaultLeg(
  { tokens, weights }: ManyTokenState,
  pool: Hex,
  quoteRank: (token: Hex) => number,
): LegIndexes | null {
  const ownIndex = tokens.indexOf(pool);
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

/** The leg of a swap. Null if a token is not in the pool, or if both tokens are the same. */
export function toLegSwap(
  state: ManyTokenState,
  {
    tokenIn,
    tokenOut,
    amountIn,
    amountOut,
  }: Pick<ManyTokenSwap, 'tokenIn' | 'tokenOut' | 'amountIn' | 'amountOut'>,
): LegSwap | null {
  const indexIn = state.tokens.indexOf(tokenIn);
  const indexOut = state.tokens.indexOf(tokenOut);
  if (indexIn === -1 || indexOut === -1 || indexIn === indexOut) return null;
  const leg = toLeg(indexIn, indexOut);
  return leg.first === indexIn
    ? { ...leg, token0: tokenIn, token1: tokenOut, amount0: amountIn, amount1: -amountOut }
    : { ...leg, token0: tokenOut, token1: tokenIn, amount0: -amountOut, amount1: amountIn };
}

/** The two balances of a leg as the state of a pair. Their ratio is not a price, because a price needs the weights. */
export function toPairState(state: ManyTokenState, { first, second }: LegIndexes): PoolState {
  return { ...EMPTY_STATE, reserve0: state.balances[first] ?? 0n, reserve1: state.balances[second] ?? 0n };
}
