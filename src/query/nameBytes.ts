/**
 * Names in one piece of memory, in which a text is looked for as bytes. Rows are RowBinary: an address, what of its names is searched
 * (in lower case, each behind '\t ' and before '\n'), then whatever the caller keeps of it; those first that matter most.
 */
import { RowReader } from '../clickhouse/rowReader';

/** Of a text in more names than this those are looked for first that are called so, then that begin so, then the rest. */
const LOOKED_AT_MAX = 5_000;
export const ADDRESS_BYTES = 20;

export interface NameBytes {
  readonly bytes: Buffer;
  /** Where each row begins, and the end of the last. */
  readonly starts: Uint32Array;
}

/** `skipRest`: reads over what stands behind the searched names. */
export function toNameBytes(bytes: Buffer, skipRest: (row: RowReader) => void): NameBytes {
  const starts: number[] = [];
  const reader = new RowReader(bytes);
  while (!reader.done) {
    starts.push(reader.position);
    reader.skip(ADDRESS_BYTES);
    reader.slice();
    skipRest(reader);
  }
  return { bytes, starts: Uint32Array.from([...starts, bytes.length]) };
}

/** At the beginning of a row. */
export function readerAt({ bytes, starts }: NameBytes, row: number): RowReader {
  const reader = new RowReader(bytes);
  reader.skip(starts[row] ?? bytes.length);
  return reader;
}

/** From all of a name to any part of it: what is looked for. */
export const kindsOf = (text: string): string[] => [`\t ${text}\n`, `\t ${text}`, ` ${text}`, text];

/** Rows with the text (lower case, not empty) by the first of kindsOf that they have, the first `most` of each. */
export function findRows(base: NameBytes, text: string, most: number): number[][] {
  const kinds = kindsOf(text);
  // What stands between names is in none of them.
  if (/[\t\n]/.test(text)) return kinds.map(() => []);
  const parts = kinds.map((part) => Buffer.from(part));
  const any = parts.at(-1) ?? Buffer.alloc(0);
  const rows = rowsWith(base, any, LOOKED_AT_MAX + 1);
  const found = kinds.map((): number[] => []);
  if (rows.length <= LOOKED_AT_MAX) {
    for (const row of rows) {
      const both = bothOf(base, row);
      const mine = found[parts.findIndex((part) => both.includes(part))];
      if (mine !== undefined && mine.length < most) mine.push(row);
    }
    return found;
  }
  const seen = new Set<number>();
  for (const [kind, part] of parts.entries()) {
    if (seen.size >= most) break;
    for (const row of rowsWith(base, part, most + seen.size)) {
      if (!seen.has(row)) found[kind]?.push(row);
      seen.add(row);
    }
  }
  return found;
}

/** The first rows that have the bytes in their `both`, ascending, at most `most`. */
function rowsWith(base: NameBytes, part: Buffer, most: number): number[] {
  const { bytes, starts } = base;
  const rows: number[] = [];
  for (let from = 0; rows.length < most;) {
    const at = bytes.indexOf(part, from);
    if (at < 0) break;
    const row = rowAt(starts, at);
    const both = bothOf(base, row);
    const first = both.byteOffset - bytes.byteOffset;
    if (at >= first && at + part.length <= first + both.length) rows.push(row);
    // In an address it means nothing; behind `both` it stands again, as it was written.
    from = at < first ? first : (starts[row + 1] ?? bytes.length);
  }
  return rows;
}

/** The row in which a byte stands. */
function rowAt(starts: Uint32Array, at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle;
  }
  return low;
}

function bothOf(base: NameBytes, row: number): Buffer {
  const reader = readerAt(base, row);
  reader.skip(ADDRESS_BYTES);
  return reader.slice();
}
