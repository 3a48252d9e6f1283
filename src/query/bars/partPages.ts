/**
 * Makes bars from pages of parts that are read from the newest block backwards, when no stored bars exist. The number of
 * rows is bounded, so a long series comes in several answers.
 */
import { AppError } from '../../errors';
import { findFinalBlockAt } from '../head/blockTimes';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { foldParts, type BarPart } from './barParts';
import type { BarsRead } from './barReader';

/** Assumed time between two rows, in seconds. From this time follows only how many rows a page asks for. */
const ROW_SECONDS = 10;
const PAGE_ROWS_MIN = 4_096;
const PAGE_ROWS_MAX = 65_536;
/** After this many rows no further page is read, if the rows so far make at least one bar. */
const ROWS_MAX = 300_000;
const PAGES_MAX = 24;

export interface PartPage {
  /** Parts of bars. Each row belongs to one page only, so parts of different pages can be added. */
  readonly parts: readonly BarPart[];
  /** The number of rows that were read. */
  readonly rows: number;
  /** The page covers all blocks after this one. */
  readonly blockBefore: number;
}

/** Reads the newest rows up to the end of a block, about `limit`. */
export type ReadPage = (block: number, limit: number) => Promise<PartPage>;

interface PagesRequest {
  readonly chainId: number;
  /** The first block with a row. */
  readonly firstBlock: number;
  /** Length of a bar. */
  readonly seconds: number;
  /** Exclusive bound on the open time of a bar. */
  readonly to: number;
  readonly wanted: number;
}

/**
 * The newest bars with a price that open before `to`: `wanted` bars, or all, or as many as ROWS_MAX rows make. In the
 * last case only the close of the oldest bar is right (`partial`).
 */
export async function readPartPages(
  runner: QueryRunner,
  head: HeadSnapshot,
  request: PagesRequest,
  readPage: ReadPage,
): Promise<BarsRead> {
  const last = await findLastBlock(runner, head, request);
  const found = await readBack(readPage, request, last);
  if (found.priced.length > 0) return { ...found, neverPriced: false };
  const newer =
    last === head.number ? null : await readBack(readPage, { ...request, wanted: 1 }, head.number);
  return { ...found, neverPriced: newer === null || newer.priced.length === 0 };
}

/** The last block of the snapshot before `to`, or the block before the start block. */
async function findLastBlock(
  runner: QueryRunner,
  head: HeadSnapshot,
  { chainId, to }: PagesRequest,
): Promise<number> {
  const time = to - 1;
  if (head.timestamp <= time) return head.number;
  const inHead = head.blocks.findLast(({ timestamp }) => timestamp <= time);
  if (inHead !== undefined) return inHead.number;
  const final = await findFinalBlockAt(runner, chainId, head, time);
  return final?.number ?? head.startBlock - 1;
}

async function readBack(
  readPage: ReadPage,
  { seconds, wanted, firstBlock }: PagesRequest,
  last: number,
): Promise<Omit<BarsRead, 'neverPriced'>> {
  const limit = Math.min(Math.max(Math.ceil((wanted * seconds) / ROW_SECONDS), PAGE_ROWS_MIN), PAGE_ROWS_MAX);
  const bars = new Map<number, BarPart>();
  let priced: BarPart[] = [];
  let block = last;
  let rows = 0;
  for (let page = 0; block >= firstBlock && priced.length < wanted; page += 1) {
    if (priced.length > 1 && (rows >= ROWS_MAX || page >= PAGES_MAX)) break;
    if (page >= PAGES_MAX)
      throw new AppError('unavailable', 'too many prices in one bar; ask for shorter bars');
    const read = await readPage(block, limit);
    foldParts(read.parts, bars);
    priced = [...bars.values()].filter(({ high }) => high > 0);
    rows += read.rows;
    block = read.blockBefore;
  }
  const shown = priced.sort((a, b) => a.bucket - b.bucket).slice(-wanted);
  return { priced: shown, partial: shown.length === priced.length && block >= firstBlock };
}
