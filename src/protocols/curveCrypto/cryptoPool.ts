/** A CryptoSwap pool: its curve, fees, swaps, withdrawals and marginal prices. Fees are in units of 1e-10. */
import type { Hex } from '../../domain/hex';
import type { CryptoCurve } from './cryptoFloat';
import { findBalance, findD, marginalRatio } from './cryptoMath';

/** A fee of this number means 100 %. */
export const CRYPTO_FEE_UNIT = 10n ** 10n;
const UNIT = 10n ** 18n;
/** NOISE_FEE of the contracts. */
const NOISE_FEE = 10n ** 5n;

export interface CryptoPool {
  /**
   * Whether the fee follows the formula of 2025 (commit d6102ef of curvefi/twocrypto-ng). The two formulas agree where the
   * fee does not depend on the balances.
   */
  readonly hasNewFee: boolean;
  /** Linear change of A and γ between two times in unix seconds. */
  readonly ramp: {
    readonly from: CryptoCurve;
    readonly to: CryptoCurve;
    readonly fromTime: bigint;
    readonly toTime: bigint;
  };
  /** Fee at equal values of the tokens, fee far from them, and how fast the fee changes between both. */
  readonly midFee: bigint;
  readonly outFee: bigint;
  readonly feeGamma: bigint;
  /** LP tokens. */
  readonly supply: bigint;
  /** D as the contract stores it. During a ramp, the contract computes D anew before each use. */
  readonly d: bigint;
  /** Factors from raw units to 18 decimals. */
  readonly precisions: readonly bigint[];
  /** Prices of the tokens after the first one, in the first one, around which the liquidity lies; 1e18 means 1. */
  readonly priceScale: readonly bigint[];
  /** Raw balances, as balances(i) of the contract. */
  readonly balances: readonly bigint[];
  /** Null for contracts of CryptoSwap-NG. */
  readonly legacy: LegacyPart | null;
}

/** What only contracts from before NG need: tricrypto2, and those of the factory of 2021. */
export interface LegacyPart {
  /** The contract of the LP tokens. */
  readonly share: Hex;
  /** The answers of the node about the end of the block. A D of 0 means that there was no answer. */
  readonly end: Pick<CryptoPool, 'supply' | 'd' | 'priceScale' | 'balances'>;
}

/** Whether A and γ change at this time, unix seconds. */
function isRamping({ ramp }: CryptoPool, timestamp: number): boolean {
  return BigInt(timestamp) < ramp.toTime;
}

/** The curve at a time, unix seconds. */
export function cryptoCurveAt(pool: CryptoPool, timestamp: number): CryptoCurve {
  const { from, to, fromTime, toTime } = pool.ramp;
  const span = toTime - fromTime;
  if (!isRamping(pool, timestamp) || span <= 0n) return to;
  const left = toTime - BigInt(timestamp);
  const mix = (start: bigint, end: bigint): bigint => (start * left + end * (span - left)) / span;
  return { amp: mix(from.amp, to.amp), gamma: mix(from.gamma, to.gamma) };
}

/** Factor from raw token k to x, where 1e18 means 1. */
function scaleOf({ precisions, priceScale }: CryptoPool, k: number): bigint {
  return (precisions[k] ?? 0n) * (k === 0 ? UNIT : (priceScale[k - 1] ?? 0n));
}

/** Balances with 18 decimals, in units of the first token at the price scale. */
export function toCryptoXp(pool: CryptoPool, balances: readonly bigint[] = pool.balances): bigint[] {
  return balances.map((balance, k) => (balance * scaleOf(pool, k)) / UNIT);
}

/** D with which the contract computes at this time. */
export function cryptoDAt(pool: CryptoPool, timestamp: number): bigint | null {
  // Contracts from before NG compute D anew also at their first use after a ramp.
  const isNew = pool.legacy === null ? isRamping(pool, timestamp) : pool.ramp.toTime > 0n;
  return isNew ? findD(cryptoCurveAt(pool, timestamp), toCryptoXp(pool)) : pool.d;
}

/** The fee of a swap that ends at these x. */
export function cryptoFee(
  { midFee, outFee, feeGamma }: Pick<CryptoPool, 'midFee' | 'outFee' | 'feeGamma'>,
  xp: readonly bigint[],
  hasNewFee: boolean,
): bigint {
  const sum = xp.reduce((total, x) => total + x, 0n);
  if (sum === 0n) return midFee;
  // 1e18 at equal x, 0 far from them.
  const balance = xp.reduce((part, x) => (part * BigInt(xp.length) * x) / sum, UNIT);
  const weighted = feeGamma * balance;
  const part =
    feeGamma === 0n
      ? 0n
      : hasNewFee
        ? weighted / (weighted / UNIT + UNIT - balance)
        : (feeGamma * UNIT) / (feeGamma + UNIT - balance);
  return (midFee * part + outFee * (UNIT - part)) / UNIT;
}

interface CryptoExchange {
  /** What goes out, before the fee. */
  readonly gross: bigint;
  /** The x at which the fee is computed. */
  readonly xp: readonly bigint[];
}

/** What a swap of token i for token j does. Null if it reverts. */
export function exchangeOnCurve(
  pool: CryptoPool,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): CryptoExchange | null {
  const d = cryptoDAt(pool, timestamp);
  const balances = pool.balances.map((each, index) => (index === i ? each + amountIn : each));
  const xp = toCryptoXp(pool, balances);
  const before = xp[j];
  if (d === null || before === undefined || i === j) return null;
  const y = findBalance(cryptoCurveAt(pool, timestamp), xp, j, d);
  // The contract keeps one unit against rounding errors.
  if (y === null || before - y - 1n < 0n) return null;
  xp[j] = y;
  return { gross: ((before - y - 1n) * UNIT) / scaleOf(pool, j), xp };
}

/** The answer of get_dy, except for the contract's rounding. Null if it reverts. */
export function getCryptoDy(
  pool: CryptoPool,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): bigint | null {
  const done = exchangeOnCurve(pool, i, j, amountIn, timestamp);
  if (done === null) return null;
  return done.gross - (cryptoFee(pool, done.xp, pool.hasNewFee) * done.gross) / CRYPTO_FEE_UNIT;
}

interface Withdrawal {
  /** Raw amount of the token that the formula gives. */
  readonly amount: bigint;
  readonly d: bigint;
  readonly xp: readonly bigint[];
}

/**
 * remove_liquidity_one_coin of all contracts before 2025, and of all pools of three tokens. The contract computes the fee from
 * the balances before the withdrawal; CryptoSwap-NG computes it from a rough estimate of the balances after it. Null if the
 * contract reverts.
 */
export function withdrawOneToken(
  pool: CryptoPool,
  i: number,
  shares: bigint,
  timestamp: number,
): Withdrawal | null {
  const d0 = cryptoDAt(pool, timestamp);
  const xp = toCryptoXp(pool);
  const xi = xp[i];
  if (d0 === null || xi === undefined || pool.supply === 0n) return null;
  const rough = pool.legacy === null ? xi - (xi * BigInt(xp.length) * shares) / pool.supply : xi;
  const fee =
    rough > 0n
      ? cryptoFee(
          pool,
          xp.map((x, index) => (index === i ? rough : x)),
          pool.hasNewFee,
        )
      : pool.outFee;
  const change = (shares * d0) / pool.supply;
  const d = d0 - change + (fee * change) / (2n * CRYPTO_FEE_UNIT) + 1n;
  return withdrawTo(pool, i, xp, d, timestamp);
}

/**
 * remove_liquidity_fixed_out of the contracts since 2025, for two tokens: the amount of the other token is given. Null if it
 * reverts.
 */
export function withdrawBesides(
  pool: CryptoPool,
  j: number,
  given: bigint,
  shares: bigint,
  timestamp: number,
): Withdrawal | null {
  const d0 = cryptoDAt(pool, timestamp);
  const xp = toCryptoXp(pool);
  if (d0 === null || xp.length !== 2 || pool.supply === 0n) return null;
  const i = 1 - j;
  const [xi = 0n, xj = 0n] = [xp[i], xp[j]];
  const change = (shares * d0) / pool.supply;
  const givenX = (given * scaleOf(pool, i)) / UNIT;
  const left = xp.map((x, index) => (index === i ? xi - givenX : x));
  const y = findBalance(cryptoCurveAt(pool, timestamp), left, j, d0 - change);
  if (y === null) return null;
  const moved = [givenX, xj - y];
  const fee = liquidityFee(
    pool,
    moved,
    left.map((x, index) => (index === j ? y : x)),
  );
  const d = d0 - change + (change * fee) / CRYPTO_FEE_UNIT + 1n;
  return withdrawTo(pool, j, left, d, timestamp);
}

/** _calc_token_fee: the fee of a deposit or withdrawal with these amounts in x, by how uneven they are. */
function liquidityFee(pool: CryptoPool, moved: readonly bigint[], xp: readonly bigint[]): bigint {
  const n = BigInt(xp.length);
  const sum = moved.reduce((total, each) => total + each, 0n);
  const mean = sum / n;
  const off = moved.reduce((total, each) => total + (each > mean ? each - mean : mean - each), 0n);
  const fee = (cryptoFee(pool, xp, pool.hasNewFee) * n) / (4n * (n - 1n));
  return sum === 0n ? NOISE_FEE : (fee * off) / sum + NOISE_FEE;
}

/** Takes so much of token i out that D is left. */
function withdrawTo(
  pool: CryptoPool,
  i: number,
  xp: readonly bigint[],
  d: bigint,
  timestamp: number,
): Withdrawal | null {
  const y = findBalance(cryptoCurveAt(pool, timestamp), xp, i, d);
  const before = xp[i] ?? 0n;
  if (y === null || y > before) return null;
  const after = xp.map((x, index) => (index === i ? y : x));
  return { amount: ((before - y) * UNIT) / scaleOf(pool, i), d, xp: after };
}

/**
 * Marginal price of token i, raw token j per raw token i, without fee. Null if a balance is 0 or if the contract reverts.
 * Only the conversions and the division round: relative error below 1e-15.
 */
export function cryptoPrice(pool: CryptoPool, i: number, j: number, timestamp: number): number | null {
  const d = cryptoDAt(pool, timestamp);
  if (d === null) return null;
  const ratio = marginalRatio(cryptoCurveAt(pool, timestamp), toCryptoXp(pool), d, [i, j]);
  if (ratio === null) return null;
  const price = Number(ratio.numerator * scaleOf(pool, i)) / Number(ratio.denominator * scaleOf(pool, j));
  return Number.isFinite(price) && price > 0 ? price : null;
}
