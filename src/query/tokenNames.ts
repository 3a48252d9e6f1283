/**
 * What all tokens are called, in memory: a text is looked for in one piece of bytes, in which the busiest tokens come first, so
 * that of a thousand namesakes those are found that somebody uses.
 */
import type { QueryRunner } from '../clickhouse/namedQueries';
import type { RowReader } from '../clickhouse/rowReader';
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/steadyTime';
import { ADDRESS_BYTES, findRows, kindsOf, readerAt, toNameBytes, type NameBytes } from './nameBytes';
import { readMark } from './tableMark';
import { createTableMirror, type MirroredTable, type MirrorOptions } from './tableMirror';

/** Tokens beyond that are not found by name; some 100 bytes each. */
const TOKENS_MAX = 500_000;
/** Who is how busy is as of so long ago. */
const RANKED_MS = 600_000;

export interface NamedToken {
  readonly address: Hex;
  readonly symbol: string | null;
  readonly name: string | null;
}

export interface TokenNames {
  /**
   * Tokens with the text (lower case, no space around, not empty) in what they are called now: those first whose symbol or name it
   * is, then those where one begins so, then a word of one, then all others; of the same kind the busier ones.
   */
  find(text: string, limit: number): Promise<NamedToken[]>;
}

/** As list_token_names has it. */
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
      return toNameBytes(bytes, (row) => {
        for (let left = 2; left > 0; left -= 1) row.orNull(() => row.slice());
      });
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
  for (const [kind, rows] of findRows(base, text, most).entries())
    for (const row of rows) {
      const { address, symbol, name } = readName(readerAt(base, row));
      if (!replaced.has(address)) note(kind, { address, symbol, name });
    }
  return byKind.flat().slice(0, limit);
}
