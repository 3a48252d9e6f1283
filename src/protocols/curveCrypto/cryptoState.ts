/**
 * How events change a CryptoSwap pool. Balances, LP tokens and the price scale are in the events; D is computed. The amounts
 * of each event must follow from the state before, within the rounding of the contract. Otherwise the contract uses
 * another curve or has changed without an event, and the state counts as unknown.
 */
import { clampAmount, UINT256_MAX } from '../../domain/amounts';
import { toFeePips } from '../../domain/swapFee';
import { toSwapFee } from '../curve/curveFamily';
import type { CryptoEvent } from './cryptoEvents';
import { findD } from './cryptoMath';
import {
  CRYPTO_FEE_UNIT,
  cryptoCurveAt,
  cryptoDAt,
  cryptoFee,
  exchangeOnCurve,
  toCryptoXp,
  withdrawBesides,
  withdrawOneToken,
  type CryptoPool,
} from './cryptoPool';

export interface CryptoStep {
  readonly pool: CryptoPool;
  /** Whether the state before explains the event. */
  readonly isExplained: boolean;
  /** Fee of a swap in pips; null for other events, and if it is unknown. */
  readonly feePips: number | null;
}

/** The contract's rounding errors are at most this part of a balance (1.5e-11), plus two raw units. */
const ROUNDING_BITS = 36n;
const ROUNDING_UNITS = 2n;
/** D does not follow the raw units that withdrawals round away. A swap or deposit makes it exact again. */
const ROUNDED_UNITS = 16n;
/** The rate of a fee, which follows from a computed balance, may differ by this many units of 1e-10. */
const FEE_RATE_ROUNDING = 5n;
const PIPS = 1_000_000n;
const PRICE_BITS = 128;

/** Whether two numbers differ by at most `units` plus the rounding error of a contract with a balance of `size`. */
export function isWithinRounding(a: bigint, b: bigint, size: bigint, units = ROUNDING_UNITS): boolean {
  return distance(a, b) <= (size >> ROUNDING_BITS) + units;
}

/** Whether D is that of the balances on this curve, except for what withdrawals round away. Null if there is no D. */
export function fitsCurve(pool: CryptoPool, curve: CryptoPool['ramp']['to']): boolean | null {
  const expected = findD(curve, toCryptoXp(pool));
  const units = pool.balances.map(() => ROUNDED_UNITS);
  const rounded = toCryptoXp(pool, units).reduce((total, x) => total + x, 0n);
  return expected === null ? null : isWithinRounding(expected, pool.d, pool.d, rounded);
}

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

/** The word of an event with these prices. */
export function packPrices(prices: readonly bigint[]): bigint {
  return prices.reduceRight((packed, price) => (packed << BigInt(PRICE_BITS)) | price, 0n);
}

/** The prices in a word of an event: one, or two of 128 bits, lowest first. */
function unpackPrices(packed: bigint, tokens: number): bigint[] {
  return tokens === 2 ? [packed] : [BigInt.asUintN(PRICE_BITS, packed), packed >> BigInt(PRICE_BITS)];
}

/** The pool after the event at this time, unix seconds. An event that the state does not explain cannot stop the ingester. */
export function applyCryptoEvent(pool: CryptoPool, event: CryptoEvent, timestamp: number): CryptoStep {
  const step = applyEvent(pool, event, timestamp);
  const [supply, d] = [clampAmount(step.pool.supply, UINT256_MAX), clampAmount(step.pool.d, UINT256_MAX)];
  return { ...step, pool: { ...step.pool, supply, d } };
}

function applyEvent(pool: CryptoPool, event: CryptoEvent, timestamp: number): CryptoStep {
  const changed = (changes: Partial<CryptoPool>, isExplained = true): CryptoStep => ({
    pool: { ...pool, ...changes },
    isExplained,
    feePips: null,
  });
  switch (event.kind) {
    case 'exchange':
      return applyExchange(pool, event, timestamp);
    case 'add':
      return changed(...applyDeposit(pool, event, timestamp));
    case 'remove':
      return changed(...applyWithdrawal(pool, event));
    case 'remove_one': {
      const { shares, token, amount } = event;
      const done = withdrawOneToken(pool, token, shares, timestamp);
      const moves = pool.balances.map((_each, index) => (index === token ? -amount : 0n));
      const size = pool.balances[token] ?? 0n;
      const isFair = done !== null && isWithinRounding(done.amount, amount, size);
      return changed(...afterWithdrawal(pool, { ...event, moves }, isFair ? done : null, timestamp));
    }
    case 'imbalance':
      return changed(...applyImbalance(pool, event, timestamp));
    case 'claim':
      return changed(...applyClaim(pool, event, timestamp));
    case 'donate':
      return changed({}, false);
    case 'ramp': {
      const { fromAmp, toAmp, fromGamma, toGamma, fromTime, toTime } = event;
      const [from, to] = [
        { amp: fromAmp, gamma: fromGamma },
        { amp: toAmp, gamma: toGamma },
      ];
      return changed({ ramp: { from, to, fromTime, toTime } }, toAmp > 0n && toGamma > 0n);
    }
    case 'fees': {
      const { midFee, outFee, feeGamma } = event;
      return changed({ midFee, outFee, feeGamma });
    }
  }
}

type Change = [changes: Partial<CryptoPool>, isExplained: boolean];
type EventOf<Kind extends CryptoEvent['kind']> = Extract<CryptoEvent, { kind: Kind }>;

function applyExchange(pool: CryptoPool, event: EventOf<'exchange'>, timestamp: number): CryptoStep {
  const { soldId, boughtId, sold, bought } = event;
  const balances = movedBy(
    pool,
    pool.balances.map((_each, index) => (index === soldId ? sold : index === boughtId ? -bought : 0n)),
  );
  const done = exchangeOnCurve(pool, soldId, boughtId, sold, timestamp);
  const size = pool.balances[boughtId] ?? 0n;
  // Without a fee in the event, what the curve gives beyond the amount out is the fee.
  const gross = event.fee === null ? (done?.gross ?? bought) : bought + event.fee;
  const fee = gross - bought;
  const rounding = event.fee === null ? size >> ROUNDING_BITS : 0n;
  // The formula of the fee is learnt from the first swap that only one of them explains.
  const formulas = [pool.hasNewFee, !pool.hasNewFee].filter((isNew) => {
    const rate = done === null ? 0n : cryptoFee(pool, done.xp, isNew);
    const slack = (FEE_RATE_ROUNDING * gross) / CRYPTO_FEE_UNIT + ROUNDING_UNITS + rounding;
    return (pool.legacy === null || !isNew) && distance((rate * gross) / CRYPTO_FEE_UNIT, fee) <= slack;
  });
  const [hasNewFee = pool.hasNewFee] = formulas;
  const next = { ...pool, balances, hasNewFee };
  const isFair = done !== null && formulas.length > 0 && isWithinRounding(done.gross, gross, size);
  const [changes, hasD] = atScale(next, event.priceScale, toCryptoXp(next), null, timestamp);
  const named = gross === 0n ? 0 : Number((2n * fee * PIPS + gross) / (2n * gross));
  const computed = isFair ? toFeePips(toSwapFee(cryptoFee(pool, done.xp, false))) : null;
  return {
    pool: { ...next, ...changes },
    isExplained: isFair && hasD,
    feePips: event.fee === null ? computed : named,
  };
}

/** LP tokens are minted in proportion to D, less a fee. */
function applyDeposit(pool: CryptoPool, event: EventOf<'add'>, timestamp: number): Change {
  const { amounts, fee, supply, priceScale } = event;
  const next = { ...pool, balances: movedBy(pool, amounts), supply };
  const xp = toCryptoXp(next);
  const [before, after] = [cryptoDAt(pool, timestamp), findD(cryptoCurveAt(pool, timestamp), xp)];
  const [changes, hasD] = atScale(next, priceScale, xp, after, timestamp);
  const minted = supply - pool.supply + fee;
  const isFair =
    amounts.length === pool.balances.length &&
    before !== null &&
    after !== null &&
    (before === 0n
      ? pool.supply === 0n
      : isWithinRounding((pool.supply * after) / before - pool.supply, minted, pool.supply));
  return [{ balances: next.balances, supply, ...changes }, isFair && hasD];
}

/**
 * A balanced withdrawal pays the same share of each balance, less one LP token's unit. CryptoSwap-NG pays all of it if the pool
 * is emptied.
 */
function applyWithdrawal(pool: CryptoPool, { amounts, supply }: EventOf<'remove'>): Change {
  const burnt = pool.supply - supply;
  const counted = supply === 0n && pool.legacy === null ? burnt : burnt - 1n;
  const isFair =
    burnt > 0n &&
    amounts.length === pool.balances.length &&
    pool.balances.every((balance, index) => (balance * counted) / pool.supply === amounts[index]);
  const balances = movedBy(
    pool,
    amounts.map((amount) => -amount),
  );
  const d = pool.supply > 0n ? pool.d - (pool.d * counted) / pool.supply : 0n;
  return [{ balances, supply, d }, isFair];
}

/** The event does not tell which of both amounts was given and which one followed from it. */
function applyImbalance(pool: CryptoPool, event: EventOf<'imbalance'>, timestamp: number): Change {
  const { amounts, shares } = event;
  const ways = [0, 1].flatMap((token) => {
    const done = withdrawBesides(pool, token, amounts[1 - token] ?? 0n, shares, timestamp);
    const size = pool.balances[token] ?? 0n;
    return done !== null && isWithinRounding(done.amount, amounts[token] ?? 0n, size) ? [done] : [];
  });
  const moves = amounts.map((amount) => -amount);
  return afterWithdrawal(pool, { ...event, moves }, ways[0] ?? null, timestamp);
}

/** The pool after an uneven withdrawal. */
function afterWithdrawal(
  pool: CryptoPool,
  event: { readonly shares: bigint; readonly moves: readonly bigint[]; readonly priceScale: bigint | null },
  done: (Pick<CryptoPool, 'd'> & { readonly xp: readonly bigint[] }) | null,
  timestamp: number,
): Change {
  const supply = pool.supply - event.shares;
  const next = { ...pool, balances: movedBy(pool, event.moves), supply };
  const [changes, hasD] = atScale(
    next,
    event.priceScale,
    done?.xp ?? toCryptoXp(next),
    done?.d ?? null,
    timestamp,
  );
  return [{ balances: next.balances, supply, ...changes }, done !== null && hasD];
}

/**
 * Fees that go out as tokens are the same share of D and of each balance; the largest amount tells it most exactly. A
 * contract that mints LP tokens computes D anew.
 */
function applyClaim(pool: CryptoPool, { amounts, minted }: EventOf<'claim'>, timestamp: number): Change {
  if (amounts.length === 0) {
    const d = findD(cryptoCurveAt(pool, timestamp), toCryptoXp(pool));
    return [{ supply: pool.supply + minted, d: d ?? 0n }, d !== null];
  }
  const largest = amounts.reduce((best, amount, index) => (amount > (amounts[best] ?? 0n) ? index : best), 0);
  const [amount = 0n, balance = 0n] = [amounts[largest], pool.balances[largest]];
  const isFair =
    amounts.length === pool.balances.length &&
    balance > 0n &&
    pool.balances.every(
      (each, index) => distance((each * amount) / balance, amounts[index] ?? 0n) <= ROUNDING_UNITS,
    );
  const balances = movedBy(
    pool,
    amounts.map((each) => -each),
  );
  return [{ balances, d: balance > 0n ? pool.d - (pool.d * amount) / balance : 0n }, isFair];
}

/**
 * The price scale after an event, and D: `d`, if it is known and the scale stays. A new scale changes x in proportion, and D
 * with it. False if there is no D.
 */
function atScale(
  pool: CryptoPool,
  packed: bigint | null,
  xp: readonly bigint[],
  d: bigint | null,
  timestamp: number,
): [changes: Pick<CryptoPool, 'priceScale' | 'd'>, hasD: boolean] {
  const priceScale = packed === null ? pool.priceScale : unpackPrices(packed, pool.balances.length);
  if ([...priceScale, ...pool.priceScale].some((price) => price === 0n))
    return [{ priceScale, d: 0n }, false];
  const isSame = priceScale.every((price, index) => price === pool.priceScale[index]);
  const moved = xp.map((x, k) =>
    k === 0 ? x : (x * (priceScale[k - 1] ?? 0n)) / (pool.priceScale[k - 1] ?? 1n),
  );
  const found = isSame && d !== null ? d : findD(cryptoCurveAt(pool, timestamp), moved);
  return [{ priceScale, d: found ?? 0n }, found !== null];
}

/** Balances stay within 0 … 2^256 − 1. */
function movedBy({ balances }: CryptoPool, moves: readonly bigint[]): bigint[] {
  return balances.map((balance, index) => clampAmount(balance + (moves[index] ?? 0n), UINT256_MAX));
}
