/**
 * A queue for the work of several clients. Clients take turns: each has one item per round. Within a round, the
 * smallest item comes first.
 */

interface Entry<T> {
  readonly item: T;
  readonly client: string;
  readonly size: number;
  readonly round: number;
}

/** `add` and `take` look at all entries, so the owner must limit their number. */
export class FairQueue<T> {
  private entries: readonly Entry<T>[] = [];
  /** Number of the current round. New work joins a later round, so every round ends. */
  private round = 0;

  get length(): number {
    return this.entries.length;
  }

  /** Sum of the sizes of all entries. */
  get size(): number {
    return this.entries.reduce((sum, { size }) => sum + size, 0);
  }

  add(item: T, client: string, size: number): void {
    const ownEntries = this.entries.filter((entry) => entry.client === client);
    const round = Math.max(this.round, ...ownEntries.map((entry) => entry.round)) + 1;
    this.entries = [...this.entries, { item, client, size, round }];
  }

  /** Removes and returns the next item; null if the queue is empty. */
  take(): T | null {
    const [nextEntry] = [...this.entries].sort((a, b) => a.round - b.round || a.size - b.size);
    if (nextEntry === undefined) return null;
    this.round = nextEntry.round;
    this.entries = this.entries.filter((entry) => entry !== nextEntry);
    return nextEntry.item;
  }

  clear(): void {
    this.entries = [];
  }
}
