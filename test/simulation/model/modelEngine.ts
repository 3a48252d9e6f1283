/**
 * A model of the database in memory that survives crashes. Holds final tables with deduplication windows, partitioned
 * head tables, view targets, and the tables promotions and head_blocks, with which the ingester commits. Each step is
 * atomic. The connection decides whether a crash happens between two steps.
 */
import type { ProofLevel } from '../../../src/domain/block';
import { EVENT_TABLE_NAMES } from '../../../src/clickhouse/schema/eventTables';
import {
  blockOf,
  codeOfTable,
  sortKeyOf,
  StoredRow,
  TokenWindow,
  type FinalTable,
  type HeadHeight,
  type PromotionRow,
} from './modelTables';
import { ModelViews } from './modelViews';
import type { Fields } from './rowBytes';

/** Blocks per partition: HEAD_PARTITION for the head tables, HEIGHTS_PARTITION for head_blocks. */
const HEAD_PARTITION = 256;
const HEIGHTS_PARTITION = 1_024;

/** One atomic step of an insert: its effect on one table. */
export type Step = () => void;

export class ModelEngine {
  readonly finals = new Map<string, FinalTable>();
  /** Rows by partition. */
  readonly heads = new Map<string, Map<number, StoredRow[]>>();
  readonly promotions: PromotionRow[] = [];
  heights: HeadHeight[] = [];
  readonly tokens = new Map<string, Fields>();
  readonly oddTokens = new Map<string, Fields>();
  readonly views = new ModelViews();
  /** Number of statements that their senders gave up, but that still take effect later. */
  lateStatements = 0;
  /** How far the running process proves blocks. */
  level: ProofLevel = 'bloom';

  constructor() {
    for (const name of EVENT_TABLE_NAMES) {
      this.finals.set(name, { rows: [], window: new TokenWindow() });
      this.heads.set(`${name}_head`, new Map());
    }
  }

  /** The steps of inserting RowBinary bytes. */
  insertSteps(table: string, body: Buffer, token: string | undefined): Step[] {
    const code = codeOfTable(table);
    const head = this.heads.get(table);
    const rows = code
      .split(Buffer.from(body), head !== undefined)
      .map(({ commit, bytes }) => new StoredRow(code, commit, bytes, this.level));
    if (head !== undefined) return [() => this.addToHead(table, head, rows)];
    if (table === 'head_blocks')
      return [() => rows.forEach(({ fields }) => this.heights.push(toHeight(fields)))];
    if (table === 'tokens') return [() => rows.forEach(({ fields }) => this.addToken(fields))];
    if (table === 'odd_tokens')
      return [() => rows.forEach(({ fields }) => this.oddTokens.set(String(fields['token']), fields))];
    return this.finalSteps(table, rows, token);
  }

  /** The steps of INSERT INTO table SELECT … FROM its head table WHERE has(commits, commit) ORDER BY ord. */
  promoteSteps(table: string, commits: readonly number[], token: string | undefined): Step[] {
    const wantedCommits = new Set(commits);
    const rows = [...this.headRows(table)]
      .filter((row) => wantedCommits.has(row.commit))
      .map((row) => row.withCommit(0));
    const sortKeyByRow = new Map(rows.map((row) => [row, sortKeyOf(table, row.bytes)]));
    rows.sort((a, b) => sortKeyByRow.get(a)! - sortKeyByRow.get(b)!);
    return this.finalSteps(table, rows, token);
  }

  headRows(table: string): StoredRow[] {
    return [...this.heads.get(`${table}_head`)!.values()].flat();
  }

  finalRows(table: string): readonly StoredRow[] {
    return this.finals.get(table)!.rows;
  }

  partitions(): { table: string; partition: string }[] {
    const partitions = [...this.heads].flatMap(([table, rows]) =>
      [...rows.keys()].map((partition) => ({ table, partition: String(partition) })),
    );
    const heights = new Set(this.heights.map(({ number }) => Math.floor(number / HEIGHTS_PARTITION)));
    return [
      ...partitions,
      ...[...heights].map((partition) => ({ table: 'head_blocks', partition: String(partition) })),
    ];
  }

  dropPartition(table: string, partition: number): void {
    if (table === 'head_blocks')
      this.heights = this.heights.filter(
        ({ number }) => Math.floor(number / HEIGHTS_PARTITION) !== partition,
      );
    else this.heads.get(table)!.delete(partition);
  }

  private finalSteps(table: string, rows: readonly StoredRow[], token: string | undefined): Step[] {
    if (rows.length === 0) return [];
    const { rows: storedRows, window } = this.finals.get(table)!;
    const source: Step = () => {
      if (window.take(token)) storedRows.push(...rows);
    };
    const views = this.views.views.filter((view) => view.source === table);
    return [
      source,
      ...views.map((view): Step => () => {
        if (view.window.take(token)) view.apply(rows.map((row) => row.fields));
      }),
    ];
  }

  private addToHead(table: string, head: Map<number, StoredRow[]>, rows: readonly StoredRow[]): void {
    const name = table.replace(/_head$/, '');
    for (const row of rows) {
      const partition = Math.floor(blockOf(name, row.bytes) / HEAD_PARTITION);
      const knownRows = head.get(partition);
      if (knownRows === undefined) head.set(partition, [row]);
      else knownRows.push(row);
    }
  }

  private addToken(fields: Fields): void {
    const address = String(fields['address']);
    const knownToken = this.tokens.get(address);
    if (knownToken === undefined || Number(fields['version']) >= Number(knownToken['version']))
      this.tokens.set(address, fields);
  }
}

function toHeight(fields: Fields): HeadHeight {
  return {
    number: Number(fields['number']),
    hash: String(fields['hash']),
    parentHash: String(fields['parent_hash']),
    timestamp: Number(fields['timestamp']),
    commit: Number(fields['commit']),
    version: Number(fields['version']),
    finalNumber: Number(fields['final_number']),
    proof: fields['proof'] as ProofLevel,
  };
}
