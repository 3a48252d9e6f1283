/**
 * The database `<name>_staged`, in which the workers of a backfill place blocks for the writer. It is only a cache: the
 * writer drops what it has stored, and the whole database at its start and end. Whatever is missing is fetched again.
 */
import type { Database } from '../../clickhouse/client/database';
import { commandNamed, selectNamed } from '../../clickhouse/client/namedQueries';
import { openSideDatabase, type SideDatabase } from '../../clickhouse/client/sideDatabase';
import { rawBytes, u32, u64, wideU64 } from '../../clickhouse/rows/columns';
import { insertRows } from '../../clickhouse/rows/inserter';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { RowWriter } from '../../clickhouse/rows/rowWriter';
import { defineTable } from '../../clickhouse/schema/tables';
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

const blocksTable = defineTable('blocks', {
  piece: u32,
  from_block: u32,
  to_block: u32,
  bytes: u64,
  body: rawBytes,
});
const claimsTable = defineTable('claims', { piece: u32, worker: wideU64 });

const bodyRow = rowType({ body: rawBytes });
/**
 * `bytes` is the size of the staged blocks; 0 if the piece is only claimed. `owner` is the number of the worker that
 * fetches the piece; 0n if none does.
 */
const listedRow = rowType({ piece: u32, bytes: u64, owner: wideU64 });
type ListedPiece = RowOf<typeof listedRow>;

export const pieceOf = (block: number): number => Math.floor(block / PIECE_BLOCKS);

/** The blocks of a piece that belong to a range. */
export function spanOfPiece(piece: number, { from, to }: Span): Span {
  const first = piece * PIECE_BLOCKS;
  return { from: Math.max(from, first), to: Math.min(to, first + PIECE_BLOCKS - 1) };
}

export class StagedBlocks {
  private readonly side: SideDatabase;
  private readonly database: Database;

  /** `url` is the market's database. */
  constructor(url: string) {
    this.side = openSideDatabase(url, SUFFIX);
    this.database = this.side.database;
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
  list(firstPiece: number, lastPiece: number): Promise<ListedPiece[]> {
    const params = { first: firstPiece, last: lastPiece, claim_ms: CLAIM_MS, limit: LIST_MAX };
    return selectNamed(this.database, 'staged/list_pieces', params, listedRow);
  }

  claim(piece: number, worker: bigint): Promise<void> {
    return insertRows(this.database, claimsTable, [{ piece, worker }]);
  }

  /** Stores consecutive blocks of one piece, all or none. */
  async write(piece: number, blocks: readonly ChainBlock[]): Promise<void> {
    const [first, last] = [blocks[0], blocks.at(-1)];
    if (first === undefined || last === undefined) throw new AppError('internal', 'a piece has no blocks');
    const body = new RowWriter();
    encodeBlocks(body, blocks);
    const bounds = { from_block: first.number, to_block: last.number };
    await insertRows(this.database, blocksTable, [
      { piece, ...bounds, bytes: body.length, body: body.view() },
    ]);
  }

  /** The encoded blocks of a piece that contain the range; null if no row has all of them. */
  async read(piece: number, range: Span): Promise<Buffer | null> {
    const [row] = await selectNamed(this.database, 'staged/read_piece', { piece, ...range }, bodyRow);
    return row?.body ?? null;
  }

  /** Drops the rows of the pieces from `firstPiece` up to `lastPiece`. */
  async dropPieces(firstPiece: number, lastPiece: number): Promise<void> {
    const listed = (await this.list(firstPiece, lastPiece)).filter(({ bytes }) => bytes > 0);
    if (listed.length === 0) return;
    const drops = listed.map(({ piece }) => `DROP PARTITION ${piece}`).join(', ');
    await this.database.command('drop staged pieces', `ALTER TABLE blocks ${drops}`);
  }

  close(): Promise<void> {
    return this.side.close();
  }
}
