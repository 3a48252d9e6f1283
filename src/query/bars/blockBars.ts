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
const PAGE_BOUNDS = { growth: 1, pageRowsMax: 65_536, pagesMax: 24, rowsMax: 300_000 };

interface BlocksRequest {
  readonly chainId: number;
  /** The first block with a row. */
  readonly firstBlock: number;
  /** Length of a bar in seconds. */
  readonly barSeconds: number;
  /** Exclusive bound on the open time of a bar, unix seconds. */
  readonly beforeTime: number;
  readonly barsWanted: number;
}

/**
 * The newest bars with a price that open before `beforeTime`: `barsWanted` bars, or fewer if there are no more or if the limit of
 * rows is reached. At the limit, the oldest bar is incomplete (`partial`): its close is right, its open, high and low are
 * not. The positions of pages are blocks.
 */
export async function readBlockBars(
  runner: QueryRunner,
  head: HeadSnapshot,
  request: BlocksRequest,
  readPage: ReadPage,
): Promise<BarsRead> {
  const { firstBlock, barSeconds } = request;
  const readUpTo = (block: number, barsWanted: number): Promise<Omit<BarsRead, 'neverPriced'>> => {
    const firstPageRows = Math.max(Math.ceil((barsWanted * barSeconds) / ROW_SECONDS), PAGE_ROWS_MIN);
    return readPages(readPage, {
      firstPosition: firstBlock,
      endPosition: block + 1,
      barsWanted,
      firstPageRows,
      ...PAGE_BOUNDS,
    });
  };
  const lastBlock = await findLastBlock(runner, head, request);
  const upToLast = await readUpTo(lastBlock, request.barsWanted);
  if (upToLast.priced.length > 0) return { ...upToLast, neverPriced: false };
  const newerBars = lastBlock === head.number ? upToLast : await readUpTo(head.number, 1);
  return { ...upToLast, neverPriced: newerBars.priced.length === 0 };
}

/** The last block of the snapshot before `beforeTime`, or the block before the start block. */
async function findLastBlock(
  runner: QueryRunner,
  head: HeadSnapshot,
  { chainId, beforeTime }: BlocksRequest,
): Promise<number> {
  const lastTime = beforeTime - 1;
  if (head.timestamp <= lastTime) return head.number;
  const headBlock = head.blocks.findLast(({ timestamp }) => timestamp <= lastTime);
  if (headBlock !== undefined) return headBlock.number;
  const finalBlock = await findFinalBlockAt(runner, chainId, head, lastTime);
  return finalBlock?.number ?? head.startBlock - 1;
}
