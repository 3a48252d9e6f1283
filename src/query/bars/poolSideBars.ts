/**
 * Reads the bars of one token of a pool's leg from its swaps. Used where the stored bars of the pool do not have these
 * prices: for its quote token in USD, and for prices in the native token. Volume and counts are the pool's.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';
import { AppError } from '../../errors';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { BarPage, BarsRead } from './barPages';
import { readBlockBars } from './blockBars';
import type { LegRef } from './headSwaps';
import { swapPart, swapPartRow } from './partRows';
import { findRowSpan } from './rowSpan';

/** Largest number of bars of one page. */
const PARTS_MAX = 100_000;

interface SideSource {
  readonly runner: QueryRunner;
  readonly chainId: number;
}

interface SideRequest extends LegRef {
  readonly token: Hex;
  /** Prices in the native token instead of USD. */
  readonly inNative: boolean;
  readonly barSeconds: number;
  /** Exclusive bound on the open time of a bar, unix seconds. */
  readonly beforeTime: number;
  readonly barsWanted: number;
}

export async function readPoolSideBars(
  { runner, chainId }: SideSource,
  head: HeadSnapshot,
  request: SideRequest,
): Promise<BarsRead> {
  const blocksRequest = { ...request, chainId, firstBlock: head.startBlock };
  return readBlockBars(runner, head, blocksRequest, (endBlock, rowsWanted) =>
    readPage(runner, head, request, endBlock - 1, rowsWanted),
  );
}

async function readPage(
  runner: QueryRunner,
  head: HeadSnapshot,
  { pair, leg, token, inNative, barSeconds }: SideRequest,
  block: number,
  limit: number,
): Promise<BarPage> {
  const pairKey = pair.slice(2);
  const span = await findRowSpan(runner, 'bars/find_swap_span', {
    key: pairKey,
    afterOrd: lastOrdOfBlock(head.startBlock - 1),
    toOrd: lastOrdOfBlock(Math.min(block, head.finalTo)),
    limit,
  });
  // A page begins with a whole block.
  const afterOrd =
    span.rows === 0
      ? lastOrdOfBlock(Math.min(block, head.finalTo))
      : lastOrdOfBlock(blockOfOrd(span.oldest) - 1);
  const rows = await runner.run(
    'bars/list_swap_parts',
    {
      ...snapshotParams(head),
      after_ord: Math.max(0, afterOrd),
      to_ord: lastOrdOfBlock(block),
      pair: pairKey,
      leg,
      token: token.slice(2),
      native: inNative,
      timeframe: barSeconds,
      sparse: span.isSparse,
      limit: PARTS_MAX,
    },
    swapPartRow,
  );
  if (rows.length === PARTS_MAX)
    throw new AppError('unavailable', 'too many blocks are not final yet; try again later');
  const fromBlock = span.isFull ? blockOfOrd(span.oldest) : head.startBlock;
  return { parts: rows.map(swapPart), rows: span.rows, firstPosition: fromBlock };
}
