/**
 * Splits a query for many items into several queries, one after the other. This bounds the query text and the memory.
 */

/** Largest number of addresses per query. Their text is about 50 kB. */
export const ADDRESSES_MAX = 1_000;

/** Collects all answers of `read`, each for at most `size` items. */
export async function inChunks<T, Row>(
  items: readonly T[],
  read: (chunk: readonly T[]) => Promise<readonly Row[]>,
  size = ADDRESSES_MAX,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const slice of slicesOf(items, size)) for (const row of await read(slice)) rows.push(row);
  return rows;
}

/** Splits the items, in their order, into slices of at most `size` items. */
export function slicesOf<T>(items: readonly T[], size: number): (readonly T[])[] {
  const slices: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += size) slices.push(items.slice(from, from + size));
  return slices;
}
