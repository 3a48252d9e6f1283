/** How lists are ordered and what is unknown in counts and sums. Pure. */
export const ORDERS = ['desc', 'asc'] as const;
export type Order = (typeof ORDERS)[number];

/** Compares two keys in an order; nulls come last in both. Equal keys give 0: the caller breaks ties. */
export function compareKeys<T extends number | string>(a: T | null, b: T | null, order: Order): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b === (order === 'asc') ? -1 : 1;
}

/** Distinct makers; swaps without any known maker leave the number unknown. */
export function distinctMakers(makers: number, swaps: number): number | null {
  return makers === 0 && swaps > 0 ? null : makers;
}

/** Change from `before` to `now` in percent; null where either is unknown or there is nothing to compare with. */
export function changePercent(now: number | null, before: number | null): number | null {
  if (now === null || before === null || before <= 0) return null;
  return (now / before - 1) * 100;
}

/** The larger of two times; null where neither is known. */
export function latestOf(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
