/**
 * Keeps the value of a view for each head version. The value is made when it is first requested, from the value of the
 * head before if the view can. All requests of a version share the value.
 */
import { diffHeads, type HeadDiff } from '../../domain/head/diffHeads';
import { steadyNow } from '../../domain/time/steadyTime';
import type { HeadSnapshot } from './headSnapshot';

/** Number of versions in memory: the current version and the previous one. */
const VERSIONS_KEPT = 2;

export interface HeadChange extends HeadDiff {
  readonly from: HeadSnapshot;
  readonly to: HeadSnapshot;
}

/** A value that follows from the rows of a head. It never changes once it is made. */
export interface HeadView<V> {
  /** Reads the value at a head from all rows. */
  read(head: HeadSnapshot): Promise<V>;
  /**
   * Makes the value at `change.to` from the value at `change.from`, with less work than `read`. Null means that the
   * value must be read. `change.to` may be older than `change.from`.
   */
  update?(before: V, change: HeadChange): Promise<V | null>;
}

export interface PerVersion<V> {
  /**
   * The value of a head version. If building fails, all waiting requests fail with the same error. The next request
   * tries again.
   */
  at(head: HeadSnapshot): Promise<V>;
  /** The finished value of this head version, or null. Runs no query. */
  ready(head: HeadSnapshot): V | null;
  /** The last finished value of any head version; null before the first one, and for a value older than `maxAgeMs`. */
  latest(maxAgeMs?: number): V | null;
}

export function perVersion<V>(view: HeadView<V>): PerVersion<V> {
  const valueByVersion = new Map<string, Promise<V>>();
  let lastValue: { readonly head: HeadSnapshot; readonly value: V; readonly madeAt: number } | null = null;
  const make = async (head: HeadSnapshot): Promise<V> => {
    const updatedValue =
      lastValue === null ? null : await view.update?.(lastValue.value, changeOf(lastValue.head, head));
    const value = updatedValue ?? (await view.read(head));
    lastValue = { head, value, madeAt: steadyNow() };
    return value;
  };
  return {
    at(head) {
      const cachedValue = valueByVersion.get(head.version);
      if (cachedValue !== undefined) return cachedValue;
      const valueRead = make(head);
      valueByVersion.set(head.version, valueRead);
      for (const version of [...valueByVersion.keys()].slice(0, -VERSIONS_KEPT))
        valueByVersion.delete(version);
      valueRead.catch(() => valueByVersion.delete(head.version));
      return valueRead;
    },
    ready: (head) => (lastValue?.head.version === head.version ? lastValue.value : null),
    latest: (maxAgeMs = Infinity) =>
      lastValue !== null && steadyNow() - lastValue.madeAt <= maxAgeMs ? lastValue.value : null,
  };
}

function changeOf(from: HeadSnapshot, to: HeadSnapshot): HeadChange {
  return { ...diffHeads(from, to), from, to };
}
