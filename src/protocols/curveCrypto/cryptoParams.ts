/**
 * The params of a CryptoSwap pool's state: formula of the fee, ramp of A and γ (6), fees (3), LP tokens, D, then one
 * precision per token, and one price for each token after the first. A ramp of zeros means that all but the precisions is
 * unknown. The pool then has no price until the node was asked again. Prices of zero mean that only they are unknown. Contracts from before NG have further params: the
 * contract of the LP tokens, then LP tokens, D, prices and balances at the end of the block by the node.
 */
import type { Hex } from '../../domain/hex';
import { toSwapFee, wordToAddress } from '../curve/curveFamily';
import type { ManyTokenState } from '../manyTokenProtocol';
import type { CryptoPool } from './cryptoPool';

/** Number of params before the precisions. */
const FIRST_PRECISION = 12;
const NO_CURVE = { amp: 0n, gamma: 0n };
const NO_RAMP: CryptoPool['ramp'] = { from: NO_CURVE, to: NO_CURVE, fromTime: 0n, toTime: 0n };

/**
 * The state of a pool of which only the precisions are known. `share`: the contract of the LP tokens, only of contracts from
 * before NG.
 */
export function withCryptoFacts(
  state: ManyTokenState,
  precisions: readonly bigint[],
  share: Hex | null,
): ManyTokenState {
  const balances = precisions.map((_each, index) => state.balances[index] ?? 0n);
  const fees = { hasNewFee: false, midFee: 0n, outFee: 0n, feeGamma: 0n };
  const priceScale = precisions.slice(1).map(() => 0n);
  return withCryptoPool(state, {
    ...fees,
    ramp: NO_RAMP,
    supply: 0n,
    d: 0n,
    precisions,
    priceScale,
    balances,
    legacy: share === null ? null : { share, end: { supply: 0n, d: 0n, priceScale, balances } },
  });
}

/** The state with these values of its pool. */
export function withCryptoPool(state: ManyTokenState, pool: CryptoPool): ManyTokenState {
  const { hasNewFee, ramp, midFee, outFee, feeGamma, supply, d, precisions, priceScale, balances, legacy } =
    pool;
  const { from, to, fromTime, toTime } = ramp;
  const curve = [from.amp, from.gamma, to.amp, to.gamma, fromTime, toTime];
  const head = [BigInt(hasNewFee), ...curve, midFee, outFee, feeGamma, supply, d];
  const end = legacy?.end;
  const tail =
    end === undefined
      ? []
      : [BigInt(legacy?.share ?? 0), end.supply, end.d, ...end.priceScale, ...end.balances];
  return {
    ...state,
    balances,
    params: [...head, ...precisions, ...priceScale, ...tail],
    swapFee: toSwapFee(midFee),
  };
}

/** The state without the values that an event did not explain. Its balances are only near the true ones. */
export function withUnknownCurve(state: ManyTokenState, pool: CryptoPool): ManyTokenState {
  return withCryptoPool(state, { ...pool, ramp: NO_RAMP });
}

/** The pool of a state. Null if the precisions are unknown. */
export function toCryptoPool({
  params,
  balances,
}: Pick<ManyTokenState, 'params' | 'balances'>): CryptoPool | null {
  const count = balances.length;
  const size = FIRST_PRECISION + 2 * count - 1;
  const legacy = readLegacy(params.slice(size), count);
  if (count < 2 || (params.length !== size && legacy === null)) return null;
  const [isNew = 0n, fromAmp = 0n, fromGamma = 0n, toAmp = 0n, toGamma = 0n, fromTime = 0n, toTime = 0n] =
    params;
  const [midFee = 0n, outFee = 0n, feeGamma = 0n, supply = 0n, d = 0n] = params.slice(FIRST_PRECISION - 5);
  const precisions = params.slice(FIRST_PRECISION, FIRST_PRECISION + count);
  const priceScale = params.slice(FIRST_PRECISION + count, size);
  const [from, to] = [
    { amp: fromAmp, gamma: fromGamma },
    { amp: toAmp, gamma: toGamma },
  ];
  const ramp = { from, to, fromTime, toTime };
  const hasNewFee = isNew > 0n;
  return { hasNewFee, ramp, midFee, outFee, feeGamma, supply, d, precisions, priceScale, balances, legacy };
}

/** Null if the number of params is another one. */
function readLegacy(params: readonly bigint[], count: number): CryptoPool['legacy'] {
  const [share = 0n, supply = 0n, d = 0n, ...rest] = params;
  if (params.length !== 2 * count + 2) return null;
  const end = { supply, d, priceScale: rest.slice(0, count - 1), balances: rest.slice(count - 1) };
  return { share: wordToAddress(share), end };
}

/** The contract of the LP tokens. Null if it is the pool itself. */
export function cryptoShareOf({ params }: Pick<ManyTokenState, 'params'>): Hex | null {
  const count = [2, 3].find((tokens) => params.length === FIRST_PRECISION + 4 * tokens + 1);
  return count === undefined ? null : wordToAddress(params[FIRST_PRECISION + 2 * count - 1] ?? 0n);
}

/** Whether the node must be asked for what changes. It cannot help a pool whose contract uses another curve. */
export function lacksCryptoBooks(state: Pick<ManyTokenState, 'params' | 'balances' | 'doubts'>): boolean {
  const pool = toCryptoPool(state);
  return state.doubts === 0 && (pool === null || lacksCurve(pool) || lacksPriceScale(pool));
}

/** A pool with known values has an A above 0; NO_RAMP stands for unknown values. */
export function lacksCurve({ ramp }: CryptoPool): boolean {
  return ramp.to.amp === 0n;
}

export function lacksPriceScale({ priceScale }: CryptoPool): boolean {
  return priceScale.includes(0n);
}

export function withoutPriceScale(pool: CryptoPool): CryptoPool {
  return { ...pool, priceScale: pool.priceScale.map(() => 0n) };
}
