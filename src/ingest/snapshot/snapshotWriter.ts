/**
 * Writes blocks into the files of a snapshot. The rows wait in a database next to the market's database, and ClickHouse
 * makes the files of them. Every block is proven from its rows first, as `fill` will prove it.
 */
import { createQueryRunner } from '../../clickhouse/client/namedQueries';
import { openSideDatabase, type SideDatabase } from '../../clickhouse/client/sideDatabase';
import { insertRows } from '../../clickhouse/rows/inserter';
import { isWeaker, weakerOf, type ChainBlock, type ProofLevel } from '../../domain/block';
import { createSlices } from '../../domain/time/slices';
import { AppError } from '../../errors';
import type { RawBlock } from '../../node/proof/blockProof';
import { allColumns, type DatasetName } from '../parquet/datasets';
import { joinRows } from '../parquet/joinRows';
import { ParquetRows } from '../parquet/parquetRows';
import { RowProver } from '../parquet/rowProver';
import { createFileTables } from '../parquet/staging';
import { sha256Of, type DayManifest, type SnapshotFile } from './manifest';
import { merkleRoot } from './merkleRoot';
import type { SnapshotPlace } from './snapshotPlace';
import { blockFiles, logFiles, RowMaker, transactionFiles, type SnapshotRows } from './snapshotRows';

const SUFFIX = '_export';
/** A file of transactions or logs ends after this many blocks, or as soon as it has this many bytes of rows. */
const CHUNK_BLOCKS = 1_000;
const CHUNK_BYTES = 64 * 2 ** 20;
/** Blocks of a file of blocks. The node confirms the last block of each. */
const BLOCKS_FILE_BLOCKS = 50_000;

const KEYS: Readonly<Record<DatasetName, string>> = {
  blocks: 'block_number',
  logs: 'block_number, log_index',
  transactions: 'block_number, transaction_index',
};
const SETTINGS = {
  output_format_parquet_string_as_string: '0',
  output_format_parquet_compression_method: 'zstd',
};

/** What the manifest says about the written files. */
type WrittenDay = Pick<DayManifest, 'files' | 'headers' | 'level'>;

interface OpenFile {
  readonly number: number;
  readonly from: number;
}

export class SnapshotWriter {
  private numbers = 0;
  private day = '';
  private open: Partial<Record<DatasetName, OpenFile>> = {};
  private chunkBytes = 0;
  private hashes: Buffer[] = [];
  private written: { files: SnapshotFile[]; headers: DayManifest['headers']; level: ProofLevel } = emptyDay();

  private constructor(
    private readonly side: SideDatabase,
    private readonly place: SnapshotPlace,
    private readonly maker: RowMaker,
    private readonly prover: RowProver,
    private readonly needed: ProofLevel,
    private readonly signal: AbortSignal,
  ) {}

  /** `url` is the market's database. Blocks that are proven less than `needed` are refused. */
  static async open(
    url: string,
    chainId: number,
    {
      place,
      needed,
      signal,
    }: { readonly place: SnapshotPlace; readonly needed: ProofLevel; readonly signal: AbortSignal },
  ): Promise<SnapshotWriter> {
    const side = openSideDatabase(url, SUFFIX);
    const [maker, prover] = await Promise.all([RowMaker.create(chainId), RowProver.create()]);
    const writer = new SnapshotWriter(side, place, maker, prover, needed, signal);
    try {
      await side.drop();
      await side.create();
      await createFileTables(side.database);
    } catch (error) {
      await writer.close();
      throw error;
    }
    return writer;
  }

  /** Begins the files of a day. */
  begin(day: string): void {
    this.day = day;
    this.written = emptyDay();
  }

  /** Adds consecutive blocks. */
  async add(blocks: readonly { readonly block: ChainBlock; readonly raw: RawBlock }[]): Promise<void> {
    const slices = createSlices();
    for (let at = 0; at < blocks.length;) {
      const made: SnapshotRows[] = [];
      const first = blocks[at]?.block.number ?? 0;
      let isFull = false;
      for (; at < blocks.length && !isFull; at += 1) {
        const one = blocks[at];
        if (one === undefined) break;
        const files = {
          blocks: this.fileOf('blocks', one.block.number),
          transactions: this.fileOf('transactions', one.block.number),
          logs: this.fileOf('logs', one.block.number),
        };
        const rows = this.maker.rowsOf(one.block, one.raw, files);
        this.prove(one.block, rows);
        made.push(rows);
        this.chunkBytes += sizeOf(rows);
        this.hashes.push(Buffer.from(one.block.hash.slice(2), 'hex'));
        isFull = this.isChunkFull(one.block.number) || this.hashes.length >= BLOCKS_FILE_BLOCKS;
        await slices.step();
      }
      await this.store(made);
      const last = first + made.length - 1;
      if (this.isChunkFull(last)) await this.endChunk(last);
      if (this.hashes.length >= BLOCKS_FILE_BLOCKS) await this.endBlocks(last);
    }
  }

  /** Ends the files of the day with this block. */
  async end(last: number): Promise<WrittenDay> {
    await this.endChunk(last);
    await this.endBlocks(last);
    return this.written;
  }

  async close(): Promise<void> {
    await this.side.drop().catch(() => undefined);
    await this.side.close();
  }

  private isChunkFull(block: number): boolean {
    const from = this.open.logs?.from ?? block;
    return block - from + 1 >= CHUNK_BLOCKS || this.chunkBytes >= CHUNK_BYTES;
  }

  private fileOf(dataset: DatasetName, from: number): number {
    const file = (this.open[dataset] ??= { number: this.numbers++, from });
    return file.number;
  }

  /** @throws AppError `bad_config` if the rows do not prove the block */
  private prove(block: ChainBlock, made: SnapshotRows): void {
    const pathOf = (): string => `the rows of ${this.day}`;
    const rows = new ParquetRows(pathOf);
    const piece = {
      blocks: [rows.block(made.block)],
      transactions: made.transactions.map(rows.transaction),
      logs: made.logs.map(rows.log),
    };
    const [joined] = joinRows(piece, { from: block.number, to: block.number }, new Map(), pathOf);
    const level = joined === undefined ? 'none' : this.prover.prove(joined, pathOf);
    this.written.level = weakerOf(this.written.level, level);
    if (!isWeaker(level, this.needed)) return;
    throw new AppError(
      'bad_config',
      `block ${block.number}: files prove it at the level ${level}; allowed: ${this.needed}, or a weaker setting of PROOF`,
    );
  }

  private async store(made: readonly SnapshotRows[]): Promise<void> {
    const { database } = this.side;
    const transactions = made.flatMap((one) => one.transactions);
    const logs = made.flatMap((one) => one.logs);
    await insertRows(
      database,
      blockFiles,
      made.map((one) => one.block),
    );
    await insertRows(database, transactionFiles, transactions);
    await insertRows(database, logFiles, logs);
  }

  private async endChunk(to: number): Promise<void> {
    this.chunkBytes = 0;
    await this.writeFile('transactions', to);
    await this.writeFile('logs', to);
  }

  private async endBlocks(to: number): Promise<void> {
    const last = this.hashes.at(-1);
    if (last === undefined) return;
    await this.writeFile('blocks', to);
    this.written.headers.push({
      to_block: to,
      to_hash: `0x${last.toString('hex')}`,
      root: merkleRoot(this.hashes),
    });
    this.hashes = [];
  }

  private async writeFile(dataset: DatasetName, to: number): Promise<void> {
    const file = this.open[dataset];
    if (file === undefined) return;
    delete this.open[dataset];
    const { database } = this.side;
    const columns = [...allColumns(dataset).keys()].join(', ');
    const sql = `SELECT ${columns} FROM ${dataset} WHERE file = {file:UInt32} ORDER BY ${KEYS[dataset]}`;
    const bytes = await createQueryRunner(database).writeMade(
      `export ${dataset}`,
      sql,
      { file: file.number },
      'Parquet',
      SETTINGS,
    );
    const pad = (block: number): string => String(block).padStart(8, '0');
    const name = `${dataset}__${pad(file.from)}_to_${pad(to)}.parquet`;
    await this.place.write(`${this.day}/${name}`, bytes, this.signal);
    await database.command('drop exported rows', `ALTER TABLE ${dataset} DROP PARTITION ${file.number}`);
    this.written.files.push({
      name,
      dataset,
      from_block: file.from,
      to_block: to,
      bytes: bytes.length,
      sha256: sha256Of(bytes),
    });
  }
}

function emptyDay(): { files: SnapshotFile[]; headers: DayManifest['headers']; level: ProofLevel } {
  return { files: [], headers: [], level: 'full' };
}

/** About the number of bytes of the rows. */
function sizeOf({ transactions, logs }: SnapshotRows): number {
  const rowBytes = 200;
  const signed = transactions.reduce((sum, row) => sum + rowBytes + (row.signed_transaction?.length ?? 0), 0);
  return logs.reduce((sum, { data }) => sum + rowBytes + (data?.length ?? 0) / 2, signed);
}
