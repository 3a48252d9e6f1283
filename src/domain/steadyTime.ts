/**
 * Time that only goes forward: what is measured by it (ages, pauses, deadlines) does not notice when somebody sets the
 * machine's clock. Only what is compared with block timestamps is read from the clock itself.
 */

/** Milliseconds; near unix time when the process began, and from then on independent of the clock. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
