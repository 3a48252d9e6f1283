/**
 * The depth of a CryptoSwap pool near its price, in float64. Beside the zone with most of its liquidity, a pool has little, so
 * the depth is that of a real move of the price by 2 %.
 */
import { floatBalance, floatBend, toFloatCurve } from './cryptoFloat';
import { cryptoCurveAt, cryptoDAt, toCryptoXp, type CryptoPool } from './cryptoPool';

/** Part of the price that is left after the move. */
const PRICE_LEFT = 0.98;
/** A constant product pool pays out this part of its virtual reserve until the price has moved. */
const PAID_PART = 1 - Math.sqrt(PRICE_LEFT);
/** Each bisection halves the error of a logarithm, which is below 64 at the start. */
const BISECTIONS = 40;
/** Largest factor by which a balance grows in the search for the move. */
const GROWTH_MAX = 2 ** 20;

interface FloatPool {
  readonly curve: ReturnType<typeof toFloatCurve>;
  readonly d: number;
}

/**
 * The liquidity of the constant product pool of tokens i and j with the same depth, in raw units: √(reserve i · reserve j).
 * The smaller result of both directions counts. 0 if the pool has no price.
 */
export function cryptoLiquidity(pool: CryptoPool, i: number, j: number, timestamp: number): number {
  const exact = cryptoDAt(pool, timestamp);
  if (exact === null || exact === 0n) return 0;
  const floats = { curve: toFloatCurve(cryptoCurveAt(pool, timestamp)), d: Number(exact) };
  const xp = toCryptoXp(pool).map(Number);
  const towards = (into: number, out: number): number => liquidityTowards(xp, floats, into, out);
  const scale = (k: number): number => Number(pool.balances[k] ?? 0n) / (xp[k] ?? 0);
  const liquidity = Math.min(towards(i, j), towards(j, i)) * Math.sqrt(scale(i) * scale(j));
  return Number.isFinite(liquidity) ? liquidity : 0;
}

/** The liquidity that a swap of i for j meets until the price of i in j has fallen by 2 %. */
function liquidityTowards(xp: readonly number[], pool: FloatPool, i: number, j: number): number {
  const [start = 0, before = 0] = [xp[i], xp[j]];
  const price = priceOf(xp, pool, i, j);
  const moved = (x: number): number[] => withMove(xp, pool, i, j, x);
  let [low, high] = [start, start * GROWTH_MAX];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = Math.sqrt(low) * Math.sqrt(high);
    if (priceOf(moved(middle), pool, i, j) > PRICE_LEFT * price) low = middle;
    else high = middle;
  }
  const paid = before - (moved(low)[j] ?? before);
  const liquidity = paid / PAID_PART / Math.sqrt(price);
  return liquidity > 0 ? liquidity : 0;
}

/** The marginal price of i in j, as marginalRatio of cryptoMath.ts. */
function priceOf(xp: readonly number[], { curve, d }: FloatPool, i: number, j: number): number {
  const { q } = floatBend(curve, xp, d);
  return (1 + (d * q) / (xp[i] ?? 0)) / (1 + (d * q) / (xp[j] ?? 0));
}

/** The balances with x of token i, and the j that keeps D. */
function withMove(xp: readonly number[], { curve, d }: FloatPool, i: number, j: number, x: number): number[] {
  const balances = xp.map((each, index) => (index === i ? x : each));
  const y = floatBalance(curve, balances, j, d);
  return balances.map((each, index) => (index === j ? y : each));
}
