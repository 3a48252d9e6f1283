/** Computes time-weighted mean reserves and values of a two-token pool over a window. Pure. */
import type { MeanReservesRow } from './pairRows';

/** A state of the pool, with raw reserves. */
interface HeldState {
  readonly ord: number;
  /** Time of the state, unix seconds. */
  readonly timestamp: number;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/**
 * A swap. `usd0` is the USD value of one raw unit of token0, times 10^decimals of token1; 0 if unknown.
 * `usd1` is the reverse.
 */
export interface ValuedSwap {
  readonly ord: number;
  readonly timestamp: number;
  readonly usd0: number;
  readonly usd1: number;
}

/** A state or a swap; the other one is null. */
interface Moment {
  readonly timestamp: number;
  readonly state: HeldState | null;
  readonly swap: ValuedSwap | null;
}

/**
 * Time-weighted means of reserves and their values over (since, now]. list_past_prices.sql computes the same.
 * For a pool created in the window, the means start at its first state. Each value uses the price of the swap
 * before it. The time before the first swap uses the price of that swap. `states` has the window's states and
 * the newest state before the window. Null without a state.
 */
export function meanReserves(
  states: readonly HeldState[],
  swaps: readonly ValuedSwap[],
  windowStart: number,
  windowEnd: number,
): MeanReservesRow | null {
  const moments = mergeMoments(states, swaps, windowStart);
  const [firstMoment] = moments;
  const firstState = firstValueOf(moments, ({ state }) => state);
  if (firstMoment === undefined || firstState === null) return null;
  let [reserve0, reserve1] = reservesOf(firstState);
  let usd0 = firstValueOf(moments, ({ swap }) => (swap !== null && swap.usd0 > 0 ? swap : null))?.usd0 ?? 0;
  let usd1 = firstValueOf(moments, ({ swap }) => (swap !== null && swap.usd1 > 0 ? swap : null))?.usd1 ?? 0;
  const sums = { held0: 0, held1: 0, value0: 0, value1: 0 };
  moments.forEach(({ timestamp, state, swap }, index) => {
    if (state !== null) [reserve0, reserve1] = reservesOf(state);
    if (swap !== null && swap.usd0 > 0) ({ usd0 } = swap);
    if (swap !== null && swap.usd1 > 0) ({ usd1 } = swap);
    const lastedSeconds = (moments[index + 1]?.timestamp ?? windowEnd) - timestamp;
    sums.held0 += reserve0 * lastedSeconds;
    sums.held1 += reserve1 * lastedSeconds;
    sums.value0 += reserve0 * usd0 * lastedSeconds;
    sums.value1 += reserve1 * usd1 * lastedSeconds;
  });
  const totalSeconds = windowEnd - firstMoment.timestamp;
  const meanOf = (sum: number): number | null => (totalSeconds === 0 ? null : sum / totalSeconds);
  return {
    mean_reserve0: meanOf(sums.held0),
    mean_reserve1: meanOf(sums.held1),
    mean_value0: meanOf(sums.value0),
    mean_value1: meanOf(sums.value1),
  };
}

function reservesOf({ reserve0, reserve1 }: HeldState): [number, number] {
  return [Number(reserve0), Number(reserve1)];
}

/** A swap comes after the state of the same log. */
function mergeMoments(
  states: readonly HeldState[],
  swaps: readonly ValuedSwap[],
  windowStart: number,
): Moment[] {
  const moments = [
    ...states.map((state) => ({
      ord: state.ord,
      timestamp: Math.max(state.timestamp, windowStart),
      state,
      swap: null,
    })),
    ...swaps.map((swap) => ({ ord: swap.ord + 0.5, timestamp: swap.timestamp, state: null, swap })),
  ];
  return moments.sort((a, b) => a.ord - b.ord);
}

function firstValueOf<T>(moments: readonly Moment[], pick: (moment: Moment) => T | null): T | null {
  for (const moment of moments) {
    const picked = pick(moment);
    if (picked !== null) return picked;
  }
  return null;
}
