/** Trades block by block in real time, with occasional small reorgs, until stopped. */
import { setTimeout as delay } from 'node:timers/promises';

import { errorText } from '../../errors';
import type { Logger } from '../../log';
import { openBlockMaker, type BlockMaker } from '../node/blockMaker';
import { getBlockHead, type DevRpc } from '../node/devRpc';
import { createPriceWalk, type PriceWalk } from './priceWalk';
import { createRandom, type Random } from './random';
import { listUserTransactions, replaceBlocks, rollBack, sendAgain } from '../node/reorg';
import { createTrading, type BlockPlan, type Trading } from './trading';
import type { World } from '../world/world';

export interface LiveOptions {
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The price walk with the current prices. By default it starts at the world's first prices. */
  readonly walk?: PriceWalk;
  /** Time between blocks in ms. Default 2,000. */
  readonly blockMs?: number;
  /** Number of swaps per block. Default 10. */
  readonly tradesPerBlock?: number;
  /** Shortest and longest time between reorgs, in ms. Default 60,000 to 90,000. */
  readonly reorgMs?: readonly [number, number];
  /** Runs the work of each block. A test that delays it has a chain at rest meanwhile. By default it runs at once. */
  readonly runBlockWork?: (work: () => Promise<void>) => Promise<void>;
}

interface LiveSummary {
  readonly blocks: number;
  readonly swaps: number;
  readonly reorgs: number;
}

const REORG_DEPTH_MAX = 3;
const FAILURES_IN_A_ROW_MAX = 10;

interface LiveState {
  readonly rpc: DevRpc;
  readonly maker: BlockMaker;
  readonly trading: Trading;
  readonly random: Random;
  readonly tradesPerBlock: number;
  /** Accounts of the trader. Transactions of all other accounts belong to users of the chain. */
  readonly senders: ReadonlySet<string>;
  /**
   * Number of the newest block at the start of trading. No reorg removes this block, because the trades need the
   * approvals in the blocks up to it.
   */
  readonly startBlock: number;
  /** Time of the newest block, unix seconds. */
  headTimestamp: number;
}

/** Resolves after the signal aborts. Rejects if the node fails ten times in a row. */
export async function tradeLive(rpc: DevRpc, world: World, options: LiveOptions): Promise<LiveSummary> {
  const { signal, log, blockMs = 2_000, tradesPerBlock = 10, reorgMs = [60_000, 90_000] } = options;
  const { runBlockWork = (work) => work() } = options;
  const random = createRandom(options.seed);
  const head = await getBlockHead(rpc);
  const state: LiveState = {
    rpc,
    maker: await openBlockMaker(rpc, world.accounts.slice(1)),
    trading: createTrading(world, options.walk ?? createPriceWalk(world.tokens, random), random),
    random,
    tradesPerBlock,
    senders: new Set(world.accounts.slice(1)),
    startBlock: head.number,
    headTimestamp: head.timestamp,
  };
  const [pauseMinMs, pauseMaxMs] = reorgMs;
  const drawPause = (): number => pauseMinMs + random.next() * (pauseMaxMs - pauseMinMs);
  const summary = { blocks: 0, swaps: 0, reorgs: 0 };
  let reorgAt = performance.now() + drawPause();
  let failures = 0;
  const mineNext = async (): Promise<void> => {
    if (signal.aborted) return;
    if (performance.now() >= reorgAt) {
      await reorganise(state, log);
      summary.reorgs += 1;
      reorgAt = performance.now() + drawPause();
    }
    summary.swaps += await mineOne(state);
    summary.blocks += 1;
  };
  for (
    let nextBlockAt = performance.now();
    !signal.aborted;
    nextBlockAt = Math.max(nextBlockAt + blockMs, performance.now())
  ) {
    await sleepUntil(nextBlockAt, signal);
    if (signal.aborted) break;
    try {
      await runBlockWork(mineNext);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (signal.aborted) break;
      if (failures >= FAILURES_IN_A_ROW_MAX) throw error;
      log.warn(
        { error: errorText(error) },
        'the trader of the development chain failed to mine a block; retrying',
      );
      await state.maker.reset().catch(() => undefined);
    }
  }
  return summary;
}

/** Mines one block. Returns the number of its swaps. */
async function mineOne(state: LiveState): Promise<number> {
  const timestamp = Math.max(state.headTimestamp + 1, Math.floor(Date.now() / 1_000));
  const { transactions, swaps } = planBlock(state, timestamp - state.headTimestamp);
  for (const transaction of transactions) state.maker.add(transaction);
  await state.maker.mine(timestamp);
  state.headTimestamp = timestamp;
  return swaps;
}

/** Plans half to one and a half times the usual number of trades. */
function planBlock(state: LiveState, secondsSinceParent: number): BlockPlan {
  const tradeCount = Math.round(state.tradesPerBlock * (0.5 + state.random.next()));
  return state.trading.planBlock(Math.max(1, tradeCount), Math.min(secondsSinceParent, 60));
}

/** Replaces one to three blocks by a reorg, in one of two ways. */
async function reorganise(state: LiveState, log: Logger): Promise<void> {
  const head = await getBlockHead(state.rpc);
  const depth = Math.min(1 + state.random.below(REORG_DEPTH_MAX), head.number - state.startBlock);
  if (depth < 1) return;
  const isInSteps = state.random.chance(0.5);
  const userTransactions = await listUserTransactions(state.rpc, state.senders, depth);
  // In a reorg of several steps, the node mines new blocks before the removed transactions of users are sent
  // again. A user's waiting transactions then have nonces that are too high, and the node drops them when it
  // mines. So blocks with transactions of users are replaced in one step.
  const isOneStep = !isInSteps || userTransactions.mined.some((transactions) => transactions.length > 0);
  if (isOneStep) {
    const blocks = Array.from({ length: depth }, () => planBlock(state, 1).transactions);
    await replaceBlocks(state.rpc, state.maker, blocks, userTransactions.mined);
  } else {
    const parent = await getBlockHead(state.rpc, head.number - depth);
    const blocks = Array.from({ length: depth }, (_, index) => ({
      transactions: planBlock(state, 1).transactions,
      timestamp: parent.timestamp + 1 + index,
    }));
    await rollBack(state.rpc, state.maker, depth, blocks);
  }
  await sendAgain(state.rpc, userTransactions);
  state.headTimestamp = (await getBlockHead(state.rpc)).timestamp;
  const reorgKind = isOneStep ? 'replaced' : 'rolled back';
  log.info(
    { from: head.number - depth + 1, to: head.number, way: reorgKind },
    'the development chain made a reorg',
  );
}

async function sleepUntil(time: number, signal: AbortSignal): Promise<void> {
  const ms = time - performance.now();
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}
