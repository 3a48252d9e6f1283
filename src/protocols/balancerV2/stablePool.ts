/**
 * Stable pools of Balancer V2 and V3: the ramp of the amplification, the rates of tokens, marginal prices, and what a swap
 * pays out. Formulas: StableMath.sol and StablePoolAmplification.sol (balancer/balancer-v2-monorepo), StableMath.sol
 * (balancer/balancer-v3-monorepo). The amplification of Balancer is A · n^(n−1), so the invariant is that of StableSwap.
 *
 * The params of a state are the ramp (first and last value, first and last time), the scaling factor of each token, and in
 * a pool with rate providers the rate of each token, where 1e18 means 1 and 0 is unknown. The pool's own share, which
 * composable pools hold, has the factor 0, because it does not take part in trades.
 */
import { wholeTokens } from '../../domain/amounts';
import { callData, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
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
/** Largest amplification of Balancer V3 (StableMath.sol, MAX_AMP). Balancer V2 allows 5,000. */
const AMP_MAX = 50_000n * AMP_UNIT;
const RAMP_LENGTH = 4;
/** Factor of a token with 0 decimals. */
const SCALE_MAX = ONE * ONE;
const DECIMALS_MAX = 18n;
const UNKNOWN_RAMP: Ramp = [0n, 0n, 0n, 0n];
const STEPS_MAX = 255;
/**
 * A swap may differ from the formula by 1 / TOLERANCE_PARTS of its amount. In a pool with rates, it may differ by one pip,
 * which is the rounding of the stored fee. So a missed change of a rate shows.
 */
const TOLERANCE_PARTS = 100n;
const EXACT_PARTS = 1_000_000n;
/** Largest error by rounding, raw units. */
const ROUNDING_UNITS = 4n;

/** First and last amplification, first and last time. */
type Ramp = readonly [fromAmp: bigint, toAmp: bigint, fromTime: bigint, toTime: bigint];
type Terms = Pick<ManyTokenState, 'params' | 'balances'>;
type TokenSwap = Pick<VaultSwap, 'tokenIn' | 'tokenOut' | 'amountIn' | 'amountOut'>;
/** Balancer V2 takes the fee from raw units, Balancer V3 from units of 18 decimals. They round the curve differently. */
type Version = 'v2' | 'v3';

/** A stable pool at one time, without its own share. */
interface StablePool {
  readonly curve: StableCurve;
  /** Balances with 18 decimals. */
  readonly xp: readonly bigint[];
  readonly scales: readonly bigint[];
  /** Place of the pool's tokens in these lists; -1 for its own share. */
  readonly places: readonly number[];
}

/** Whether the pool is stable and its scaling factors are known. */
export function isStable({ params }: Pick<ManyTokenState, 'params'>): boolean {
  return params.length > RAMP_LENGTH;
}

function toStablePool({ params, balances }: Terms, timestamp: number): StablePool | null {
  const [fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n] = params;
  const factors = factorsOf(params, balances.length);
  if (factors === null) return null;
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

/**
 * The factors that convert raw balances into units of the curve. Null if one is unknown. `isPaid`: for what Balancer V3 pays
 * out, for which it adds 1 to each rate that is no whole number (ScalingHelpers.sol, computeRateRoundUp).
 */
function factorsOf(params: readonly bigint[], count: number, isPaid = false): readonly bigint[] | null {
  const scales = params.slice(RAMP_LENGTH, RAMP_LENGTH + count);
  const rates = params.slice(RAMP_LENGTH + count);
  if (scales.length < count || count === 0 || rates.includes(0n)) return null;
  if (rates.length === 0) return scales;
  // As the contract does (mulDown).
  const counted = isPaid ? rates.map((rate) => (rate % ONE === 0n ? rate : rate + 1n)) : rates;
  return rates.length === count ? scales.map((scale, index) => (scale * (counted[index] ?? 0n)) / ONE) : null;
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

/**
 * Raw token j that the contract pays out for `amountIn` of token i, to the last unit (BasePool.sol, onSwap; Vault.sol,
 * _swap).
 */
export function quoteStablePool(
  state: ManyTokenState,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
  version: Version = 'v2',
): bigint | null {
  return stableSpotPrice(state, i, j, timestamp) === null
    ? null
    : amountOut(state, i, j, amountIn, timestamp, version);
}

function amountOut(
  state: ManyTokenState,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
  version: Version,
): bigint | null {
  const pool = toStablePool(state, timestamp);
  const [placeI = -1, placeJ = -1] = [pool?.places[i], pool?.places[j]];
  if (pool === null || placeI < 0 || placeJ < 0 || i === j || amountIn <= 0n) return null;
  const { curve, xp, scales } = pool;
  const d = getD(xp, curve);
  const [scaleI = 0n, before = 0n] = [scales[placeI], xp[placeJ]];
  if (d === null || d === 0n) return null;
  const withoutFee = (amount: bigint): bigint => amount - up(amount * state.swapFee, ONE);
  const paid =
    version === 'v3' ? withoutFee((amountIn * scaleI) / ONE) : (withoutFee(amountIn) * scaleI) / ONE;
  const after = xp.map((x, place) => (place === placeI ? x + paid : x));
  const left = solveLeft(after, placeJ, curve, d, version);
  const out = left === null ? -1n : before - left - 1n;
  const scaleOut = factorsOf(state.params, state.balances.length, version === 'v3')?.[j];
  return out < 0n || scaleOut === undefined ? null : (out * ONE) / scaleOut;
}

/** Raw token i that Balancer V3 takes for an exact `paidOut` of token j. */
function amountInFor(
  state: ManyTokenState,
  i: number,
  j: number,
  paidOut: bigint,
  timestamp: number,
): bigint | null {
  const pool = toStablePool(state, timestamp);
  const [xi, xj, scaleIn] = [pool?.xp[i], pool?.xp[j], pool?.scales[i]];
  const scaleOut = factorsOf(state.params, state.tokens.length, true)?.[j];
  if (pool === null || xi === undefined || xj === undefined || i === j) return null;
  if (scaleIn === undefined || scaleOut === undefined || state.swapFee >= ONE) return null;
  const d = getD(pool.xp, pool.curve);
  const given = up(paidOut * scaleOut, ONE);
  if (d === null || d === 0n || given >= xj) return null;
  const left = solveLeft(pool.xp.with(j, xj - given), i, pool.curve, d, 'v3');
  const paid = left === null ? 0n : left - xi + 1n;
  return paid <= 0n ? null : up((paid + up(paid * state.swapFee, ONE - state.swapFee)) * ONE, scaleIn);
}

/** Whether a pool of Balancer V3 swaps these amounts to the last unit: one of them was given, the other follows. */
export function explainsStable(
  state: ManyTokenState,
  { tokenIn, tokenOut, amountIn, amountOut: paidOut }: TokenSwap,
  timestamp: number,
): boolean {
  const [i, j] = [state.tokens.indexOf(tokenIn), state.tokens.indexOf(tokenOut)];
  return (
    amountOut(state, i, j, amountIn, timestamp, 'v3') === paidOut ||
    amountInFor(state, i, j, paidOut, timestamp) === amountIn
  );
}

const up = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;

/** The balance `j` with which the pool keeps D, rounded as StableMath.sol does. Null if it does not converge. */
function solveLeft(
  xp: readonly bigint[],
  j: number,
  { amp, ampUnit }: StableCurve,
  d: bigint,
  version: Version,
): bigint | null {
  const n = BigInt(xp.length);
  const ann = amp * n;
  const [first = 0n, ...others] = xp;
  const own = xp[j] ?? 0n;
  const product = others.reduce((part, x) => (part * x * n) / d, first * n);
  if (product === 0n) return null;
  const [inside, outside] = version === 'v3' ? [ampUnit, 1n] : [1n, ampUnit];
  const c = up(d * d * inside, ann * product) * outside * own;
  const b = xp.reduce((sum, x) => sum + x, 0n) - own + ((d * inside) / ann) * outside;
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

/**
 * Whether the formula explains the swap within 1 % of its amount, or within a pip with rates and in Balancer V3. True if
 * the state does not tell.
 */
export function fitsStable(
  state: ManyTokenState,
  swap: TokenSwap,
  timestamp: number,
  version: Version = 'v2',
): boolean {
  const [i, j] = [state.tokens.indexOf(swap.tokenIn), state.tokens.indexOf(swap.tokenOut)];
  const isKnown = state.swapFee > 0n || version === 'v3';
  const expected = isKnown ? amountOut(state, i, j, swap.amountIn, timestamp, version) : null;
  if (expected === null) return true;
  const error = expected > swap.amountOut ? expected - swap.amountOut : swap.amountOut - expected;
  // Rounding may cost some raw units of either token. `unitWorth` is one of token i in raw units of token j.
  const unitWorth = Math.ceil(stableSpotPrice({ ...state, doubts: 0 }, i, j, timestamp) ?? 0);
  const slack = ROUNDING_UNITS * (1n + BigInt(unitWorth));
  const parts = version === 'v3' || hasRates(state) ? EXACT_PARTS : TOLERANCE_PARTS;
  return error <= slack + expected / parts;
}

function hasRates({ params, tokens }: Pick<ManyTokenState, 'params' | 'tokens'>): boolean {
  return params.length > RAMP_LENGTH + tokens.length;
}

/** The state with another ramp, if it is that of a stable pool. */
export function withRamp(state: ManyTokenState, ramp: Ramp): ManyTokenState {
  if (!isStable(state) || ramp.every((value, index) => value === state.params[index])) return state;
  return { ...state, params: [...ramp, ...state.params.slice(RAMP_LENGTH)] };
}

/** The state with another rate of a token, if the pool has rates. */
export function withRate(state: ManyTokenState, index: number, rate: bigint): ManyTokenState {
  const at = RAMP_LENGTH + state.tokens.length + index;
  const old = index < state.tokens.length ? state.params[at] : undefined;
  return old === undefined || old === rate ? state : { ...state, params: state.params.with(at, rate) };
}

/** The calls whose answers `withScales` reads. */
export function scaleCalls(pool: Hex, tokens: readonly Hex[]): readonly ContractCall[] {
  const ofPool = ['getScalingFactors()', 'getRateProviders()'].map((name) => ({
    to: pool,
    data: callData(name),
  }));
  return [...ofPool, ...tokens.map((to) => ({ to, data: callData('decimals()') }))];
}

/**
 * The state of a stable pool with its scaling factors. With rate providers, getScalingFactors() contains the rates, so the
 * factor of a token with a provider follows from its decimals, and its rate is unknown until an event or `withTerms`. The
 * first stable pools have no function for rate providers.
 */
export function withScales(
  state: ManyTokenState,
  [scalesAnswer = null, providersAnswer = null, ...decimals]: readonly (Hex | null)[],
): ManyTokenState {
  const answered = (scalesAnswer === null ? null : readArrays(scalesAnswer, 1))?.[0] ?? [];
  const count = state.tokens.length;
  const listed = providersAnswer === null ? [] : (readArrays(providersAnswer, 1)?.[0] ?? [1n]);
  const isRated = listed.some((provider) => provider !== 0n);
  const scales = answered.map((scale, index) =>
    (listed[index] ?? 0n) === 0n ? scale : scaleOf(readNumber(decimals[index])),
  );
  const own = state.tokens.indexOf(poolOfId(state.poolId));
  const areScales =
    scales.length === count &&
    scales.filter((_scale, index) => index !== own).length >= 2 &&
    scales.every((scale) => scale >= ONE && scale <= SCALE_MAX);
  if (!areScales || (isRated && listed.length !== count)) return { ...state, params: [] };
  const ramp = state.params.length === RAMP_LENGTH ? state.params : UNKNOWN_RAMP;
  const factors = scales.map((scale, index) => (index === own ? 0n : scale));
  const rates = isRated ? listed.map((provider) => (provider === 0n ? ONE : 0n)) : [];
  return { ...state, params: [...ramp, ...factors, ...rates] };
}

/** The scaling factor of a token with a rate of 1; 0 for decimals that the contracts refuse. */
function scaleOf(decimals: bigint | null): bigint {
  return decimals === null || decimals > DECIMALS_MAX ? 0n : ONE * 10n ** (DECIMALS_MAX - decimals);
}

/** The calls whose answers `withTerms` reads. None if amplification and rates are known. */
export function termCalls(state: ManyTokenState): readonly ContractCall[] {
  if (!lacksTerms(state)) return [];
  const to = poolOfId(state.poolId);
  // Composable pools have the first function, the older MetaStablePool the second one.
  const names = hasRates(state) ? ['getTokenRateCache(address)', 'getPriceRateCache(address)'] : [];
  const rates = state.tokens.flatMap((token) => names.map((name) => ({ to, data: callData(name, token) })));
  return [ampCall(to), ...rates];
}

/** The state with the answers to `termCalls` for what is unknown. */
export function withTerms(state: ManyTokenState, answers: readonly (Hex | null)[]): ManyTokenState {
  const [amp = null, ...rates] = answers;
  return state.tokens.reduce(
    (known, _token, index) => {
      const rate = readUint(rates[2 * index]) ?? readUint(rates[2 * index + 1]) ?? 0n;
      return rateAt(known, index) === 0n ? withRate(known, index, rate) : known;
    },
    withAmp(state, amp),
  );
}

function rateAt({ params, tokens }: ManyTokenState, index: number): bigint {
  return params[RAMP_LENGTH + tokens.length + index] ?? ONE;
}

/** The params with what is unknown from another state of the same pool. */
export function fillTerms(state: ManyTokenState, other: ManyTokenState): readonly bigint[] {
  if (!lacksTerms(state) || other.params.length !== state.params.length) return state.params;
  const isUnknown = (value: bigint, index: number): boolean =>
    index < RAMP_LENGTH ? lacksAmp(state) : value === 0n;
  return state.params.map((value, index) =>
    isUnknown(value, index) ? (other.params[index] ?? value) : value,
  );
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

/** Whether the pool is stable, and its amplification or a rate unknown. */
export function lacksTerms(state: ManyTokenState): boolean {
  return (
    lacksAmp(state) || (isStable(state) && state.params.slice(RAMP_LENGTH + state.tokens.length).includes(0n))
  );
}
