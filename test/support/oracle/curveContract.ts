/**
 * What StableSwap contracts do with their balances, in whole numbers: Pancake's port (PancakeStableSwapThreePool.sol),
 * StableSwap-NG (CurveStableSwapNG.vy), the first contracts of Curve (StableSwap3Pool.vy, and before it those without a ramp of
 * A, StableSwapCompound.vy), and those of the factory of 2021, which round D in two ways (Plain3Basic.vy, and Plain2Basic.vy for
 * pools of two coins). Simulated contracts and oracles use it. Shares no code with the product.
 */
import type { Hex } from '../../../src/domain/hex';
import { contractD, findContractD, findContractY, type StableTerms } from './stableSwap';

const PRECISION = 10n ** 18n;
/** 100 % of a fee. */
export const FEE_UNIT = 10n ** 10n;

export interface CurveBooks {
  readonly kind: 'pancake' | 'ng' | 'registry' | 'fixed' | 'factory' | 'pair';
  /** The pool whose LP token is the second coin of a meta pool. The rate of this coin is the virtual price of that pool. */
  readonly base: Hex | null;
  readonly isKilled: boolean;
  /** First and last A in the unit of the contract, first and last time. */
  readonly ramp: readonly [fromAmp: bigint, toAmp: bigint, fromTime: bigint, toTime: bigint];
  readonly fee: bigint;
  readonly adminFee: bigint;
  /** StableSwap-NG: factor of the fee far from the balance. */
  readonly offpeg: bigint;
  readonly supply: bigint;
  readonly rates: readonly bigint[];
  /** If the first coin is a lending token whose rate grows: the factor from its rate to the one in `rates`. */
  readonly lentUnit?: bigint;
  /** Without the fees of the owner. */
  readonly balances: readonly bigint[];
}

/** Whether the contract counts A with two more digits. Such a contract also reverts where it finds no D. */
export function isPrecise(kind: CurveBooks['kind']): boolean {
  return kind !== 'pancake' && !isRegistered(kind);
}

/** Whether a registry lists the contract. */
export function isRegistered(kind: CurveBooks['kind']): boolean {
  return kind === 'registry' || kind === 'fixed';
}

export function ampAt({ ramp: [from, to, begin, end] }: CurveBooks, time: bigint): bigint {
  if (time >= end) return to;
  return (
    from + ((to > from ? 1n : -1n) * (to > from ? to - from : from - to) * (time - begin)) / (end - begin)
  );
}

export function termsAt(books: CurveBooks, timestamp: number): StableTerms {
  const ann = ampAt(books, BigInt(timestamp)) * BigInt(books.balances.length);
  const { kind } = books;
  const reverts = isPrecise(kind);
  const dividesEach = kind !== 'ng' && kind !== 'pair';
  const plus = kind === 'fixed' ? 1n : 0n;
  return { ann, unit: reverts ? 100n : 1n, dividesEach, plus, reverts, isChecked: true };
}

/** get_virtual_price(). Null if the contract finds no D. */
export function virtualPrice(books: CurveBooks, timestamp: number): bigint | null {
  const xp = toXp(books, books.balances);
  if (books.supply === 0n || xp.some((x) => x === 0n)) return null;
  const d = findContractD(xp, termsAt(books, timestamp));
  return d === null ? null : (d * PRECISION) / books.supply;
}

export const toXp = ({ rates }: CurveBooks, balances: readonly bigint[]): bigint[] =>
  balances.map((balance, index) => (balance * rates[index]!) / PRECISION);

/** The fee between two balances: the further they are apart, the larger. */
function dynamicFee({ offpeg }: CurveBooks, xi: bigint, xj: bigint, fee: bigint): bigint {
  if (offpeg <= FEE_UNIT) return fee;
  const both = xi + xj;
  return (offpeg * fee) / (((offpeg - FEE_UNIT) * 4n * xi * xj) / (both * both) + FEE_UNIT);
}

/**
 * exchange(): the amount out, what the balance of its token loses beside it, by how much the other balance grows, and the fee in
 * units of 1e-10. Null if it reverts after it has found D.
 */
export function exchange(books: CurveBooks, i: number, j: number, dx: bigint, timestamp: number) {
  const xp = toXp(books, books.balances);
  const terms = termsAt(books, timestamp);
  const x = xp[i]! + (dx * books.rates[i]!) / PRECISION;
  const others = xp.map((each, index) => (index === i ? x : each)).filter((_, index) => index !== j);
  const y = findContractY(others, terms, contractD(xp, terms));
  if (y === null) return null;
  const isFixed = books.kind === 'fixed';
  const dy = xp[j]! - y - (isFixed ? 0n : 1n);
  const fee = dynamicFee(books, (xp[i]! + x) / 2n, (xp[j]! + y) / 2n, books.fee);
  const taken = (dy * fee) / FEE_UNIT;
  const toRaw = (value: bigint, of = j): bigint => (value * PRECISION) / books.rates[of]!;
  const [out, owned] = [toRaw(dy - taken), (taken * books.adminFee) / FEE_UNIT];
  if (!isFixed) return { out, adminFee: toRaw(owned), counted: dx, fee };
  const adminFee = books.balances[j]! - out - toRaw(y + taken - owned);
  return { out, adminFee, counted: toRaw(x, i) - books.balances[i]!, fee };
}

/** remove_liquidity_one_coin(): the amount out, and the owner's part of the fee. Null if it reverts after it has found D. */
export function removeOne(books: CurveBooks, i: number, shares: bigint, timestamp: number) {
  const xp = toXp(books, books.balances);
  const terms = termsAt(books, timestamp);
  const n = BigInt(xp.length);
  const d0 = contractD(xp, terms);
  const d1 = d0 - (shares * d0) / books.supply;
  const yOf = (xs: readonly bigint[]): bigint | null =>
    findContractY(
      xs.filter((_, index) => index !== i),
      terms,
      d1,
    );
  const newY = yOf(xp);
  if (newY === null) return null;
  const baseFee = (books.fee * n) / (4n * (n - 1n));
  const mean = (d0 + d1) / (2n * n);
  const reduced = xp.map((x, index) => {
    const isOut = index === i;
    const moved = isOut ? (x * d1) / d0 - newY : x - (x * d1) / d0;
    return x - (dynamicFee(books, isOut ? (x + newY) / 2n : x, mean, baseFee) * moved) / FEE_UNIT;
  });
  const toRaw = (value: bigint): bigint => (value * PRECISION) / books.rates[i]!;
  const reducedY = yOf(reduced);
  if (reducedY === null) return null;
  const out = toRaw(reduced[i]! - reducedY - 1n);
  const withoutFee = toRaw(xp[i]! - newY);
  return { out, adminFee: ((withoutFee - out) * books.adminFee) / FEE_UNIT };
}

/** The balances after amounts went in (or, if negative, out), of whose fees the owner gets a part. */
export function moved(
  { balances, adminFee }: CurveBooks,
  amounts: readonly bigint[],
  fees: readonly bigint[],
): bigint[] {
  return balances.map(
    (balance, index) => balance + amounts[index]! - ((fees[index] ?? 0n) * adminFee) / FEE_UNIT,
  );
}
