/**
 * Makes bars from the rows of blocks, when no stored bars exist. The number of rows is bounded, so a long series comes
 * in several answers.
 */
import { findFinalBlockAt } from '../head/blockTimes';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { readPages, type BarsRead, type ReadPage } from './barPages';

/** Assumed time between two rows, in seconds. From this time follows only how many rows a page asks for. */
const ROW_SECONDS = 10;
const PAGE_ROWS_MIN = 4_096;
const PAGES = { growth: 1, limitMax: 65_536, pagesMax: 24, rowsMax: 300_000 };

interface BlocksRequest {
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
 * The newest bars with a price that open before `to`: `wanted` bars, or all, or as many as the largest number of rows makes. In the
 * last case only the close of the oldest bar is right (`partial`). The positions of pages are blocks.
 */
export async function readBlockBars(
  runner: QueryRunner,
  head: HeadSnapshot,
  request: BlocksRequest,
  readPage: ReadPage,
): Promise<BarsRead> {
  const { firstBlock: first, seconds } = request;
  const readTo = (block: number, barsWanted: number): Promise<Omit<BarsRead, 'neverPriced'>> => {
    const limit = Math.max(Math.ceil((barsWanted * seconds) / ROW_SECONDS), PAGE_ROWS_MIN);
    return readPages(readPage, { first, before: block + 1, wanted: barsWanted, limit, ...PAGES });
  };
  const last = await findLastBlock(runner, head, request);
  const upToLast = await readTo(last, request.wanted);
  if (upToLast.priced.length > 0) return { ...upToLast, neverPriced: false };
  const newer = last === head.number ? upToLast : await readTo(head.number, 1);
  return { ...upToLast, neverPriced: newer.priced.length === 0 };
}

/** The last block of the snapshot before `to`, or the block before the start block. */
async function findLastBlock(
  runner: QueryRunner,
  head: HeadSnapshot,
  { chainId, to }: BlocksRequest,
): Promise<number> {
  const time = to - 1;
  if (head.timestamp <= time) return head.number;
  const inHead = head.blocks.findLast(({ timestamp }) => timestamp <= time);
  if (inHead !== undefined) return inHead.number;
  const final = await findFinalBlockAt(runner, chainId, head, time);
  return final?.number ?? head.startBlock - 1;
}
