/**
 * Sorts the same list by different keys. Each order is computed on first use and kept as long as the list. Also compares
 * keys, and computes counts and changes of values that may be unknown (null).
 */
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

/** The value; null if it is unknown or beyond all floats. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** The later of two times; null if both times are null. */
export function latestOf(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

interface Ranked {
  readonly address: string;
}

/** The indexes of a list's items, in one order. */
type ItemIndexes = Uint32Array;

/**
 * Orders lists by a key. Nulls are last in both orders; ties by address ascending. Sorting typed keys is much faster
 * than comparing items.
 */
export class Rankings<T, S extends string> {
  private readonly ordersByList = new WeakMap<readonly T[], Map<string, readonly T[]>>();

  constructor(
    private readonly itemOf: (entry: T) => Ranked,
    private readonly keyOf: (entry: T, sort: S) => number | string | null,
  ) {}

  /** The entries in this order. The list must not change afterwards. */
  sorted(entries: readonly T[], sort: S, order: Order): readonly T[] {
    const listsByOrder = this.ordersByList.get(entries) ?? new Map<string, readonly T[]>();
    this.ordersByList.set(entries, listsByOrder);
    const orderName = `${sort} ${order}`;
    const keptList = listsByOrder.get(orderName);
    if (keptList !== undefined) return keptList;
    const sortedEntries: T[] = [];
    for (const itemIndex of this.rankIndexes(entries, sort, order)) {
      const entry = entries[itemIndex];
      if (entry !== undefined) sortedEntries.push(entry);
    }
    listsByOrder.set(orderName, sortedEntries);
    return sortedEntries;
  }

  private rankIndexes(entries: readonly T[], sort: S, order: Order): ItemIndexes {
    const indexes = this.indexesByAddress(entries);
    const keyNumbers = toNumbers(entries.map((entry) => this.keyOf(entry, sort)));
    const orderSign = order === 'asc' ? 1 : -1;
    const nullIndexes = indexes.filter((itemIndex) => Number.isNaN(keyNumbers[itemIndex]));
    const numberIndexes = indexes.filter((itemIndex) => !Number.isNaN(keyNumbers[itemIndex]));
    // The sort is stable, so ties stay in address order.
    numberIndexes.sort((a, b) => {
      const [numberA, numberB] = [keyNumbers[a] ?? NaN, keyNumbers[b] ?? NaN];
      return numberA === numberB ? 0 : numberA < numberB ? -orderSign : orderSign;
    });
    indexes.set(numberIndexes);
    indexes.set(nullIndexes, numberIndexes.length);
    return indexes;
  }

  private indexesByAddress(entries: readonly T[]): ItemIndexes {
    const addresses = entries.map((entry) => this.itemOf(entry).address);
    const indexes = Uint32Array.from(entries, (_, itemIndex) => itemIndex);
    const isSorted = addresses.every((address, itemIndex) => (addresses[itemIndex - 1] ?? '') <= address);
    if (isSorted) return indexes;
    return indexes.sort((a, b) => ((addresses[a] ?? '') < (addresses[b] ?? '') ? -1 : 1));
  }
}

/** Numbers that sort like the keys: null becomes NaN, and a text becomes its rank among all texts. */
function toNumbers(keys: readonly (number | string | null)[]): Float64Array {
  const texts = [...new Set(keys.filter((key) => typeof key === 'string'))].sort();
  const rankOf = new Map(texts.map((text, rank) => [text, rank]));
  return Float64Array.from(keys, (key) =>
    key === null ? NaN : typeof key === 'string' ? (rankOf.get(key) ?? NaN) : key,
  );
}
