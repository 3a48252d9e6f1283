/**
 * A service that sends blocks of a range one after another, such as an SQD portal. Its rows take the way of rows from
 * Parquet files: the service looks like one file of each dataset, so the same checks apply and the node fills what the
 * service does not have.
 */
import { AppError } from '../../errors';
import { DATASET_NAMES } from '../parquet/datasets';
import { FilePlan } from '../parquet/filePlan';
import type { PieceRows } from '../parquet/joinRows';
import type { ParquetBlock, ParquetLog, ParquetTransaction } from '../parquet/parquetRows';
import type { Staging } from '../parquet/staging';

/** The rows of one block. Transactions and logs are in the order of their indexes. */
export interface ServiceBlock {
  readonly block: ParquetBlock;
  readonly transactions: readonly ParquetTransaction[];
  readonly logs: readonly ParquetLog[];
}

export interface BlockService {
  /** Scheme and host of the URL, for errors and logs. A path may contain a key. */
  readonly name: string;
  /** First and last block that the service has now; null if it has none. @throws AppError */
  findSpan(signal: AbortSignal): Promise<{ readonly from: number; readonly to: number } | null>;
  /**
   * The blocks `from` to `to`, ascending. Repeats failed requests. @throws AppError `bad_config` for a wrong answer,
   * `node_failed` if the service fails many times in a row
   */
  stream(from: number, to: number, signal: AbortSignal): AsyncGenerator<ServiceBlock>;
}

/** Largest number of rows of a piece of blocks. */
const ROWS_MAX = 2_000_000;
const HEADER_COLUMNS = ['parent_hash', 'logs_bloom', 'base_fee_per_gas'];

/** The plan of a backfill in which the service covers the blocks `from` to `to`. */
export function planService({ name }: BlockService, from: number, to: number): FilePlan {
  const columns = new Map(HEADER_COLUMNS.map((column) => [column, column]));
  return new FilePlan(
    DATASET_NAMES.map((dataset, number) => ({ number, path: name, dataset, from, to, rows: 0, columns })),
  );
}

/** Reads pieces of blocks from one continuing stream, so that one request to the service covers many pieces. */
export class ServiceRows implements Pick<Staging, 'load' | 'release' | 'read'> {
  private reading: { readonly stream: AsyncGenerator<ServiceBlock>; next: number } | null = null;
  private lastRead: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly service: BlockService,
    private readonly lastBlock: number,
    private readonly signal: AbortSignal,
  ) {}

  load(): Promise<void> {
    return Promise.resolve();
  }

  release(): Promise<void> {
    return Promise.resolve();
  }

  /** One piece after the other, because a stream has one order. */
  read(_files: unknown, part: { readonly from: number; readonly to: number }): Promise<PieceRows> {
    const piece = this.lastRead.then(() => this.take(part.from, part.to));
    this.lastRead = piece.catch(() => undefined);
    return piece;
  }

  /** Ends the stream. Call after the signal has aborted. */
  async close(): Promise<void> {
    await this.lastRead;
    await this.end();
  }

  private async take(from: number, to: number): Promise<PieceRows> {
    this.signal.throwIfAborted();
    if (this.reading?.next !== from) {
      await this.end();
      this.reading = { stream: this.service.stream(from, this.lastBlock, this.signal), next: from };
    }
    const { reading } = this;
    const blocks: ParquetBlock[] = [];
    const transactions: ParquetTransaction[] = [];
    const logs: ParquetLog[] = [];
    try {
      while (reading.next <= to) {
        const { value, done } = await reading.stream.next();
        if (done === true) throw new AppError('node_failed', `${this.service.name}: the stream ended early`);
        reading.next += 1;
        blocks.push(value.block);
        for (const row of value.transactions) transactions.push(row);
        for (const row of value.logs) logs.push(row);
        if (transactions.length + logs.length > ROWS_MAX)
          throw new AppError('bad_config', `${this.service.name}: blocks ${from}-${to} have too many rows`);
      }
    } catch (error) {
      this.reading = null;
      throw error;
    }
    return { blocks, transactions, logs };
  }

  private async end(): Promise<void> {
    const { reading } = this;
    this.reading = null;
    // The stream may end with the error of an aborted request.
    await reading?.stream.return(undefined).catch(() => undefined);
  }
}
