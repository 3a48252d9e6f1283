/**
 * A monotonic clock for ages, pauses and deadlines, unaffected by changes of the machine's clock. Only comparisons
 * with block timestamps use the machine's clock.
 */

/** Milliseconds. Starts near unix time at process start, then runs independently of the clock. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
