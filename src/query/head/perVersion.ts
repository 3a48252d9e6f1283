/** Something made once per head version, on first demand, and shared by all who ask for that version. */
import type { HeadSnapshot } from './headSnapshot';

/** So many head versions are kept: the running one and the one before. */
const VERSIONS_KEPT = 2;

export interface PerVersion<T> {
  /** What belongs to a head version. A failure is given to all who wait and is not kept. */
  at(head: HeadSnapshot): Promise<T>;
  /** The value of this head version if it is made already, else null. Runs no query. */
  ready(head: HeadSnapshot): T | null;
  /** The value that was made last, of any head version; null before the first one. */
  latest(): T | null;
}

export function perVersion<T>(make: (head: HeadSnapshot) => Promise<T>): PerVersion<T> {
  const kept = new Map<string, Promise<T>>();
  let last: { readonly version: string; readonly made: T } | null = null;
  return {
    at(head) {
      const known = kept.get(head.version);
      if (known !== undefined) return known;
      const made = make(head).then((value) => {
        last = { version: head.version, made: value };
        return value;
      });
      kept.set(head.version, made);
      for (const version of [...kept.keys()].slice(0, -VERSIONS_KEPT)) kept.delete(version);
      made.catch(() => kept.delete(head.version));
      return made;
    },
    ready: (head) => (last?.version === head.version ? last.made : null),
    latest: () => last?.made ?? null,
  };
}
