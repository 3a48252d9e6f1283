/**
 * The holder counts of many tokens, shared by successive head versions. A new head changes the counts of few tokens, so
 * each version stores only what changed since a full copy (base).
 */
import type { HolderCount } from './holderCounts';

/** The holders of a token. Null if the token has no transfer. */
type Held = HolderCount | null;

/** Number of changed tokens from which a new base is made. */
const CHANGES_MAX = 5_000;

export class Holdings {
  constructor(
    private readonly base: ReadonlyMap<string, Held>,
    private readonly changed: ReadonlyMap<string, Held> = new Map(),
  ) {}

  /** The holders of a token; undefined if the token is not counted. */
  get(token: string): Held | undefined {
    const replaced = this.changed.get(token);
    return replaced === undefined ? this.base.get(token) : replaced;
  }

  /** These counts with some replaced. */
  with(changes: ReadonlyMap<string, Held>): Holdings {
    if (changes.size === 0) return this;
    const changed = joined(this.changed, changes);
    return changed.size <= CHANGES_MAX
      ? new Holdings(this.base, changed)
      : new Holdings(joined(this.base, changed));
  }
}

function joined(
  below: ReadonlyMap<string, Held>,
  above: ReadonlyMap<string, Held>,
): ReadonlyMap<string, Held> {
  const joinedMap = new Map(below);
  for (const [token, held] of above) joinedMap.set(token, held);
  return joinedMap;
}
