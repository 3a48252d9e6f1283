/**
 * The database `<name>_staged`, in which the workers of a backfill place blocks for the writer. It is only a cache: the
 * writer drops what it has stored, and the whole database at its start and end. Whatever is missing is fetched again.
 */
import type { Database } from '../../clickhouse/client/database';
import { commandNamed, createQueryRunner, type QueryRunner } from '../../clickhouse/client/namedQueries';
import { openSideDatabase, type SideDatabase } from '../../clickhouse/client/sideDatabase';
import { RowWriter } from '../../clickhouse/rows/rowWriter';
import type { ChainBlock } from '../../domain/block';
import { AppError } from '../../errors';
import { encodeBlocks } from './blockCodec';

/** Number of blocks of a piece. The pieces of all backfills begin at its multiples. */
export const PIECE_BLOCKS = 128;
/** Time in ms after which another worker may fetch a claimed piece. */
const CLAIM_MS = 30_000;
/** Largest number of pieces of a list. */
const LIST_MAX = 1_000;
const SUFFIX = '_staged';

export interface Span {
  readonly from: number;
  readonly to: number;
}

interface ListedPiece {
  readonly piece: number;
  /** Size of the staged blocks; 0 if the piece is only claimed. */
  readonly bytes: number;
  /** Number of the worker that fetches the piece; 0n if none does. */
  readonly owner: bigint;
}

export const pieceOf = (block: number): number => Math.floor(block / PIECE_BLOCKS);

/** The blocks of a piece that belong to a range. */
export function spanOfPiece(piece: number, { from, to }: Span): Span {
  const first = piece * PIECE_BLOCKS;
  return { from: Math.max(from, first), to: Math.min(to, first + PIECE_BLOCKS - 1) };
}

export class StagedBlocks {
  private readonly side: SideDatabase;
  private readonly database: Database;
  private readonly runner: QueryRunner;

  /** `url` is the market's database. */
  constructor(url: string) {
    this.side = openSideDatabase(url, SUFFIX);
    this.database = this.side.database;
    this.runner = createQueryRunner(this.database);
  }

  /** Creates the tables, unless they exist. */
  async create(): Promise<void> {
    await this.side.create();
    await commandNamed(this.database, 'staged/create_blocks');
    await commandNamed(this.database, 'staged/create_claims');
  }

  drop(): Promise<void> {
    return this.side.drop();
  }

  /** The staged and the claimed pieces between two pieces, at most 1,000 apart. */
  list(first: number, last: number): Promise<ListedPiece[]> {
    const params = { first, last, claim_ms: CLAIM_MS, limit: LIST_MAX };
    return this.runner.read('staged/list_pieces', params, (reader) => ({
      piece: reader.u32(),
      bytes: reader.u64(),
      owner: reader.bigU64(),
    }));
  }

  async claim(piece: number, worker: bigint): Promise<void> {
    const writer = new RowWriter(16);
    writer.u32(piece);
    writer.bigU64(worker);
    await this.database.insert('claims', ['piece', 'worker'], writer.view());
  }

  /** Stores consecutive blocks of one piece, all or none. */
  async write(piece: number, blocks: readonly ChainBlock[]): Promise<void> {
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (first === undefined || last === undefined) throw new AppError('internal', 'a piece has no blocks');
    const body = new RowWriter();
    encodeBlocks(body, blocks);
    const head = new RowWriter(64);
    head.u32(piece);
    head.u32(first.number);
    head.u32(last.number);
    head.u64(body.length);
    head.varint(body.length);
    const columns = ['piece', 'from_block', 'to_block', 'bytes', 'body'];
    await this.database.insert('blocks', columns, Buffer.concat([head.view(), body.view()]));
  }

  /** The encoded blocks of a piece that contain the range; null if no row has all of them. */
  async read(piece: number, range: Span): Promise<Buffer | null> {
    const [body] = await this.runner.read('staged/read_piece', { piece, ...range }, (reader) =>
      reader.slice(),
    );
    return body ?? null;
  }

  /** Drops the rows of the pieces from `first` up to `last`. */
  async dropPieces(first: number, last: number): Promise<void> {
    const listed = (await this.list(first, last)).filter(({ bytes }) => bytes > 0);
    if (listed.length === 0) return;
    const drops = listed.map(({ piece }) => `DROP PARTITION ${piece}`).join(', ');
    await this.database.command('drop staged pieces', `ALTER TABLE blocks ${drops}`);
  }

  close(): Promise<void> {
    return this.side.close();
  }
}
