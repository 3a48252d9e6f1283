/**
 * A monotonic clock for ages, pauses and deadlines, unaffected by changes of the machine's clock. Only comparisons
 * with block timestamps use the machine's clock.
 */

/** Milliseconds. The value starts near unix time at the start of the process, and then runs independently of
 * the machine's clock. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
