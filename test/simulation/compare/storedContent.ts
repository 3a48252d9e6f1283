/** Reads the canonical rows of every table as bytes, from the model or from the real engine. */
import { createHash } from 'node:crypto';

import { EVENT_TABLE_NAMES } from '../../../src/clickhouse/schema/eventTables';
import type { Database } from '../../../src/clickhouse/client/database';
import { lastOrdOfBlock } from '../../../src/domain/ord';
import { readStoredState } from '../../../src/ingest/store/storedState';
import { TABLE_ENCODERS } from '../../../src/ingest/rows/encodeBlocks';
import type { HeadBlock } from '../../../src/domain/head/foldHead';
import { codeOfTable, sortKeyOf } from '../model/modelTables';
import type { ModelEngine } from '../model/modelEngine';
import type { Fields } from '../model/rowBytes';
import { SIM_CHAIN_ID } from '../chain/simChain';
import { askRows } from '../../support/engine/askRows';

export interface StoredTip {
  readonly startBlock: number;
  readonly finalTo: number;
  readonly head: readonly HeadBlock[];
  readonly number: number;
  readonly hash: string;
}

export interface StoredContent extends StoredTip {
  /** Canonical rows by table, in any order. Each row is its bytes as latin1 text. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** Rows in the final tables above the last final block, from an unfinished range. */
  readonly beyond: number;
}

export function fieldsOf(table: string, row: string): Fields {
  return codeOfTable(table).read(Buffer.from(row, 'latin1'));
}

/** Reads the stored start block, last final block and head. Null if no block is ingested yet. */
export async function readTip(database: Database): Promise<StoredTip | null> {
  const state = await readStoredState(database, SIM_CHAIN_ID);
  if (state === null) return null;
  const newestBlock = state.head.at(-1) ?? state.cursor;
  return {
    startBlock: state.startBlock,
    finalTo: state.cursor.number,
    head: state.head,
    number: newestBlock.number,
    hash: newestBlock.hash,
  };
}

export function modelContent(engine: ModelEngine, tip: StoredTip): StoredContent {
  const commits = new Set(tip.head.map(({ commit }) => commit));
  let beyond = 0;
  const rows = new Map(
    EVENT_TABLE_NAMES.map((table) => {
      const lastFinal = table === 'blocks' ? tip.finalTo : lastOrdOfBlock(tip.finalTo);
      const final = engine.finalRows(table).filter((row) => sortKeyOf(table, row.bytes) <= lastFinal);
      beyond += engine.finalRows(table).length - final.length;
      const head = engine.headRows(table).filter((row) => commits.has(row.commit));
      return [table, [...final, ...head].map((row) => row.bytes.toString('latin1'))];
    }),
  );
  return { ...tip, rows, beyond };
}

export async function engineContent(database: Database, tip: StoredTip): Promise<StoredContent> {
  const rows = new Map<string, readonly string[]>();
  let beyond = 0;
  for (const { name, columns } of TABLE_ENCODERS) {
    const positionColumn = name === 'blocks' ? 'number' : 'ord';
    const lastFinal = name === 'blocks' ? tip.finalTo : lastOrdOfBlock(tip.finalTo);
    const params = { last: lastFinal, commits: tip.head.map(({ commit }) => commit) };
    const columnList = columns.join(', ');
    const bytes = await database.selectBinary(
      `content of ${name}`,
      `SELECT ${columnList} FROM ${name} WHERE ${positionColumn} <= {last:UInt64}
       UNION ALL SELECT ${columnList} FROM ${name}_head WHERE has({commits:Array(UInt64)}, commit)`,
      params,
    );
    const splitRows = codeOfTable(name).split(bytes, false);
    rows.set(
      name,
      splitRows.map((row) => row.bytes.toString('latin1')),
    );
    const [rowsBeyond] = await askRows<{ total: string }>(
      database,
      `SELECT count() AS total FROM ${name} WHERE ${positionColumn} > {last:UInt64}`,
      params,
    );
    beyond += Number(rowsBeyond?.total);
  }
  return { ...tip, rows, beyond };
}

/** The hash of the rows of a database that has blocks. */
export async function hashOf({ database }: { readonly database: Database }): Promise<string> {
  const tip = await readTip(database);
  if (tip === null) throw new Error('the database has no block');
  return contentHash(await engineContent(database, tip));
}

/** The hash does not depend on the order of rows, or on storage in final or head tables. */
export function contentHash({ rows }: Pick<StoredContent, 'rows'>): string {
  const hash = createHash('sha256');
  for (const [table, tableRows] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${table} ${tableRows.length}\n`);
    for (const row of [...tableRows].sort()) hash.update(row, 'latin1');
  }
  return hash.digest('hex').slice(0, 16);
}
