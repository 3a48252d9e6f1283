/**
 * The params of a StableSwap pool's state: the kind of contract, LP token, whether the trade is stopped, ramp of A (4), fee,
 * owner's part, fee factor, LP tokens, then one rate per token. A ramp of zeros means that all but the facts is unknown.
 * The pool then has no price until the node was asked again. A pool with moving rates or balances has three more params:
 * whether the node is asked for the rates, the base pool, and whether the node is asked for the balances. A pool of lending
 * tokens has one more param per token, the factor of its rate.
 */
import type { Hex } from '../../domain/hex';
import type { ManyTokenState } from '../manyTokenProtocol';
import { toSwapFee, wordToAddress } from './curveFamily';
import { CURVE_KINDS, type CurvePool } from './curvePool';

/** Number of params before the rates. The four last of them are fee, owner's part, fee factor and LP tokens. */
const FIRST_RATE = 11;
const NO_RAMP: CurvePool['ramp'] = { fromAmp: 0n, toAmp: 0n, fromTime: 0n, toTime: 0n };

/** What never changes, and the first rates. */
export type CurveFacts = Pick<
  CurvePool,
  'kind' | 'rates' | 'asksRates' | 'base' | 'asksBalances' | 'lentUnits'
> & { readonly share: Hex };

/** The state of a pool of which only the facts are known. */
export function withCurveFacts(state: ManyTokenState, facts: CurveFacts): ManyTokenState {
  const balances = state.tokens.map((_token, index) => state.balances[index] ?? 0n);
  const unknown = { isKilled: false, ramp: NO_RAMP, fee: 0n, adminFee: 0n, offpeg: 0n, supply: 0n };
  return withCurvePool({ ...state, balances }, { ...unknown, ...facts, balances }, facts.share);
}

/** The state with these values of its pool. */
export function withCurvePool(
  state: ManyTokenState,
  pool: CurvePool,
  share = shareOf(state),
): ManyTokenState {
  const { kind, isKilled, ramp, fee, adminFee, offpeg, supply, rates, asksRates, base, balances } = pool;
  const { asksBalances, lentUnits } = pool;
  const { fromAmp, toAmp, fromTime, toTime } = ramp;
  const head = [BigInt(CURVE_KINDS.indexOf(kind)), BigInt(share), BigInt(isKilled)];
  const isMoving = asksRates || base !== null || asksBalances;
  const moving = isMoving ? [BigInt(asksRates), BigInt(base ?? 0), BigInt(asksBalances), ...lentUnits] : [];
  const params = [
    ...head,
    fromAmp,
    toAmp,
    fromTime,
    toTime,
    fee,
    adminFee,
    offpeg,
    supply,
    ...rates,
    ...moving,
  ];
  return { ...state, balances, params, swapFee: toSwapFee(fee) };
}

/** The state without the values that an event did not explain. Its balances are only near the true ones. */
export function withUnknownBooks(state: ManyTokenState, pool: CurvePool): ManyTokenState {
  return withCurvePool(state, { ...pool, ramp: NO_RAMP });
}

/** The pool of a state. Null if the facts are unknown. */
export function toCurvePool({
  params,
  balances,
}: Pick<ManyTokenState, 'params' | 'balances'>): CurvePool | null {
  const [kind = -1n, , killed = 0n, fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n] = params;
  const [fee = 0n, adminFee = 0n, offpeg = 0n, supply = 0n] = params.slice(FIRST_RATE - 4);
  const end = FIRST_RATE + balances.length;
  const rates = params.slice(FIRST_RATE, end);
  const [asked = 0n, baseWord = 0n, askedBalances = 0n, ...lentUnits] = params.slice(end);
  const name = CURVE_KINDS[Number(kind)];
  if (name === undefined || rates.length < 2 || rates.length !== balances.length) return null;
  if (rates.some((rate) => rate === 0n)) return null;
  const ramp = { fromAmp, toAmp, fromTime, toTime };
  const base = baseWord === 0n ? null : wordToAddress(baseWord);
  const moving = { asksRates: asked > 0n, base, asksBalances: askedBalances > 0n, lentUnits };
  const fees = { fee, adminFee, offpeg };
  return { kind: name, isKilled: killed > 0n, ramp, ...fees, supply, rates, ...moving, balances };
}

/** The contract of the LP tokens. */
export function shareOf({ params }: Pick<ManyTokenState, 'params'>): Hex {
  return wordToAddress(params[1] ?? 0n);
}

/** Whether the node must be asked for what changes. */
export function lacksCurveBooks(state: Pick<ManyTokenState, 'params' | 'balances'>): boolean {
  // A pool with known values has an A above 0; NO_RAMP stands for unknown values.
  return (toCurvePool(state)?.ramp.toAmp ?? 0n) === 0n;
}
