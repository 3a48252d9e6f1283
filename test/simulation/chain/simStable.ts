/** Stable pools of the simulated vault whose price can be computed, because the rates of their tokens are constant. */
import type { Hex } from '../../../src/domain/hex';
import { contractD, contractY } from '../../support/oracle/stableSwap';
import { arrayData, dataOf, type Draft } from '../../support/plainLogs';
import { simDecimals } from './simTokens';

const AMP_STOPPED: Hex = '0xa0d01593e47e69d07e0ccd87bece09411e07dd1ed40ca8f2e7af2976542a0233';
const ONE = 10n ** 18n;
/** The unit of the amplification, and the largest amplification in whole units. */
export const AMP_UNIT = 1_000n;
const AMP_MAX = 5_000n;

/** What never changes in a pool of the vault. Only those of the nature `stable` have scaling factors. */
interface StablePool {
  readonly address: Hex;
  readonly nature: string;
  readonly tokens: readonly Hex[];
}

interface StableBooks extends StablePool {
  readonly balances: readonly bigint[];
  readonly fee: bigint;
  readonly amp: bigint;
}

/** The hex digit at this place, counted from the end of the address. It decides without another random value. */
const digitOf = (address: Hex, place: number): number => Number(`0x${address.at(-place)}`);

/** Three in four stable pools tell scaling factors. */
function scalesOf({ address, nature, tokens }: StablePool): readonly bigint[] | null {
  if (nature !== 'stable' || digitOf(address, 4) % 4 === 0) return null;
  return tokens.map((token) => (token === address ? ONE : 10n ** BigInt(36 - simDecimals(token))));
}

/** Whether the rate of a token changes. The price of the pool is then unknown. */
const hasRates = (address: Hex): boolean => digitOf(address, 5) === 0;

/** Whether the terms of the pool are known, but for the rates of its tokens. */
export function isScaled(pool: StablePool): boolean {
  // The contract accepts tokens of at most 18 decimals.
  return scalesOf(pool)?.every((scale) => scale >= ONE) === true;
}

/** The factors by which the pool scales its tokens; 0 for its own share. Null if it has no price. */
export function followedScales(pool: StablePool): readonly bigint[] | null {
  const scales = isScaled(pool) && !hasRates(pool.address) ? scalesOf(pool) : null;
  return scales?.map((scale, index) => (pool.tokens[index] === pool.address ? 0n : scale)) ?? null;
}

export function answerScales(pool: StablePool): Hex | null {
  const scales = scalesOf(pool);
  return scales === null ? null : arrayData([scales]);
}

/** The first stable pools have no such function. */
export function answerProviders({ address, nature, tokens }: StablePool): Hex | null {
  if (nature !== 'stable' || digitOf(address, 5) > 8) return null;
  return arrayData([tokens.map((token) => (hasRates(address) && token !== address ? token : 0n))]);
}

/** Whether the constructor logs the amplification. Otherwise only a call tells it. */
export function logsFirstAmp({ address, nature }: StablePool): boolean {
  return nature === 'stable' && digitOf(address, 6) > 3;
}

export function ampChange(address: Hex, amp: bigint): Draft {
  return { address, topics: [AMP_STOPPED], data: dataOf(amp) };
}

/** An amplification that follows from a random number. */
export const ampFrom = (number: bigint): bigint => AMP_UNIT * (1n + (number % AMP_MAX));

/** An amount of a token that no balance of a stable pool makes too unequal: from 0.001 to about 10^6 whole tokens. */
export function usualAmount(token: Hex, number: bigint): bigint {
  const size = number < 0n ? -number : number;
  const amount = ((1n + (size % 2n ** 30n)) * 10n ** BigInt(simDecimals(token))) / 1_000n;
  return amount === 0n ? 1n : amount;
}

/** What the pool pays out for token `i` in token `j`. */
export function stableOut(pool: StableBooks, i: number, j: number, amountIn: bigint): bigint {
  const scales = followedScales(pool)!;
  const traded = pool.tokens.flatMap((_, index) => (scales[index] === 0n ? [] : [index]));
  const xs = traded.map((index) => (pool.balances[index]! * scales[index]!) / ONE);
  const [placeIn, placeOut] = [traded.indexOf(i), traded.indexOf(j)];
  const terms = { ann: pool.amp * BigInt(xs.length), unit: AMP_UNIT, dividesEach: true };
  const paid = ((amountIn - (amountIn * pool.fee) / ONE) * scales[i]!) / ONE;
  const others = xs
    .map((x, place) => (place === placeIn ? x + paid : x))
    .filter((_, place) => place !== placeOut);
  const out = xs[placeOut]! - contractY(others, terms, contractD(xs, terms)) - 1n;
  return out <= 0n ? 0n : (out * ONE) / scales[j]!;
}
