/**
 * What all tokens are called, in memory: a text is looked for in one piece of bytes, in which the busiest tokens come first, so
 * that of a thousand namesakes those are found that somebody uses.
 */
import type { QueryRunner } from '../clickhouse/namedQueries';
import { RowReader } from '../clickhouse/rowReader';
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/steadyTime';
import { readMark } from './tableMark';
import { createTableMirror, type MirroredTable, type MirrorOptions } from './tableMirror';

/** Tokens beyond that are not found by name; some 100 bytes each. */
const TOKENS_MAX = 500_000;
/** Who is how busy is as of so long ago. */
const RANKED_MS = 600_000;
/** Of a text in more names than this those are looked for first that are called so, then that begin so, then the rest. */
const LOOKED_AT_MAX = 5_000;
const ADDRESS_BYTES = 20;

export interface NamedToken {
  readonly address: Hex;
  readonly symbol: string | null;
  readonly name: string | null;
}

export interface TokenNames {
  /**
   * Tokens with the text (lower case, not empty) in what they are called now: those first whose symbol or name it is, then those
   * where one begins so, then a word of one, then all others; of the same kind the busier ones.
   */
  find(text: string, limit: number): Promise<NamedToken[]>;
}

/** Rows as list_token_names has them. */
interface NameBytes {
  readonly bytes: Buffer;
  /** Where each row begins, and the end of the last. */
  readonly starts: Uint32Array;
}

interface NameRow extends NamedToken {
  readonly both: string;
}

export function createTokenNames(
  runner: QueryRunner,
  chainId: number,
  options: MirrorOptions = {},
): TokenNames {
  const { now = steadyNow } = options;
  const ask = { chain_id: chainId, limit: TOKENS_MAX, version: 0 };
  let rankedAt = -Infinity;
  const table: MirroredTable<NameBytes, NameRow> = {
    readMark: () => readMark(runner, 'pairs/mark_tokens'),
    async readBase() {
      const all = { ...ask, newer: false, all: true };
      const bytes = await runner.write('explorer/list_token_names', all, 'RowBinary');
      rankedAt = now();
      return { bytes, starts: startsOf(bytes) };
    },
    readNewer(version, limit) {
      const newer = { ...ask, newer: true, all: false, version, limit };
      return runner.read('explorer/list_token_names', newer, readName);
    },
  };
  const mirror = createTableMirror(table, options);
  return {
    async find(text, limit) {
      const { base, newer } = await mirror.read();
      // Whoever asks next tries again.
      if (now() - rankedAt > RANKED_MS) mirror.renew().catch(() => undefined);
      return findNamed(base, newer, text, limit);
    },
  };
}

function readName(row: RowReader): NameRow {
  const text = (): string => row.text();
  return {
    address: row.hex0x(ADDRESS_BYTES),
    both: row.text(),
    symbol: row.orNull(text),
    name: row.orNull(text),
  };
}

function startsOf(bytes: Buffer): Uint32Array {
  const starts: number[] = [];
  const reader = new RowReader(bytes);
  const skip = (): Buffer => reader.slice();
  while (!reader.done) {
    starts.push(reader.position);
    reader.skip(ADDRESS_BYTES);
    skip();
    reader.orNull(skip);
    reader.orNull(skip);
  }
  return Uint32Array.from([...starts, bytes.length]);
}

/** From all of a name to any part of it: what of `both` is looked for. */
const kindsOf = (text: string): string[] => [`\t ${text}\n`, `\t ${text}`, ` ${text}`, text];

function findNamed(base: NameBytes, newer: readonly NameRow[], text: string, limit: number): NamedToken[] {
  const kinds = kindsOf(text);
  const byKind = kinds.map((): NamedToken[] => []);
  const note = (kind: number, token: NamedToken): void => void byKind[kind]?.push(token);
  const replaced = new Set<Hex>();
  // The newest version comes first.
  for (const { both, ...token } of newer) {
    const kind = replaced.has(token.address) ? -1 : kinds.findIndex((part) => both.includes(part));
    replaced.add(token.address);
    note(kind, token);
  }
  const most = limit + replaced.size;
  for (const [kind, rows] of findRows(base, kinds, most).entries())
    for (const row of rows) {
      const { both, ...token } = readName(new RowReader(base.bytes.subarray(base.starts[row])));
      if (!replaced.has(token.address) && both.includes(text)) note(kind, token);
    }
  return byKind.flat().slice(0, limit);
}

/** Rows by the first kind that they have, at most `most` of each. */
function findRows(base: NameBytes, kinds: readonly string[], most: number): number[][] {
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

function bothOf({ bytes, starts }: NameBytes, row: number): Buffer {
  const reader = new RowReader(bytes);
  reader.skip((starts[row] ?? 0) + ADDRESS_BYTES);
  return reader.slice();
}
