/**
 * The tables of the model. They hold rows as inserted bytes, and final tables also hold the tokens of the last inserts.
 */
import { EVENT_TABLE_NAMES, EVENT_TABLES } from '../../../src/clickhouse/schema/eventTables';
import { headBlocksTable, oddTokensTable, tokensTable } from '../../../src/clickhouse/schema/tables';
import type { ProofLevel } from '../../../src/domain/block';
import { RowCode, type Fields } from './rowBytes';

const DESCRIBED = EVENT_TABLE_NAMES.map((name) => EVENT_TABLES[name].table);

const CODES = new Map(
  [...DESCRIBED, headBlocksTable, tokensTable, oddTokensTable].map((table) => [
    table.name,
    new RowCode({ columns: table.columns, types: table.sqlTypes }),
  ]),
);

export function codeOfTable(name: string): RowCode {
  const code = CODES.get(name.replace(/^(?!head_blocks)(.*)_head$/, '$1'));
  if (code === undefined) throw new Error(`the model has no table ${name}`);
  return code;
}

/** How many insert tokens a table remembers (non_replicated_deduplication_window in the schema). */
const TOKENS_KEPT = 1_000;
/** Number of positions (`ord`) of one block. */
const ORDS_PER_BLOCK = 2 ** 20;

export class StoredRow {
  private decodedFields: Fields | null = null;

  constructor(
    private readonly code: RowCode,
    /** Commit of the row; 0 in final tables. */
    readonly commit: number,
    readonly bytes: Buffer,
    /** How far the process that sent the row had proven its block. */
    readonly level: ProofLevel,
  ) {}

  get fields(): Fields {
    this.decodedFields ??= this.code.read(this.bytes);
    return this.decodedFields;
  }

  withCommit(commit: number): StoredRow {
    const copy = new StoredRow(this.code, commit, this.bytes, this.level);
    copy.decodedFields = this.decodedFields;
    return copy;
  }
}

/** Sort key of a row: its ord, or the number of a block. Reads the key without decoding the row. */
export function sortKeyOf(table: string, bytes: Buffer): number {
  if (table === 'blocks') return bytes.readUInt32LE(4);
  return Number(bytes.readBigUInt64LE(table === 'logs' ? 4 : 0));
}

export function blockOf(table: string, bytes: Buffer): number {
  const sortKey = sortKeyOf(table, bytes);
  return table === 'blocks' ? sortKey : Math.floor(sortKey / ORDS_PER_BLOCK);
}

/** Remembers the tokens of the last inserts. */
export class TokenWindow {
  private readonly tokens = new Set<string>();

  /** Returns false for a repeated token. An insert without a token is never a repetition. */
  take(token: string | undefined): boolean {
    if (token === undefined) return true;
    if (this.tokens.has(token)) return false;
    this.tokens.add(token);
    if (this.tokens.size > TOKENS_KEPT) {
      const [oldest] = this.tokens;
      this.tokens.delete(oldest!);
    }
    return true;
  }
}

export interface FinalTable {
  readonly rows: StoredRow[];
  readonly window: TokenWindow;
}

export interface PromotionRow {
  readonly seq: number;
  readonly status: 'intent' | 'done';
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly toHash: string;
  readonly toTimestamp: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly proof: ProofLevel;
}

export interface HeadHeight {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: number;
  readonly commit: number;
  readonly version: number;
  readonly finalNumber: number;
  readonly proof: ProofLevel;
}
