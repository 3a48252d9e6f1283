/** Builds a value once per head version, when it is first requested. All requests of that version share the value. */
import { steadyNow } from '../../domain/steadyTime';
import type { HeadSnapshot } from './headSnapshot';

/** Number of versions in memory: the current version and the previous one. */
const VERSIONS_KEPT = 2;

export interface PerVersion<T> {
  /**
   * The value of a head version. If building fails, all waiting requests fail with the same error. The next request
   * tries again.
   */
  at(head: HeadSnapshot): Promise<T>;
  /** The finished value of this head version, or null. Runs no query. */
  ready(head: HeadSnapshot): T | null;
  /** The last finished value of any head version; null before the first one, and for a value older than `maxAgeMs`. */
  latest(maxAgeMs?: number): T | null;
}

export function perVersion<T>(make: (head: HeadSnapshot) => Promise<T>): PerVersion<T> {
  const kept = new Map<string, Promise<T>>();
  let last: { readonly version: string; readonly made: T; readonly at: number } | null = null;
  return {
    at(head) {
      const known = kept.get(head.version);
      if (known !== undefined) return known;
      const made = make(head).then((value) => {
        last = { version: head.version, made: value, at: steadyNow() };
        return value;
      });
      kept.set(head.version, made);
      for (const version of [...kept.keys()].slice(0, -VERSIONS_KEPT)) kept.delete(version);
      made.catch(() => kept.delete(head.version));
      return made;
    },
    ready: (head) => (last?.version === head.version ? last.made : null),
    latest: (maxAgeMs = Infinity) => (last !== null && steadyNow() - last.at <= maxAgeMs ? last.made : null),
  };
}
