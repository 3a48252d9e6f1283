/** Compares sort keys. Also computes counts and changes of values that may be unknown (null). Pure. */
export const ORDERS = ['desc', 'asc'] as const;
export type Order = (typeof ORDERS)[number];

/** Compares two keys; nulls are last in both orders. Returns 0 for equal keys, so the caller must break ties. */
export function compareKeys<T extends number | string>(a: T | null, b: T | null, order: Order): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b === (order === 'asc') ? -1 : 1;
}

/** Number of distinct makers. Null if there are swaps but no maker is known. */
export function distinctMakers(makers: number, swaps: number): number | null {
  return makers === 0 && swaps > 0 ? null : makers;
}

/** Change from `before` to `now` in percent; null if either is unknown or `before` is not positive. */
export function changePercent(now: number | null, before: number | null): number | null {
  if (now === null || before === null || before <= 0) return null;
  return (now / before - 1) * 100;
}

/** The later of two times; null if both times are null. */
export function latestOf(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
