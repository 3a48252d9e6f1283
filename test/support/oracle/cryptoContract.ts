/**
 * What CryptoSwap-NG contracts do with their balances, in whole numbers: curvefi/tricrypto-ng, and curvefi/twocrypto-ng before
 * and since 2025. Roots are exact, so that they differ from those of the contracts by their rounding only. Simulated
 * contracts and oracles use it. Shares no code with the product.
 */
const ONE = 10n ** 18n;
const FEE_UNIT = 10n ** 10n;
const AMP_UNIT = 10_000n;
/** Bits of the fraction of a sum that does not fit the curve. */
const MISS_BITS = 64n;
const BISECTIONS = 80;
const STEPS_MAX = 40;
const LAST_STEPS_MAX = 64;

interface CryptoShape {
  /** A · nⁿ · 10,000. */
  readonly amp: bigint;
  /** 1e18 means 1. */
  readonly gamma: bigint;
}

export interface CryptoBooks {
  /** Three tokens, two tokens, or two tokens with the contract of 2025. */
  readonly kind: 'three' | 'two' | 'new';
  readonly ramp: {
    readonly from: CryptoShape;
    readonly to: CryptoShape;
    readonly begin: bigint;
    readonly end: bigint;
  };
  readonly midFee: bigint;
  readonly outFee: bigint;
  readonly feeGamma: bigint;
  readonly supply: bigint;
  /** D of the last trade. */
  readonly d: bigint;
  readonly precisions: readonly bigint[];
  readonly priceScale: readonly bigint[];
  readonly balances: readonly bigint[];
}

export function isRamping({ ramp }: CryptoBooks, timestamp: number): boolean {
  return BigInt(timestamp) < ramp.end;
}

export function shapeAt(books: CryptoBooks, timestamp: number): CryptoShape {
  const { from, to, begin, end } = books.ramp;
  if (!isRamping(books, timestamp)) return to;
  const [passed, left] = [BigInt(timestamp) - begin, end - BigInt(timestamp)];
  const between = (first: bigint, last: bigint): bigint => (first * left + last * passed) / (left + passed);
  return { amp: between(from.amp, to.amp), gamma: between(from.gamma, to.gamma) };
}

const unitOf = ({ precisions, priceScale }: CryptoBooks, k: number): bigint =>
  precisions[k]! * (k === 0 ? ONE : priceScale[k - 1]!);

/** Balances in the first token with 18 decimals, at the price scale. */
export const scaled = (books: CryptoBooks, balances = books.balances): bigint[] =>
  balances.map((balance, k) => (balance * unitOf(books, k)) / ONE);

const sumOf = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);

/**
 * Σx − D − D·h in units of 2^−64, with h = g²·(1/K − 1) / (γ²·A·nⁿ), g = γ + 1 − K and K = nⁿ·Πx / Dⁿ. It falls with D and
 * grows with each x, and 0 is on the curve.
 */
function missOf({ amp, gamma }: CryptoShape, xs: readonly bigint[], d: bigint): bigint {
  const n = BigInt(xs.length);
  const [top, bottom] = [xs.reduce((product, x) => product * x * n, 1n), d ** n];
  const g = (gamma + ONE) * bottom - ONE * top;
  const [over, under] = [AMP_UNIT * g * g * (bottom - top), gamma * gamma * amp * bottom * bottom * top];
  return ((sumOf(xs) - d) << MISS_BITS) - ((d * over) << MISS_BITS) / under;
}

function floatMiss({ amp, gamma }: CryptoShape, xs: readonly number[], d: number): number {
  const k = xs.reduce((product, x) => (product * x * xs.length) / d, 1);
  const g = Number(gamma) / 1e18 + 1 - k;
  const h = (g * g * (1 / k - 1) * 1e4) / ((Number(gamma) / 1e18) ** 2 * Number(amp));
  return xs.reduce((sum, x) => sum + x, 0) - d - d * h;
}

/** The place between two numbers up to which `isBelow` holds. */
function bisect(low: number, high: number, isBelow: (at: number) => boolean): number {
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The largest whole number that is not above the root of `miss`, from a number near it. `sign`: that of `miss` below it. */
function rootBelow(miss: (at: bigint) => bigint, near: number, sign: bigint): bigint {
  const below = (at: bigint): boolean => sign * miss(at) >= 0n;
  const first = BigInt(Math.floor(near));
  let [a, b] = [first, first + first / 1_000_000_000n + 1n];
  let [missA, missB] = [miss(a), miss(b)];
  for (let step = 0; step < STEPS_MAX && missA !== missB; step += 1) {
    const next = b - (missB * (b - a)) / (missB - missA);
    if (next === b || next <= 0n) break;
    [a, b, missA, missB] = [b, next, missB, miss(next)];
  }
  for (let step = 0; step < LAST_STEPS_MAX; step += 1) {
    if (!below(b)) b -= 1n;
    else if (below(b + 1n)) b += 1n;
    else return b;
  }
  throw new RangeError(`no root near ${near}`);
}

/** D of balances that are all above 0, or 0 for an empty pool. */
export function solveD(shape: CryptoShape, xs: readonly bigint[]): bigint {
  if (xs.every((x) => x === 0n)) return 0n;
  const floats = xs.map(Number);
  const lowest = floats.length * floats.reduce((product, x) => product * x, 1) ** (1 / floats.length);
  const near = bisect(lowest, Number(sumOf(xs)), (d) => floatMiss(shape, floats, d) >= 0);
  return rootBelow((d) => missOf(shape, xs, d), near, 1n);
}

/** The balance `j` that keeps D. Null if the contract refuses such unequal balances. */
function solveY(shape: CryptoShape, xs: readonly bigint[], j: number, d: bigint): bigint | null {
  const shareMin = xs.length === 2 ? 200n : 100n;
  const isSmall = (x: bigint): boolean => x * shareMin < d;
  if (d === 0n || xs.some((x, index) => index !== j && isSmall(x))) return null;
  const replaced = <T>(all: readonly T[], y: T): T[] => all.map((x, index) => (index === j ? y : x));
  const [floats, size] = [xs.map(Number), Number(d)];
  const highest = replaced(floats, size).reduce(
    (product, x, index) => (index === j ? product : (product * size) / (x * xs.length)),
    size / xs.length,
  );
  const near = bisect(0, highest, (y) => floatMiss(shape, replaced(floats, y), size) < 0);
  if (isSmall(BigInt(Math.ceil(near)) + 1n)) return null;
  const y = rootBelow((at) => missOf(shape, replaced(xs, at), d), near, -1n);
  return isSmall(y) ? null : y;
}

/** D with which the contract computes. */
export function dAt(books: CryptoBooks, timestamp: number): bigint {
  return isRamping(books, timestamp) ? solveD(shapeAt(books, timestamp), scaled(books)) : books.d;
}

/** The fee in units of 1e-10 at these x. */
export function feeAt({ kind, midFee, outFee, feeGamma }: CryptoBooks, xs: readonly bigint[]): bigint {
  const [n, sum] = [BigInt(xs.length), sumOf(xs)];
  const even = xs.reduce((part, x) => (part * n * x) / sum, ONE);
  const weight =
    kind === 'new'
      ? (feeGamma * even) / ((feeGamma * even) / ONE + ONE - even)
      : (feeGamma * ONE) / (feeGamma + ONE - even);
  return (midFee * weight + outFee * (ONE - weight)) / ONE;
}

/** exchange(): what goes out, and the fee that stays, both in raw token `j`. Null if it reverts. */
export function cryptoExchange(books: CryptoBooks, i: number, j: number, sold: bigint, timestamp: number) {
  const xs = scaled(
    books,
    books.balances.map((balance, index) => (index === i ? balance + sold : balance)),
  );
  const y = solveY(shapeAt(books, timestamp), xs, j, dAt(books, timestamp));
  if (y === null || xs[j]! - y - 1n <= 0n) return null;
  const gross = ((xs[j]! - y - 1n) * ONE) / unitOf(books, j);
  const rate = feeAt(
    books,
    xs.map((x, index) => (index === j ? y : x)),
  );
  const fee = (rate * gross) / FEE_UNIT;
  return { bought: gross - fee, fee };
}

/** remove_liquidity_one_coin() of the contracts before 2025: the amount out, D and x afterwards. Null if it reverts. */
export function cryptoRemoveOne(books: CryptoBooks, i: number, shares: bigint, timestamp: number) {
  const xs = scaled(books);
  const before = dAt(books, timestamp);
  const off = (xs[i]! * BigInt(xs.length) * shares) / books.supply;
  const rate =
    off < xs[i]!
      ? feeAt(
          books,
          xs.map((x, index) => (index === i ? x - off : x)),
        )
      : books.outFee;
  const change = (shares * before) / books.supply;
  const d = before - change + (rate * change) / (2n * FEE_UNIT) + 1n;
  const y = solveY(shapeAt(books, timestamp), xs, i, d);
  if (y === null || y > xs[i]!) return null;
  const amount = ((xs[i]! - y) * ONE) / unitOf(books, i);
  return { amount, d, xs: xs.map((x, index) => (index === i ? y : x)) };
}

/** The books at another price scale, with the D of these x: `known`, if the scale stays. */
export function atScale(
  books: CryptoBooks,
  priceScale: readonly bigint[],
  xs: readonly bigint[],
  known: bigint | null,
  timestamp: number,
): CryptoBooks {
  const isSame = priceScale.every((price, index) => price === books.priceScale[index]);
  const moved = xs.map((x, k) => (k === 0 ? x : (x * priceScale[k - 1]!) / books.priceScale[k - 1]!));
  const d = isSame && known !== null ? known : solveD(shapeAt(books, timestamp), moved);
  return { ...books, priceScale, d };
}

/**
 * The marginal price of token i in token j, both raw: the ratio of the derivatives of the published invariant
 * K·D^(n−1)·Σx + Πx = K·Dⁿ + (D/n)ⁿ, at the balance j that the curve of D has. Null if the contract makes no trade.
 */
export function cryptoPriceOf(
  books: CryptoBooks,
  i: number,
  j: number,
  timestamp: number,
): readonly [bigint, bigint] | null {
  const xs = scaled(books);
  if (xs.some((x) => x === 0n)) return null;
  const [{ amp, gamma }, d] = [shapeAt(books, timestamp), dAt(books, timestamp)];
  const y = solveY({ amp, gamma }, xs, j, d);
  if (y === null) return null;
  xs[j] = y;
  const n = BigInt(xs.length);
  const [top, bottom] = [xs.reduce((product, x) => product * x * n, 1n), d ** n];
  const g = (gamma + ONE) * bottom - ONE * top;
  const common = AMP_UNIT * d * g * (g + 2n * ONE * (bottom - top));
  const slopeAt = (k: number): bigint =>
    amp * gamma * gamma * bottom * bottom * (sumOf(xs) - d + xs[k]!) + common;
  return [slopeAt(i) * xs[j] * unitOf(books, i), slopeAt(j) * xs[i]! * unitOf(books, j)];
}
