/** A StableSwap pool: what its contract pays out, its fees, and its marginal prices. Fees are in units of 1e-10. */
import type { Hex } from '../../domain/hex';
import { getD, marginalPrice, solveBalance, type StableCurve } from './stableMath';

/** A fee or a part of a fee of this number means 100 %. */
export const FEE_UNIT = 10n ** 10n;
/** A rate of this number means 1. */
export const RATE_UNIT = 10n ** 18n;
const FEE_UNITS_PER_PIP = 10_000n;

/** How a kind of contract counts A (`ampUnit` is its A_PRECISION) and rounds D. */
type Rounding = Pick<StableCurve, 'ampUnit' | 'isPancake' | 'reverts' | 'addsOne'>;

/**
 * The kinds of contracts. `pancake`: Pancake's port, which PulseX uses. `ng`: StableSwap-NG. `registry`: the first contracts,
 * such as 3pool. `factory`: the factory of 2021, its meta pools, and the contracts between both. `pair`: pools of two coins
 * of that factory, which divide as StableSwap-NG. `held`: contracts that count what they hold, as the pools of stETH and Aave.
 * The oldest contracts name balances by int128: `fixed` has no ramp of A (Compound, USDT, Y, BUSD, sUSD), `pax` has one, and
 * `ren` (renBTC, sBTC) swaps as `registry`. A state stores the place of its kind in this order.
 */
export const CURVE_KINDS = [
  ...(['pancake', 'ng', 'registry', 'factory', 'pair', 'held'] as const),
  ...(['fixed', 'pax', 'ren'] as const),
] as const;
type CurveKind = (typeof CURVE_KINDS)[number];

const ROUNDINGS: Readonly<Record<CurveKind, Rounding>> = {
  pancake: { ampUnit: 1n, isPancake: true },
  ng: { ampUnit: 100n, isPancake: false },
  registry: { ampUnit: 1n, isPancake: true },
  factory: { ampUnit: 100n, isPancake: true, reverts: true },
  pair: { ampUnit: 100n, isPancake: false },
  held: { ampUnit: 100n, isPancake: true, reverts: true, addsOne: true },
  fixed: { ampUnit: 1n, isPancake: true, addsOne: true },
  pax: { ampUnit: 1n, isPancake: true },
  ren: { ampUnit: 1n, isPancake: true },
};

export interface CurvePool {
  readonly kind: CurveKind;
  /** Whether the owner stopped the trade. */
  readonly isKilled: boolean;
  /** Linear change of A between two times in unix seconds. A is in the unit of the contract. */
  readonly ramp: {
    readonly fromAmp: bigint;
    readonly toAmp: bigint;
    readonly fromTime: bigint;
    readonly toTime: bigint;
  };
  readonly fee: bigint;
  /** The owner's part of the fee. */
  readonly adminFee: bigint;
  /** Factor of the fee far from the balance. 0 if the fee is constant. */
  readonly offpeg: bigint;
  /** LP tokens. */
  readonly supply: bigint;
  /** Factors from raw units to 18 decimals, where 1e18 means 1. */
  readonly rates: readonly bigint[];
  /** Whether rates change without an event, so that the node is asked for them in each block with an event of the pool. */
  readonly asksRates: boolean;
  /** The pool whose LP token is the second coin. The rate of this coin is the virtual price of that pool. */
  readonly base: Hex | null;
  /** Whether balances change without an event, so that the node is asked for them in each block with an event of the pool. */
  readonly asksBalances: boolean;
  /**
   * For each lending token, such as a cToken, the factor from its rate (lent tokens per lending token, 1e18 means 1) to the one
   * in `rates`. 0 for other coins. Empty if the pool has no lending tokens.
   */
  readonly lentUnits: readonly bigint[];
  /** Raw balances without the owner's fees, as balances(i) of the contract. */
  readonly balances: readonly bigint[];
}

interface Exchange {
  readonly amountOut: bigint;
  /** What the balance of the token that goes out loses beyond `amountOut`: the owner's part of the fee, and rounding. */
  readonly adminFee: bigint;
  readonly feePips: number;
}

/** Whether the contract keeps the virtual price of its base pool for some minutes, as the meta pools of the registry. */
export function cachesBasePrice({ kind, asksRates, base }: CurvePool): boolean {
  return kind !== 'ng' && asksRates && base !== null;
}

/** The curve at a time, unix seconds. */
export function curveAt({ kind, ramp }: CurvePool, timestamp: number): StableCurve {
  const { fromAmp, toAmp, fromTime, toTime } = ramp;
  const time = BigInt(timestamp);
  const passed = time - fromTime;
  const span = toTime - fromTime;
  const change = toAmp > fromAmp ? toAmp - fromAmp : fromAmp - toAmp;
  const moved = time < toTime && passed >= 0n && span > 0n ? (change * passed) / span : change;
  const amp = toAmp > fromAmp ? fromAmp + moved : fromAmp - moved;
  return { amp, ...ROUNDINGS[kind] };
}

/** Balances with 18 decimals. */
export function toXp({ rates }: CurvePool, balances: readonly bigint[]): bigint[] {
  return balances.map((balance, index) => ((rates[index] ?? 0n) * balance) / RATE_UNIT);
}

/** D of the pool with other balances. */
export function invariantOf(pool: CurvePool, balances: readonly bigint[], timestamp: number): bigint | null {
  return getD(toXp(pool, balances), curveAt(pool, timestamp));
}

/** _dynamic_fee of StableSwap-NG: `fee` at equal balances, up to `offpeg` / FEE_UNIT times as much far from them. */
function dynamicFee({ offpeg }: CurvePool, xi: bigint, xj: bigint, fee: bigint): bigint {
  if (offpeg <= FEE_UNIT) return fee;
  const square = (xi + xj) ** 2n;
  return (offpeg * fee) / (((offpeg - FEE_UNIT) * 4n * xi * xj) / square + FEE_UNIT);
}

/** What a swap of token i for token j does. Null if it reverts. */
export function exchangeTokens(
  pool: CurvePool,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): (Exchange & { readonly counted: bigint }) | null {
  const curved = moveOnCurve(pool, i, j, amountIn, timestamp);
  const [rateI, rate] = [pool.rates[i], pool.rates[j]];
  if (curved === null || rateI === undefined || rate === undefined) return null;
  const { x, y, fee } = curved;
  const out = curved.out + BigInt(roundsBalances(pool));
  const taken = (out * fee) / FEE_UNIT;
  const adminFee = (taken * pool.adminFee) / FEE_UNIT;
  const amountOut = ((out - taken) * RATE_UNIT) / rate;
  const feePips = Number((fee + FEE_UNITS_PER_PIP / 2n) / FEE_UNITS_PER_PIP);
  if (!roundsBalances(pool))
    return { amountOut, adminFee: (adminFee * RATE_UNIT) / rate, feePips, counted: amountIn };
  const left = ((y + taken - adminFee) * RATE_UNIT) / rate;
  return {
    amountOut,
    adminFee: (pool.balances[j] ?? 0n) - left - amountOut,
    feePips,
    counted: (x * RATE_UNIT) / rateI - (pool.balances[i] ?? 0n),
  };
}

/**
 * Whether a swap computes the new balances from those with 18 decimals, and keeps no unit for itself
 * (StableSwapCompound.vy, StableSwapPax.vy).
 */
function roundsBalances({ kind }: CurvePool): boolean {
  return kind === 'fixed' || kind === 'pax';
}

/** The value of an LP token in units of 1e-18, as get_virtual_price(). Null if it is unknown. */
export function virtualPrice(pool: CurvePool, timestamp: number): bigint | null {
  const d = invariantOf(pool, pool.balances, timestamp);
  return d === null || d === 0n || pool.supply === 0n ? null : (d * RATE_UNIT) / pool.supply;
}

/**
 * The answer of get_dy. Pancake's contract and the first ones of Curve round it otherwise than the swap itself, by some units
 * at most.
 */
export function getDy(
  pool: CurvePool,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): bigint | null {
  const isRawFee = pool.kind === 'pancake' || isFirst(pool);
  if (!isRawFee) return exchangeTokens(pool, i, j, amountIn, timestamp)?.amountOut ?? null;
  const curved = moveOnCurve(pool, i, j, amountIn, timestamp);
  const rate = pool.rates[j];
  if (curved === null || rate === undefined) return null;
  const raw = ((curved.out + BigInt(pool.kind === 'fixed')) * RATE_UNIT) / rate;
  return raw - (curved.fee * raw) / FEE_UNIT;
}

/** Whether the pool is one of Curve's first contracts, up to 3pool. */
function isFirst(pool: CurvePool): boolean {
  return pool.kind === 'registry' || namesByInt(pool);
}

/** Whether the functions of the contract take ids as int128. */
export function namesByInt({ kind }: CurvePool): boolean {
  return kind === 'fixed' || kind === 'pax' || kind === 'ren';
}

/** The move along the curve with 18 decimals, before the fee. Most contracts keep one unit against rounding errors. */
function moveOnCurve(
  pool: CurvePool,
  i: number,
  j: number,
  amountIn: bigint,
  timestamp: number,
): { readonly x: bigint; readonly y: bigint; readonly out: bigint; readonly fee: bigint } | null {
  const xp = toXp(pool, pool.balances);
  const curve = curveAt(pool, timestamp);
  const d = getD(xp, curve);
  const [xi, xj, rate] = [xp[i], xp[j], pool.rates[i]];
  if (d === null || xi === undefined || xj === undefined || rate === undefined || i === j) return null;
  const x = xi + (amountIn * rate) / RATE_UNIT;
  const others = xp.map((each, index) => (index === i ? x : each)).filter((_each, index) => index !== j);
  const y = solveBalance(others, curve, d);
  if (y === null || xj - y - 1n < 0n) return null;
  return { x, y, out: xj - y - 1n, fee: dynamicFee(pool, (xi + x) / 2n, (xj + y) / 2n, pool.fee) };
}

/** The amount of token i that the pool pays out for burnt LP tokens, and the owner's part of the fee. Null if it reverts. */
export function withdrawOne(
  pool: CurvePool,
  i: number,
  shares: bigint,
  timestamp: number,
): Pick<Exchange, 'amountOut' | 'adminFee'> | null {
  const xp = toXp(pool, pool.balances);
  const curve = curveAt(pool, timestamp);
  const d0 = getD(xp, curve);
  const [xi, rate] = [xp[i], pool.rates[i]];
  if (d0 === null || xi === undefined || rate === undefined || d0 === 0n || shares > pool.supply) return null;
  const d1 = d0 - (shares * d0) / pool.supply;
  // The rest follows _calc_withdraw_one_coin of the contracts, which charges a fee on the part of the withdrawal that
  // unbalances the pool.
  const without = (all: readonly bigint[]): bigint[] => all.filter((_each, index) => index !== i);
  const y = solveBalance(without(xp), curve, d1);
  if (y === null) return null;
  const n = BigInt(xp.length);
  const baseFee = (pool.fee * n) / (4n * (n - 1n));
  const mean = (d0 + d1) / (2n * n);
  const reduced = xp.map((x, index) => {
    const expected = index === i ? (x * d1) / d0 - y : x - (x * d1) / d0;
    const fee = dynamicFee(pool, index === i ? (x + y) / 2n : x, mean, baseFee);
    return x - (fee * expected) / FEE_UNIT;
  });
  const reducedY = solveBalance(without(reduced), curve, d1);
  const out = (reduced[i] ?? 0n) - (reducedY ?? 0n) - 1n;
  if (reducedY === null || out < 0n) return null;
  const amountOut = (out * RATE_UNIT) / rate;
  const adminFee = ((((xi - y) * RATE_UNIT) / rate - amountOut) * pool.adminFee) / FEE_UNIT;
  return { amountOut, adminFee };
}

/**
 * Marginal price of token i, raw token j per raw token i, without fee. Null if a balance is 0, if D does not converge, or if
 * the trade is stopped. Only the conversions and the division round: relative error below 1e-15.
 */
export function curvePrice(pool: CurvePool, i: number, j: number, timestamp: number): number | null {
  const xp = toXp(pool, pool.balances);
  const found = pool.isKilled ? null : findCurve(pool, xp, timestamp);
  const [rateI, rateJ] = [pool.rates[i], pool.rates[j]];
  if (found === null || found.d === 0n || rateI === undefined || rateJ === undefined || i === j) return null;
  const ratio = marginalPrice(xp, found.curve, found.d, [i, j]);
  if (ratio === null) return null;
  const price = Number(ratio.numerator * rateI) / Number(ratio.denominator * rateJ);
  return Number.isFinite(price) && price > 0 ? price : null;
}

/**
 * The curve, and D of these balances. Events that both contracts of two coins explain do not tell which of them a pool is. Far
 * from the balance, only one of them may find D. Null if none does.
 */
function findCurve(
  pool: CurvePool,
  xp: readonly bigint[],
  timestamp: number,
): { readonly curve: StableCurve; readonly d: bigint } | null {
  const isUnsure = xp.length === 2 && (pool.kind === 'pair' || pool.kind === 'factory');
  const other = pool.kind === 'pair' ? 'factory' : 'pair';
  const kinds: readonly CurveKind[] = isUnsure ? [pool.kind, other] : [pool.kind];
  for (const kind of kinds) {
    const curve = curveAt({ ...pool, kind }, timestamp);
    const d = getD(xp, curve);
    if (d !== null) return { curve, d };
  }
  return null;
}
