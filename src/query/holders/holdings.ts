/**
 * The holder counts of many tokens, shared by successive head versions. A new head changes the counts of few tokens, so
 * each version stores only what changed since a full copy (base).
 */
import type { HolderCount } from './holderCounts';

/** The holders of a token. Null if the token has no transfer. */
type TokenCount = HolderCount | null;

/** Number of changed tokens from which a new base is made. */
const CHANGES_MAX = 5_000;

export class Holdings {
  constructor(
    private readonly baseCounts: ReadonlyMap<string, TokenCount>,
    private readonly changedCounts: ReadonlyMap<string, TokenCount> = new Map(),
  ) {}

  /** The holders of a token; undefined if the token is not counted. */
  get(token: string): TokenCount | undefined {
    const changedCount = this.changedCounts.get(token);
    return changedCount === undefined ? this.baseCounts.get(token) : changedCount;
  }

  /** These counts with some replaced. */
  with(changes: ReadonlyMap<string, TokenCount>): Holdings {
    if (changes.size === 0) return this;
    const allChanges = withReplaced(this.changedCounts, changes);
    return allChanges.size <= CHANGES_MAX
      ? new Holdings(this.baseCounts, allChanges)
      : new Holdings(withReplaced(this.baseCounts, allChanges));
  }
}

function withReplaced(
  oldCounts: ReadonlyMap<string, TokenCount>,
  newCounts: ReadonlyMap<string, TokenCount>,
): ReadonlyMap<string, TokenCount> {
  const counts = new Map(oldCounts);
  for (const [token, newCount] of newCounts) counts.set(token, newCount);
  return counts;
}
