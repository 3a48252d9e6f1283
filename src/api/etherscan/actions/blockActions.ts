/** The actions of module=block that the indexed blocks can answer. */
import { findBlockTime, findFinalBlockAt } from '../../../query/head/blockTimes';
import type { HeadSnapshot } from '../../../query/head/headSnapshot';
import type { LogSource } from '../../../query/logs/logFilter';
import type { Action, Actions, Ask } from '../action';
import { ok, refuse, TEXTS } from '../answers';
import { badFormat, numberOf, textOf } from '../askedParams';

/** Number of blocks over which the mean block time is computed. */
const AVERAGED_BLOCKS = 1_000;

export const blockActions: Actions = new Map<string, Action>([
  ['getblocknobytime', getBlockByTime],
  ['getblockcountdown', getCountdown],
]);

async function getBlockByTime({ asked, chainAtHead }: Ask) {
  const text = textOf(asked, 'timestamp');
  if (text === null || !/^\d{1,20}$/.test(text)) throw badFormat('timestamp');
  const closest = (textOf(asked, 'closest') ?? 'before').toLowerCase();
  if (closest !== 'before' && closest !== 'after') throw badFormat('closest');
  if (chainAtHead === null) return refuse(TEXTS.noBlock);
  const { chain, head } = chainAtHead;
  const time = Number(text);
  const blockBefore = await findBlockAt(chain, head, closest === 'before' ? time : time - 1);
  const blockNumber = closest === 'before' ? blockBefore : await findBlockAfter(chain, head, blockBefore);
  return blockNumber === null ? refuse(TEXTS.noBlock) : ok(String(blockNumber));
}

/** The newest block not later than `time` (unix seconds). Null if every indexed block is later. */
async function findBlockAt(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  time: number,
): Promise<number | null> {
  const headBlock = head.blocks.findLast(({ timestamp }) => timestamp <= time);
  return headBlock?.number ?? (await findFinalBlockAt(runner, chainId, head, time))?.number ?? null;
}

/** The indexed block after `blockBefore`, or the first indexed block if `blockBefore` is null. */
async function findBlockAfter(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  blockBefore: number | null,
): Promise<number | null> {
  const nextBlock = blockBefore === null ? head.startBlock : blockBefore + 1;
  if (nextBlock > head.number) return null;
  return (await findBlockTime(runner, chainId, head, nextBlock)) === null ? null : nextBlock;
}

async function getCountdown({ asked, chainAtHead }: Ask) {
  const askedBlock = numberOf(textOf(asked, 'blockno') ?? '', 'blockno');
  if (chainAtHead === null) return refuse(TEXTS.noBlock);
  const { chain, head } = chainAtHead;
  if (askedBlock <= head.number) return refuse(TEXTS.blockPassed);
  const firstBlock = Math.max(head.startBlock, head.number - AVERAGED_BLOCKS);
  const firstTimestamp = await findBlockTime(chain.runner, chain.chainId, head, firstBlock);
  if (firstTimestamp === null || firstBlock === head.number) return refuse(TEXTS.noBlock);
  const remainingBlocks = askedBlock - head.number;
  const remainingSeconds = ((head.timestamp - firstTimestamp) / (head.number - firstBlock)) * remainingBlocks;
  return ok({
    CurrentBlock: String(head.number),
    CountdownBlock: String(askedBlock),
    RemainingBlock: String(remainingBlocks),
    EstimateTimeInSec: remainingSeconds.toFixed(1),
  });
}
