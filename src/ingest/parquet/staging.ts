/**
 * Keeps the rows of Parquet files in a database of its own, next to the market's database, from which they are read
 * block by block. ClickHouse reads the files itself: each file is the body of an INSERT. The database is dropped at the
 * end, and at the next start if the program was killed.
 */
import type { Readable } from 'node:stream';

import { openFileInserter, type FileInserter } from '../../clickhouse/client/fileInserter';
import type { Database } from '../../clickhouse/client/database';
import { openSideDatabase, type SideDatabase } from '../../clickhouse/client/sideDatabase';
import { commandNamed, commandText, selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { array, nullable, text, u64, wideU64 } from '../../clickhouse/rows/columns';
import { rowType, tuple } from '../../clickhouse/rows/rowType';
import { AppError } from '../../errors';
import type { FilePlace } from './filePlace';
import { DATASET_NAMES, insertStatement, type DatasetName, type FoundColumn } from './datasets';
import type { ParquetFile } from './filePlan';
import type { PieceRows } from './joinRows';
import {
  blockRow,
  fileFault,
  logRow,
  ParquetRows,
  transactionRow,
  type ParquetBlock,
  type PathOf,
} from './parquetRows';

/** Facts from the footer of a file. */
export interface Footer {
  readonly rows: number;
  readonly columns: readonly FoundColumn[];
  /** Least and largest block number; null if the file has no statistics. */
  readonly blocks: { readonly from: number; readonly to: number } | null;
}

const footerRow = rowType({
  num_rows: u64,
  columns: array(tuple(text, text, text)),
  blocks: array(tuple(text, text)),
});
/** A row of another chain, or of a block outside the range of its file. */
const strayRow = rowType({ block_number: wideU64, chain_id: nullable(wideU64) });

const CREATE: Readonly<Record<DatasetName, string>> = {
  blocks: 'parquet/create_blocks',
  logs: 'parquet/create_logs',
  transactions: 'parquet/create_transactions',
};
const FIND_STRAY: Readonly<Record<DatasetName, string>> = {
  blocks: 'parquet/find_stray_blocks',
  logs: 'parquet/find_stray_logs',
  transactions: 'parquet/find_stray_transactions',
};

/** Finds what streams the bytes of a file. */
type FindStream = (path: string) => Pick<FilePlace, 'stream'>;

const SUFFIX = '_parquet';
/** Largest number of rows of one dataset that one piece of blocks may have. */
const ROWS_MAX = 2_000_000;

/** Creates the tables for rows of files. */
export async function createFileTables(database: Database): Promise<void> {
  for (const dataset of DATASET_NAMES) await commandNamed(database, CREATE[dataset]);
}

export class Staging {
  private readonly database: Database;

  private constructor(
    private readonly side: SideDatabase,
    private readonly inserter: FileInserter,
    private readonly chainId: number,
    private readonly placeOf: FindStream,
  ) {
    this.database = side.database;
  }

  /** Creates the database of staged rows. `url` is the market's database. */
  static async open(url: string, chainId: number, placeOf: FindStream): Promise<Staging> {
    const side = openSideDatabase(url, SUFFIX);
    const staging = new Staging(side, openFileInserter(side.url), chainId, placeOf);
    try {
      await side.drop();
      await side.create();
      await commandNamed(staging.database, 'parquet/create_footers');
      await createFileTables(staging.database);
    } catch (error) {
      await staging.close();
      throw error;
    }
    return staging;
  }

  /** Parses a footer. @throws AppError `bad_config` if ClickHouse cannot read it */
  async readFooter(file: number, path: string, footer: Buffer, signal: AbortSignal): Promise<Footer> {
    await this.insert(path, commandText('parquet/insert_footer'), footer, signal, { file });
    const [row] = await selectNamed(this.database, 'parquet/list_footers', { file }, footerRow);
    if (row === undefined) throw new AppError('internal', `${path}: the footer was not stored`);
    const bounds = row.blocks.flat();
    const isKnown = bounds.length > 0 && bounds.every((text) => /^\d{1,15}$/.test(text));
    const numbers = bounds.map(Number);
    const blocks = isKnown ? { from: Math.min(...numbers), to: Math.max(...numbers) } : null;
    const columns = row.columns.map(([name, physical_type, logical_type]) => ({
      name,
      physical_type,
      logical_type,
    }));
    return { rows: row.num_rows, columns, blocks };
  }

  /** Stores the rows of a file, and checks their chain and their range of blocks. @throws AppError `bad_config` */
  async load(file: ParquetFile, signal: AbortSignal): Promise<void> {
    const { number, path, dataset, from, to, columns } = file;
    await this.release(file);
    const body = await this.placeOf(path).stream(path, signal);
    await this.insert(path, insertStatement(dataset, number, columns), body, signal);
    const params = { file: number, from, to, chain: this.chainId };
    const [stray] = await selectNamed(this.database, FIND_STRAY[dataset], params, strayRow);
    if (stray === undefined) return;
    const { block_number: block, chain_id: chain } = stray;
    if (chain !== BigInt(this.chainId))
      throw fileFault(path, `block ${block}: chain_id is ${chain}`, String(this.chainId));
    // NULL_KEY of datasets.ts stands for a null.
    const blockText = block === 2n ** 64n - 1n ? 'null' : block;
    throw fileFault(path, `block_number is ${blockText}`, `${from} to ${to}, the range of the file`);
  }

  /** Drops the rows of a file. */
  async release({ number, dataset }: ParquetFile): Promise<void> {
    await this.database.command('drop staged file', `ALTER TABLE ${dataset} DROP PARTITION ${number}`);
  }

  /** The rows of blocks whose files are loaded, each list in the order of its keys. */
  async read(
    files: readonly ParquetFile[],
    range: { readonly from: number; readonly to: number },
    pathOf: PathOf,
  ): Promise<PieceRows> {
    const rows = new ParquetRows(pathOf);
    const params = { ...range, files: files.map(({ number }) => number) };
    const [blocks, transactions, logs] = await Promise.all([
      this.readBlocks(files, range, pathOf),
      selectAll(this.database, 'parquet/list_transactions', params, transactionRow, ROWS_MAX),
      selectAll(this.database, 'parquet/list_logs', params, logRow, ROWS_MAX),
    ]);
    return {
      blocks,
      transactions: transactions.map(rows.transaction),
      logs: logs.map(rows.log),
    };
  }

  /** The rows of blocks whose files are loaded, ascending. */
  async readBlocks(
    files: readonly ParquetFile[],
    range: { readonly from: number; readonly to: number },
    pathOf: PathOf,
  ): Promise<ParquetBlock[]> {
    const params = { ...range, files: files.map(({ number }) => number) };
    const rows = await selectAll(this.database, 'parquet/list_blocks', params, blockRow, ROWS_MAX);
    return rows.map(new ParquetRows(pathOf).block);
  }

  async close(): Promise<void> {
    await this.side.drop().catch(() => undefined);
    await Promise.all([this.inserter.close(), this.side.close()]);
  }

  /** An error of the engine that concerns the bytes is an error of the file, and useless to repeat. */
  private async insert(
    path: string,
    sql: string,
    body: Readable | Buffer,
    signal: AbortSignal,
    params: Readonly<Record<string, number>> = {},
  ): Promise<void> {
    try {
      await this.inserter.insert(path, sql, body, signal, params);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'internal') throw error;
      throw new AppError('bad_config', `${path}: ClickHouse cannot read the file: ${error.message}`, {
        cause: error,
      });
    }
  }
}
