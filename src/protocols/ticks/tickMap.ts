/**
 * The initialised ticks of a V3 pool, and the amounts that the pool pays out when a walk moves its price across them.
 * The net liquidity of a tick is a sum over mints and burns. Their order does not matter, and a burn cancels a mint
 * exactly. Formulas: SqrtPriceMath.sol and Tick.sol of @uniswap/v3-core.
 */
import { sqrtRatioAtTick, TICK_MAX, TICK_MIN } from './tickMath';

/** Largest number of ticks that one walk crosses. The walk then ends, and the result has the amounts up to there. */
export const TICKS_MAX = 1_000;

const TWO_POW_96 = 2 ** 96;
/** Factors of √price are integers with this many bits after the binary point. */
const FACTOR_BITS = 52n;

/** √price at the ends of a walk, as factors of the current √price. */
interface Reach {
  readonly up: bigint;
  readonly down: bigint;
}

/** The price range for the depth: up to 2 % above and below the price. */
const CLOSE: Reach = { up: rootFactor(1.02), down: rootFactor(0.98) };
/**
 * The price range in which the pool's tokens count as backing of the price: from 0.5 to 1.5 times the price.
 */
const NEAR: Reach = { up: rootFactor(1.5), down: rootFactor(0.5) };

const CLOSE_UP = 1 - 1 / Math.sqrt(1.02);
const CLOSE_DOWN = 1 - Math.sqrt(0.98);

interface Tick {
  readonly tick: number;
  /** Liquidity that becomes active when the price rises over the tick. Never 0. */
  net: bigint;
  /** √price of the tick; computed when a walk first needs it. */
  place: Place | undefined;
}

/** √price of a tick. */
interface Place {
  /** √price times 2^96. */
  readonly exact: bigint;
  readonly root: number;
}

/** State of a V3 pool, raw units. */
export interface TickState {
  readonly sqrt_price_x96: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** The amounts that a pool can really pay out near its price, in raw units. */
export interface WalkedDepth {
  /**
   * Liquidity of a constant product pool with the same payout within 2 % as this pool. Of the two directions, the one
   * with the smaller payout is used.
   */
  readonly liquidity: number;
  /** Token0 that the pool pays out while its price rises by 50 %; at most the pool's balance. */
  readonly near0: number;
  /** Token1 that the pool pays out while its price falls by 50 %; at most the pool's balance. */
  readonly near1: number;
}

/**
 * Whether a V3 position can have these ticks. A pool with other rules may emit impossible ticks; they are ignored.
 */
export function isTickRange(lower: number | null, upper: number | null): boolean {
  return lower !== null && upper !== null && TICK_MIN <= lower && lower < upper && upper <= TICK_MAX;
}

export class TickMap {
  /** The ticks with net liquidity, ascending. */
  private readonly ticks: Tick[] = [];
  /** √price times 2^96 at the ends of the known ticks; undefined if all ticks are known. */
  private bottom: bigint | undefined;
  private top: bigint | undefined;

  /** Number of ticks with net liquidity. */
  get size(): number {
    return this.ticks.length;
  }

  /** Ends all walks at these ticks, because the ticks beyond them are unknown. */
  limitTo(low: number, high: number): void {
    this.bottom = sqrtRatioAtTick(low);
    this.top = sqrtRatioAtTick(high);
  }

  /** Adds liquidity to a tick; `net` may be negative. */
  add(tick: number, net: bigint): void {
    const { ticks } = this;
    const at = this.firstAbove(tick - 1);
    const tickAt = ticks[at];
    if (tickAt?.tick !== tick) {
      if (net !== 0n) ticks.splice(at, 0, { tick, net, place: undefined });
      return;
    }
    tickAt.net += net;
    if (tickAt.net === 0n) ticks.splice(at, 1);
  }

  /** Adds a mint, or a burn if `liquidity` is negative. */
  addRange(lower: number, upper: number, liquidity: bigint): void {
    this.add(lower, liquidity);
    this.add(upper, -liquidity);
  }

  /** Index of the first tick above `tick`. */
  private firstAbove(tick: number): number {
    const { ticks } = this;
    let low = 0;
    let high = ticks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ticks[middle]?.tick ?? tick) <= tick) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Walks the price up and down. Null if the pool has no price. */
  walk(state: TickState): WalkedDepth | null {
    const { sqrt_price_x96: root } = state;
    if (root <= 0n) return null;
    const firstAbove = this.firstAbove(state.tick);
    const close0 = this.paidUp(state, firstAbove, CLOSE.up);
    const close1 = this.paidDown(state, firstAbove - 1, CLOSE.down);
    const price = Number(root) / TWO_POW_96;
    const liquidityUp = (close0 * price) / CLOSE_UP;
    const liquidityDown = close1 / price / CLOSE_DOWN;
    return {
      liquidity: Math.min(liquidityUp, liquidityDown),
      near0: Math.min(this.paidUp(state, firstAbove, NEAR.up), Number(state.reserve0)),
      near1: Math.min(this.paidDown(state, firstAbove - 1, NEAR.down), Number(state.reserve1)),
    };
  }

  /**
   * Raw token0 paid out while √price rises by a factor: Σ L · (1/√a − 1/√b). Liquidity and the distance to the first
   * tick are exact integers. With floats, a huge position that ends at the price would leave a rounding error that
   * looks like liquidity.
   */
  private paidUp(
    { sqrt_price_x96: start, liquidity: active }: TickState,
    first: number,
    factor: bigint,
  ): number {
    const exactEnd = lesser(this.top, (start * factor) >> FACTOR_BITS);
    const end = Number(exactEnd) / TWO_POW_96;
    const exactStop = lesser(this.placeAt(first)?.exact, exactEnd);
    let at = Number(start) / TWO_POW_96;
    let paid = 0;
    if (exactStop > start) {
      const stop = Number(exactStop) / TWO_POW_96;
      if (active > 0n) paid = Number(active * (exactStop - start)) / TWO_POW_96 / at / stop;
      at = stop;
    }
    let liquidity = active;
    for (let i = first; i < first + TICKS_MAX && at < end; i += 1) {
      const crossed = this.ticks[i];
      if (crossed === undefined) break;
      liquidity += crossed.net;
      const stop = Math.min(this.placeAt(i + 1)?.root ?? end, end);
      if (!(stop > at)) continue;
      if (liquidity > 0n) paid += Number(liquidity) * (1 / at - 1 / stop);
      at = stop;
    }
    return paid;
  }

  /** Raw token1 paid out while √price falls by a factor: Σ L · (√a − √b). */
  private paidDown(
    { sqrt_price_x96: start, liquidity: active }: TickState,
    first: number,
    factor: bigint,
  ): number {
    const exactEnd = greater(this.bottom, (start * factor) >> FACTOR_BITS);
    const end = Number(exactEnd) / TWO_POW_96;
    const exactStop = greater(this.placeAt(first)?.exact, exactEnd);
    let at = Number(start) / TWO_POW_96;
    let paid = 0;
    if (exactStop < start) {
      if (active > 0n) paid = Number(active * (start - exactStop)) / TWO_POW_96;
      at = Number(exactStop) / TWO_POW_96;
    }
    let liquidity = active;
    for (let i = first; i > first - TICKS_MAX && at > end; i -= 1) {
      const crossed = this.ticks[i];
      if (crossed === undefined) break;
      liquidity -= crossed.net;
      const stop = Math.max(this.placeAt(i - 1)?.root ?? end, end);
      if (!(stop < at)) continue;
      if (liquidity > 0n) paid += Number(liquidity) * (at - stop);
      at = stop;
    }
    return paid;
  }

  private placeAt(index: number): Place | undefined {
    const tick = this.ticks[index];
    return tick === undefined ? undefined : (tick.place ??= placeOf(tick.tick));
  }
}

function placeOf(tick: number): Place {
  const exact = sqrtRatioAtTick(tick);
  return { exact, root: Number(exact) / TWO_POW_96 };
}

function lesser(a: bigint | undefined, b: bigint): bigint {
  return a !== undefined && a < b ? a : b;
}

function greater(a: bigint | undefined, b: bigint): bigint {
  return a !== undefined && a > b ? a : b;
}

/** √part, exact to 52 bits. √ is rounded correctly, so the result is the same on every machine. */
function rootFactor(part: number): bigint {
  return BigInt(Math.round(Math.sqrt(part) * 2 ** Number(FACTOR_BITS)));
}
