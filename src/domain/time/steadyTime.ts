/**
 * A monotonic clock for ages, pauses and deadlines, unaffected by changes of the machine's clock. Only comparisons
 * with block timestamps use the machine's clock.
 */

/**
 * Returns milliseconds. At the start of the process the value is near unix time; later changes of the
 * machine's clock do not affect it.
 */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
