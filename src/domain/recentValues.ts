/**
 * Remembers a value that follows from a key, for recent keys and in bounded memory. When the newer half is full, the
 * older half is dropped.
 */
export class RecentValues<Key, Value extends NonNullable<unknown>> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();

  constructor(
    /** Number of entries in each half. */
    private readonly itemsMax: number,
    private readonly compute: (key: Key) => Value,
  ) {}

  get(key: Key): Value {
    const youngValue = this.young.get(key);
    if (youngValue !== undefined) return youngValue;
    const value = this.old.get(key) ?? this.compute(key);
    if (this.young.size >= this.itemsMax) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, value);
    return value;
  }
}
