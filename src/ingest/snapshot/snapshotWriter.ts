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

/** The order of the rows in the files of each data set. */
const ROW_ORDERS: Readonly<Record<DatasetName, string>> = {
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
  private fileCount = 0;
  private day = '';
  private openFiles: Partial<Record<DatasetName, OpenFile>> = {};
  /** Bytes of the rows in the open files of transactions and logs, and hashes of the blocks in the open file of blocks. */
  private chunkBytes = 0;
  private hashes: Buffer[] = [];
  private written: { files: SnapshotFile[]; headers: DayManifest['headers']; level: ProofLevel } = emptyDay();

  private constructor(
    private readonly side: SideDatabase,
    private readonly place: SnapshotPlace,
    private readonly maker: RowMaker,
    private readonly prover: RowProver,
    private readonly neededLevel: ProofLevel,
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
    for (let index = 0; index < blocks.length;) {
      const chunkRows: SnapshotRows[] = [];
      const firstNumber = blocks[index]?.block.number ?? 0;
      let isFull = false;
      for (; index < blocks.length && !isFull; index += 1) {
        const added = blocks[index];
        if (added === undefined) break;
        const files = {
          blocks: this.fileOf('blocks', added.block.number),
          transactions: this.fileOf('transactions', added.block.number),
          logs: this.fileOf('logs', added.block.number),
        };
        const rows = this.maker.rowsOf(added.block, added.raw, files);
        this.prove(added.block, rows);
        chunkRows.push(rows);
        this.chunkBytes += sizeOf(rows);
        this.hashes.push(Buffer.from(added.block.hash.slice(2), 'hex'));
        isFull = this.isChunkFull(added.block.number) || this.hashes.length >= BLOCKS_FILE_BLOCKS;
        await slices.step();
      }
      await this.store(chunkRows);
      const lastNumber = firstNumber + chunkRows.length - 1;
      if (this.isChunkFull(lastNumber)) await this.endChunk(lastNumber);
      if (this.hashes.length >= BLOCKS_FILE_BLOCKS) await this.endBlocks(lastNumber);
    }
  }

  /** Ends the files of the day with this block. */
  async end(lastBlock: number): Promise<WrittenDay> {
    await this.endChunk(lastBlock);
    await this.endBlocks(lastBlock);
    return this.written;
  }

  async close(): Promise<void> {
    await this.side.drop().catch(() => undefined);
    await this.side.close();
  }

  private isChunkFull(block: number): boolean {
    const from = this.openFiles.logs?.from ?? block;
    return block - from + 1 >= CHUNK_BLOCKS || this.chunkBytes >= CHUNK_BYTES;
  }

  private fileOf(dataset: DatasetName, from: number): number {
    const file = (this.openFiles[dataset] ??= { number: this.fileCount++, from });
    return file.number;
  }

  /** @throws AppError `bad_config` if the rows do not prove the block */
  private prove(block: ChainBlock, madeRows: SnapshotRows): void {
    const pathOf = (): string => `the rows of ${this.day}`;
    const rows = new ParquetRows(pathOf);
    const piece = {
      blocks: [rows.block(madeRows.block)],
      transactions: madeRows.transactions.map(rows.transaction),
      logs: madeRows.logs.map(rows.log),
    };
    const [joined] = joinRows(piece, { from: block.number, to: block.number }, new Map(), pathOf);
    const level = joined === undefined ? 'none' : this.prover.prove(joined, pathOf);
    this.written.level = weakerOf(this.written.level, level);
    if (!isWeaker(level, this.neededLevel)) return;
    throw new AppError(
      'bad_config',
      `block ${block.number}: files prove it at the level ${level}; allowed: ${this.neededLevel}, or a weaker setting of PROOF`,
    );
  }

  private async store(chunkRows: readonly SnapshotRows[]): Promise<void> {
    const { database } = this.side;
    const transactions = chunkRows.flatMap((blockRows) => blockRows.transactions);
    const logs = chunkRows.flatMap((blockRows) => blockRows.logs);
    await insertRows(
      database,
      blockFiles,
      chunkRows.map((blockRows) => blockRows.block),
    );
    await insertRows(database, transactionFiles, transactions);
    await insertRows(database, logFiles, logs);
  }

  private async endChunk(lastBlock: number): Promise<void> {
    this.chunkBytes = 0;
    await this.writeFile('transactions', lastBlock);
    await this.writeFile('logs', lastBlock);
  }

  private async endBlocks(lastBlock: number): Promise<void> {
    const lastHash = this.hashes.at(-1);
    if (lastHash === undefined) return;
    await this.writeFile('blocks', lastBlock);
    this.written.headers.push({
      to_block: lastBlock,
      to_hash: `0x${lastHash.toString('hex')}`,
      root: merkleRoot(this.hashes),
    });
    this.hashes = [];
  }

  private async writeFile(dataset: DatasetName, lastBlock: number): Promise<void> {
    const file = this.openFiles[dataset];
    if (file === undefined) return;
    delete this.openFiles[dataset];
    const { database } = this.side;
    const columns = [...allColumns(dataset).keys()].join(', ');
    const sql = `SELECT ${columns} FROM ${dataset} WHERE file = {file:UInt32} ORDER BY ${ROW_ORDERS[dataset]}`;
    const bytes = await createQueryRunner(database).writeMade(
      `export ${dataset}`,
      sql,
      { file: file.number },
      'Parquet',
      SETTINGS,
    );
    const pad = (block: number): string => String(block).padStart(8, '0');
    const name = `${dataset}__${pad(file.from)}_to_${pad(lastBlock)}.parquet`;
    await this.place.write(`${this.day}/${name}`, bytes, this.signal);
    await database.command('drop exported rows', `ALTER TABLE ${dataset} DROP PARTITION ${file.number}`);
    this.written.files.push({
      name,
      dataset,
      from_block: file.from,
      to_block: lastBlock,
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
