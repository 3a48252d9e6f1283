/**
 * The state of a Balancer V2 pool: how events change it, and the marginal prices of a weighted pool. A pool
 * of n tokens trades as n(n−1)/2 legs of two tokens each. Formulas: WeightedMath.sol
 * (balancer/balancer-v2-monorepo); the invariant is Π B_k^w_k, B = balance, w = weight.
 */
import { wholeTokens } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { weightedLiquidity } from '../../domain/pools/weightedLiquidity';
import { toFeePips } from '../../domain/swapFee';
import { ARRAY_LENGTH_MAX } from '../abiArrays';
import { poolOfId, type BalancerEvent, type VaultSwap } from './decodeBalancerEvent';
import { DOUBTS } from '../../domain/pools/doubts';
import { moveTokens, withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol, ManyTokenState, StoredManyTokenState } from '../manyTokenProtocol';
import { fillTerms, withRamp, withRate } from './stablePool';
import { hasManager, termsDoubt } from './vaultDoubts';
import { fitsWeights, outGivenIn } from './weightedMath';

/** The number that means a weight of 1, or a fee of 100 %. */
export const ONE = 10n ** 18n;
/** Largest deviation of the sum of weights from 1. Some pools compress their weights, so the sum has rounding
 * errors; 0.1 % is far more than these. */
const WEIGHT_SUM_SLACK = ONE / 1000n;

/**
 * The state after the event. The same object if nothing changed, for example after another pool's event. Never throws.
 */
export function applyBalancerEvent(state: ManyTokenState, event: BalancerEvent): ManyTokenState {
  if (event.kind === 'swap_fee_changed') {
    const { pool, swapFee } = event;
    if (pool !== poolOfId(state.poolId) || swapFee === state.swapFee) return state;
    return withDoubts({ ...state, swapFee }, termsDoubt([], toFeePips(swapFee)));
  }
  if (event.kind === 'amp_changed')
    return event.pool === poolOfId(state.poolId) ? withRamp(state, event.ramp) : state;
  if (event.kind === 'rate_changed') {
    const { pool, token, isIndex, rate } = event;
    if (pool !== poolOfId(state.poolId)) return state;
    const index = isIndex ? Number(token) : state.tokens.findIndex((each) => BigInt(each) === token);
    return withRate(state, index, rate);
  }
  if (event.poolId !== state.poolId) return state;
  switch (event.kind) {
    case 'swap':
      return withDoubts(
        moveTokens(state, [event.tokenIn, event.tokenOut], [event.amountIn, -event.amountOut]),
        fitsState(state, event) ? 0 : DOUBTS.weights,
      );
    case 'balance_changed': {
      const { tokens, deltas, protocolFees } = event;
      const moves = deltas.map((delta, index) => delta - (protocolFees[index] ?? 0n));
      return moveTokens(state, tokens, moves);
    }
    case 'balance_managed':
      // An asset manager may report any managed balance without moving a token. Only the change of the cash is used.
      return withDoubts(moveTokens(state, [event.token], [event.cashDelta]), DOUBTS.managed);
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
function fitsState(state: ManyTokenState, swap: VaultSwap): boolean {
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

/** The state after tokens were registered with their asset managers. */
export function withManagers(state: ManyTokenState, managers: readonly Hex[]): ManyTokenState {
  return withDoubts(state, hasManager(managers) ? DOUBTS.managed : 0);
}

/**
 * The vault appends tokens that are registered later (managed pools only). The weights then change and are unknown
 * until read again. A deregistered token keeps its index with balance 0, which deregistering requires, so legs keep
 * their numbers. The pool then returns fewer weights than it has tokens here, so it sets no price.
 */
function addTokens(state: ManyTokenState, tokens: readonly Hex[]): ManyTokenState {
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
export function withWeights(state: ManyTokenState, weights: readonly bigint[] | null): ManyTokenState {
  const fits = !holdsOwnShare(state) && areWeights(weights ?? [], state.tokens.length);
  const knownWeights = fits ? weights : null;
  return withDoubts(
    { ...state, weights: knownWeights },
    termsDoubt(knownWeights ?? [], toFeePips(state.swapFee)),
  );
}

function holdsOwnShare({ poolId, tokens }: ManyTokenState): boolean {
  return tokens.includes(poolOfId(poolId));
}

/** Sets missing balances, a missing fee, a missing amplification, missing rates and further doubts from another state of the same pool. */
export function fillState(state: ManyTokenState, other: ManyTokenState): ManyTokenState {
  const balances = state.balances.length > 0 ? state.balances : other.balances;
  const swapFee = state.swapFee > 0n ? state.swapFee : other.swapFee;
  return withDoubts(
    { ...state, balances, swapFee, params: fillTerms(state, other) },
    other.doubts | termsDoubt([], toFeePips(swapFee)),
  );
}

/**
 * Marginal price of token i, raw token j per raw token i, without fee: (B_j / w_j) / (B_i / w_i). Null without weights,
 * in a pool with doubts, if a balance is 0, or if i and j are not two tokens of the pool; otherwise finite and > 0. Only
 * the two conversions and the division round: relative error below 4e-16.
 */
export function weightedSpotPrice(state: ManyTokenState, i: number, j: number): number | null {
  const { balances, weights, doubts } = state;
  if (doubts > 0) return null;
  const numerator = (balances[j] ?? 0n) * (weights?.[i] ?? 0n);
  const denominator = (balances[i] ?? 0n) * (weights?.[j] ?? 0n);
  if (i === j || numerator <= 0n || denominator <= 0n) return null;
  const price = Number(numerator) / Number(denominator);
  return Number.isFinite(price) && price > 0 ? price : null;
}

/** Raw token j that the pool pays out for `amountIn` of token i. Null where the pool has no price. */
export function quoteWeighted(state: ManyTokenState, i: number, j: number, amountIn: bigint): bigint | null {
  const { balances, weights, swapFee } = state;
  if (amountIn <= 0n || weightedSpotPrice(state, i, j) === null) return null;
  const [balanceIn = 0n, balanceOut = 0n] = [balances[i], balances[j]];
  const [weightIn = 0n, weightOut = 0n] = [weights?.[i], weights?.[j]];
  const terms = { balanceIn, balanceOut, weightIn, weightOut };
  return BigInt(Math.floor(outGivenIn(terms, Number(amountIn), Number(swapFee) / 1e12)));
}

/**
 * The state of two tokens in whole tokens, with the spot price (B1/w1)/(B0/w0). A pool without weights, or with doubts,
 * has no price.
 */
export function weightedLegState(
  { doubts, balances, weights }: StoredManyTokenState,
  index0: number,
  index1: number,
  [decimals0, decimals1]: readonly [number, number],
): ReturnType<ManyTokenProtocol['legState']> {
  if (doubts > 0) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  const reserve0 = wholeTokens(balances[index0] ?? 0n, decimals0);
  const reserve1 = wholeTokens(balances[index1] ?? 0n, decimals1);
  const weight0 = Number(weights[index0] ?? 0n) / 1e18;
  const weight1 = Number(weights[index1] ?? 0n) / 1e18;
  const price = reserve1 / weight1 / (reserve0 / weight0);
  const hasPrice = weight0 > 0 && weight1 > 0 && price > 0 && Number.isFinite(price);
  const liquidity = hasPrice ? weightedLiquidity(reserve0, reserve1, weight0, weight1) : 0;
  return { price: hasPrice ? price : 0, liquidity, reserve0, reserve1 };
}
