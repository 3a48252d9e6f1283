/** Rows of the same length in one piece of memory, ascending by the bytes that each begins with. */

export interface SortedRows {
  readonly bytes: Buffer;
  /** Of a row. */
  readonly rowBytes: number;
}

/** Where the first row that begins with the key stands in `bytes`; null: none does. */
export function findRow({ bytes, rowBytes }: SortedRows, key: Buffer): number | null {
  let [low, high] = [0, bytes.length / rowBytes];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = middle * rowBytes;
    if (key.compare(bytes, at, at + key.length) <= 0) high = middle;
    else low = middle + 1;
  }
  const at = low * rowBytes;
  return at < bytes.length && key.compare(bytes, at, at + key.length) === 0 ? at : null;
}
