/** Waiting work of several clients. Clients take turns; within one round the smallest piece of work goes first. */

interface Entry<T> {
  readonly item: T;
  readonly client: string;
  readonly size: number;
  readonly round: number;
}

/** The owner bounds the number of entries: `add` and `take` look at all of them. */
export class FairQueue<T> {
  #entries: readonly Entry<T>[] = [];
  /** The round that is being served. New work joins a later one, so a round always ends. */
  #round = 0;

  get length(): number {
    return this.#entries.length;
  }

  /** Sum of the sizes of all entries. */
  get size(): number {
    return this.#entries.reduce((sum, { size }) => sum + size, 0);
  }

  add(item: T, client: string, size: number): void {
    const own = this.#entries.filter((entry) => entry.client === client);
    const round = Math.max(this.#round, ...own.map((entry) => entry.round)) + 1;
    this.#entries = [...this.#entries, { item, client, size, round }];
  }

  /** The next item; null when nothing waits. */
  take(): T | null {
    const [next] = [...this.#entries].sort((a, b) => a.round - b.round || a.size - b.size);
    if (next === undefined) return null;
    this.#round = next.round;
    this.#entries = this.#entries.filter((entry) => entry !== next);
    return next.item;
  }

  clear(): void {
    this.#entries = [];
  }
}
