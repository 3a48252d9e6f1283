/**
 * Stable pools of Balancer V2 whose token rates are constant: the ramp of the amplification, marginal prices, and what a
 * swap pays out. Formulas: StableMath.sol and StablePoolAmplification.sol (balancer/balancer-v2-monorepo). The amplification
 * of Balancer is A · n^(n−1), so the invariant is that of StableSwap.
 *
 * The params of a state are the ramp (first and last value, first and last time), then the scaling factor of each token.
 * The pool's own share, which composable pools hold, has the factor 0, because it does not take part in trades.
 */
import { wholeTokens } from '../../domain/amounts';
import { callData, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { scalePrice } from '../../domain/prices';
import { readArrays, readWords } from '../abiArrays';
import { stableLiquidity } from '../curve/curveDepth';
import { getD, marginalPrice, type StableCurve } from '../curve/stableMath';
import type { ManyTokenProtocol, ManyTokenState, StoredManyTokenState } from '../manyTokenProtocol';
import { poolOfId, type VaultSwap } from './decodeBalancerEvent';

const ONE = 10n ** 18n;
/** Precision of the amplification (StableMath.sol, _AMP_PRECISION). */
const AMP_UNIT = 1_000n;
/** Largest amplification (StableMath.sol, _MAX_AMP). */
const AMP_MAX = 5_000n * AMP_UNIT;
const RAMP_LENGTH = 4;
/** Factor of a token with 0 decimals. */
const SCALE_MAX = ONE * ONE;
const UNKNOWN_RAMP: Ramp = [0n, 0n, 0n, 0n];
const STEPS_MAX = 255;
/** Largest part of the amount by which a swap may differ from the formula, and largest error by rounding, raw units. */
const TOLERANCE_PARTS = 100n;
const ROUNDING_UNITS = 4n;

/** First and last amplification, first and last time. */
type Ramp = readonly [fromAmp: bigint, toAmp: bigint, fromTime: bigint, toTime: bigint];
type Terms = Pick<ManyTokenState, 'params' | 'balances'>;

/** A stable pool at one time, without its own share. */
interface StablePool {
  readonly curve: StableCurve;
  /** Balances with 18 decimals. */
  readonly xp: readonly bigint[];
  readonly scales: readonly bigint[];
  /** Place of the pool's tokens in these lists; -1 for its own share. */
  readonly places: readonly number[];
}

/** Whether the pool is stable, without rate providers. */
export function isStable({ params }: Pick<ManyTokenState, 'params'>): boolean {
  return params.length > RAMP_LENGTH;
}

function toStablePool({ params, balances }: Terms, timestamp: number): StablePool | null {
  const [fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n, ...factors] = params;
  if (factors.length === 0 || factors.length !== balances.length) return null;
  const time = BigInt(timestamp);
  if ([fromAmp, toAmp].some((one) => one < AMP_UNIT || one > AMP_MAX)) return null;
  const isMoving = time < toTime && time >= fromTime;
  const [change, span] = [toAmp > fromAmp ? toAmp - fromAmp : fromAmp - toAmp, toTime - fromTime];
  const moved = isMoving ? (change * (time - fromTime)) / span : change;
  const amp = toAmp > fromAmp ? fromAmp + moved : fromAmp - moved;
  let place = 0;
  const places = factors.map((factor) => (factor === 0n ? -1 : place++));
  const traded = <T>(all: readonly T[]): T[] => all.filter((_each, index) => factors[index] !== 0n);
  const scales = traded(factors);
  const xp = traded(balances).map((balance, index) => (balance * (scales[index] ?? 0n)) / ONE);
  return { curve: { amp, ampUnit: AMP_UNIT, isPancake: true }, xp, scales, places };
}

/** Marginal price of token i, raw token j per raw token i, without fee. Null without a price. */
export function stableSpotPrice(
  state: Terms & Pick<ManyTokenState, 'doubts'>,
  i: number,
  j: number,
  timestamp: number,
): number | null {
  const pool = state.doubts > 0 ? null : toStablePool(state, timestamp);
  const [placeI = -1, placeJ = -1] = [pool?.places[i], pool?.places[j]];
  if (pool === null || placeI < 0 || placeJ < 0 || i === j) return null;
  const { curve, xp, scales } = pool;
  const d = getD(xp, curve);
  const ratio = d === null || d === 0n ? null : marginalPrice(xp, curve, d, [placeI, placeJ]);
  if (ratio === null) return null;
  const [scaleI = 0n, scaleJ = 0n] = [scales[placeI], scales[placeJ]];
  const price = Number(ratio.numerator * scaleI) / Number(ratio.denominator * scaleJ);
  return Number.isFinite(price) && price > 0 ? price : null;
}

export function stableLegState(
  state: StoredManyTokenState,
  i: number,
  j: number,
  [decimalsI, decimalsJ]: readonly [number, number],
): ReturnType<ManyTokenProtocol['legState']> {
  const raw = stableSpotPrice(state, i, j, state.timestamp);
  const pool = raw === null ? null : toStablePool(state, state.timestamp);
  const d = pool === null ? null : getD(pool.xp, pool.curve);
  if (raw === null || pool === null || d === null)
    return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  const { curve, xp, scales, places } = pool;
  const [placeI = 0, placeJ = 0] = [places[i], places[j]];
  const perUnit = 1e18 / Math.sqrt(Number(scales[placeI])) / Math.sqrt(Number(scales[placeJ]));
  const liquidity = stableLiquidity(xp, curve, d, placeI, placeJ) * perUnit;
  return {
    price: scalePrice(raw, decimalsI, decimalsJ, true),
    liquidity: liquidity / 10 ** ((decimalsI + decimalsJ) / 2),
    reserve0: wholeTokens(state.balances[i] ?? 0n, decimalsI),
    reserve1: wholeTokens(state.balances[j] ?? 0n, decimalsJ),
  };
}

/** Raw token j that the contract pays out for `amountIn` of token i, to the last unit (BasePool.sol, onSwap). */
export function quoteStablePool(
  state: ManyTokenState,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): bigint | null {
  return stableSpotPrice(state, i, j, timestamp) === null
    ? null
    : amountOut(state, i, j, amountIn, timestamp);
}

function amountOut(
  state: ManyTokenState,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): bigint | null {
  const pool = toStablePool(state, timestamp);
  const [placeI = -1, placeJ = -1] = [pool?.places[i], pool?.places[j]];
  if (pool === null || placeI < 0 || placeJ < 0 || i === j || amountIn <= 0n) return null;
  const { curve, xp, scales } = pool;
  const d = getD(xp, curve);
  const [scaleI = 0n, scaleJ = 0n, before = 0n] = [scales[placeI], scales[placeJ], xp[placeJ]];
  if (d === null || d === 0n) return null;
  // The contract rounds the fee up.
  const fee = (amountIn * state.swapFee + ONE - 1n) / ONE;
  const paid = ((amountIn - fee) * scaleI) / ONE;
  const after = xp.map((x, place) => (place === placeI ? x + paid : x));
  const left = solveLeft(after, placeJ, curve, d);
  const out = left === null ? -1n : before - left - 1n;
  return out < 0n ? null : (out * ONE) / scaleJ;
}

const up = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** The balance `j` with which the pool keeps D, rounded as StableMath.sol does. Null if it does not converge. */
function solveLeft(
  xp: readonly bigint[],
  j: number,
  { amp, ampUnit }: StableCurve,
  d: bigint,
): bigint | null {
  const n = BigInt(xp.length);
  const ann = amp * n;
  const [first = 0n, ...others] = xp;
  const own = xp[j] ?? 0n;
  const product = others.reduce((part, x) => (part * x * n) / d, first * n);
  if (product === 0n) return null;
  const c = up(d * d, ann * product) * ampUnit * own;
  const b = xp.reduce((sum, x) => sum + x, 0n) - own + (d / ann) * ampUnit;
  let y = up(d * d + c, d + b);
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const divisor = 2n * y + b - d;
    if (divisor <= 0n) return null;
    const next = up(y * y + c, divisor);
    if (next - y <= 1n && y - next <= 1n) return next;
    y = next;
  }
  return null;
}

/** Whether the formula explains the swap within 1 % of its amount. True if the state does not tell. */
export function fitsStable(state: ManyTokenState, swap: VaultSwap, timestamp: number): boolean {
  const [i, j] = [state.tokens.indexOf(swap.tokenIn), state.tokens.indexOf(swap.tokenOut)];
  const expected = state.swapFee > 0n ? amountOut(state, i, j, swap.amountIn, timestamp) : null;
  if (expected === null) return true;
  const error = expected > swap.amountOut ? expected - swap.amountOut : swap.amountOut - expected;
  // Rounding may cost some raw units of either token. `unitWorth` is one of token i in raw units of token j.
  const unitWorth = Math.ceil(stableSpotPrice({ ...state, doubts: 0 }, i, j, timestamp) ?? 0);
  const slack = ROUNDING_UNITS * (1n + BigInt(unitWorth));
  return error <= slack + expected / TOLERANCE_PARTS;
}

/** The state with another ramp, if it is that of a stable pool. */
export function withRamp(state: ManyTokenState, ramp: Ramp): ManyTokenState {
  if (!isStable(state) || ramp.every((value, index) => value === state.params[index])) return state;
  return { ...state, params: [...ramp, ...state.params.slice(RAMP_LENGTH)] };
}

/** The calls whose answers `withScales` reads. */
export function scaleCalls(pool: Hex): readonly ContractCall[] {
  return ['getScalingFactors()', 'getRateProviders()'].map((name) => ({ to: pool, data: callData(name) }));
}

/**
 * The state of a stable pool with its scaling factors, which never change without rate providers. A pool with a rate
 * provider gets no params, and so no price: its rates change without its swaps. The first stable pools have no function
 * for rate providers.
 */
export function withScales(
  state: ManyTokenState,
  [scalesAnswer = null, providersAnswer = null]: readonly (Hex | null)[],
): ManyTokenState {
  const scales = (scalesAnswer === null ? null : readArrays(scalesAnswer, 1))?.[0] ?? [];
  const providers = providersAnswer === null ? [] : (readArrays(providersAnswer, 1)?.[0] ?? [1n]);
  const own = state.tokens.indexOf(poolOfId(state.poolId));
  const areScales =
    scales.length === state.tokens.length &&
    scales.filter((_scale, index) => index !== own).length >= 2 &&
    scales.every((scale) => scale >= ONE && scale <= SCALE_MAX);
  if (!areScales || providers.some((provider) => provider !== 0n)) return { ...state, params: [] };
  const ramp = state.params.length === RAMP_LENGTH ? state.params : UNKNOWN_RAMP;
  const factors = scales.map((scale, index) => (index === own ? 0n : scale));
  return { ...state, params: [...ramp, ...factors] };
}

export function ampCall(pool: Hex): ContractCall {
  return { to: pool, data: callData('getAmplificationParameter()') };
}

/**
 * The state with the answer to `ampCall`, if its amplification is unknown. An amplification that moves stays unknown,
 * because the answer does not tell how.
 */
export function withAmp(state: ManyTokenState, answer: Hex | null): ManyTokenState {
  const [amp = 0n, isUpdating = 1n, unit = 0n] = (answer === null ? null : readWords(answer, 3)) ?? [];
  if (!lacksAmp(state) || isUpdating !== 0n || unit !== AMP_UNIT) return state;
  return withRamp(state, [amp, amp, 0n, 0n]);
}

/** Whether the pool is stable and its amplification unknown. */
export function lacksAmp(state: Pick<ManyTokenState, 'params'>): boolean {
  return isStable(state) && state.params[1] === 0n;
}
