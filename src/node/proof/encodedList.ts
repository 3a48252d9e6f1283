/**
 * Encoded items in one piece of memory. While blocks wait to be stored, their transactions stay in memory. As objects,
 * they would cost almost as much as the proof itself, because the garbage collector copies them.
 */
export class EncodedList {
  private readonly bytes: Buffer;
  private readonly ends: Uint32Array;

  constructor(items: readonly Uint8Array[]) {
    this.bytes = Buffer.concat(items);
    this.ends = new Uint32Array(items.length);
    let end = 0;
    for (const [index, item] of items.entries()) this.ends[index] = end += item.length;
  }

  /** Empty if the list has no such item. */
  at(index: number): Uint8Array {
    return this.bytes.subarray(index === 0 ? 0 : this.ends[index - 1], this.ends[index] ?? 0);
  }
}
