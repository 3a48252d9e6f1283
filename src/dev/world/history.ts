/** Mines days of past trading: few blocks for the distant past, and a block every 15 seconds in the last hour. */
import { AppError } from '../../errors';
import { openBlockMaker, type BlockMaker } from '../node/blockMaker';
import { getBlockHead, type DevRpc } from '../node/devRpc';
import { openPoolCall, readPools } from './openPools';
import { createPriceWalk, type PriceWalk } from '../trading/priceWalk';
import { createRandom } from '../trading/random';
import { createTrading } from '../trading/trading';
import type { Launch, World } from './world';

interface HistoryOptions {
  readonly seed: number;
  /** Approximate number of swaps; at least one per block. */
  readonly swaps: number;
  /** Time of the last block, unix seconds. */
  readonly endTimestamp: number;
  /** Length of the history in days. The history must begin after the node's newest block. */
  readonly days: number;
  readonly signal?: AbortSignal;
  /** Called at intervals with the progress. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface History {
  /** The world with the pools opened during the history. */
  readonly world: World;
  readonly blocks: number;
  readonly swaps: number;
  /** The final prices, from which the live trader continues. */
  readonly walk: PriceWalk;
}

/**
 * Seconds between blocks by their age. The first row whose `within` (seconds) exceeds the age applies. Fewer
 * blocks save time, because the node computes a state root for each block.
 */
const SPACING = [
  { within: 3_600, seconds: 15 },
  { within: 6 * 3_600, seconds: 180 },
  { within: 86_400, seconds: 600 },
  { within: 3 * 86_400, seconds: 1_800 },
  { within: Infinity, seconds: 7_200 },
] as const;
/**
 * Exponent below 1. Blocks that are far apart hold more trades, but less than in proportion, so that activity
 * grows towards the present.
 */
const GAP_EXPONENT = 0.3;
const DAILY_SWING = 0.5;
const PROGRESS_BLOCKS = 100;

/** Mines the history. Throws if the head is later than the start of the history, when aborted, or if the node fails. */
export async function mineHistory(rpc: DevRpc, world: World, options: HistoryOptions): Promise<History> {
  const timestamps = listTimestamps(options.endTimestamp, options.days);
  const head = await getBlockHead(rpc);
  const firstTimestamp = timestamps[0] ?? options.endTimestamp;
  if (head.timestamp >= firstTimestamp) {
    throw new AppError(
      'internal',
      `the head has the timestamp ${head.timestamp}; allowed: before ${firstTimestamp}, the first block of the history`,
    );
  }
  const maker = await openBlockMaker(rpc, world.accounts);
  const random = createRandom(options.seed);
  const walk = createPriceWalk(world.tokens, random);
  const trading = createTrading(world, walk, random);
  const launches = [...world.launches];
  let currentWorld = world;
  let swaps = 0;
  let timestampBefore = head.timestamp;
  const shares = shareTrades(timestamps, options.swaps);
  // The node mines a block while the next one is prepared.
  let lastMining = Promise.resolve();
  for (const [index, timestamp] of timestamps.entries()) {
    options.signal?.throwIfAborted();
    const block = trading.planBlock(
      roundRandomly(shares[index] ?? 1, random.next()),
      Math.min(timestamp - timestampBefore, 3_600),
    );
    for (const transaction of block.transactions) maker.add(transaction);
    const dueLaunches = launches.filter(
      ({ atFraction }) => index === Math.floor(atFraction * timestamps.length),
    );
    addLaunches(maker, currentWorld, dueLaunches);
    await lastMining;
    lastMining = maker.mine(timestamp);
    // `await lastMining` in the next round throws the error. An aborted loop has no next round.
    lastMining.catch(() => undefined);
    if (dueLaunches.length > 0) {
      await lastMining;
      trading.setWorld((currentWorld = await withLaunchedPools(rpc, currentWorld, dueLaunches)));
    }
    swaps += block.swaps;
    timestampBefore = timestamp;
    if (index % PROGRESS_BLOCKS === 0) options.onProgress?.(index, timestamps.length);
  }
  await lastMining;
  return { world: currentWorld, blocks: timestamps.length, swaps, walk };
}

/** Times of the blocks in ascending order; the last is `endTimestamp`. */
export function listTimestamps(endTimestamp: number, days: number): number[] {
  const timestamps: number[] = [];
  for (let age = 0; age < days * 86_400;) {
    timestamps.push(endTimestamp - age);
    age += SPACING.find(({ within }) => age < within)?.seconds ?? 7_200;
  }
  return timestamps.reverse();
}

/** Number of swaps per block. May be a fraction, but is at least one. */
function shareTrades(timestamps: readonly number[], swaps: number): number[] {
  const weights = timestamps.map((timestamp, index) => {
    const gap = timestamp - (timestamps[index - 1] ?? timestamp - 600);
    return gap ** GAP_EXPONENT * (1 + DAILY_SWING * Math.sin((timestamp / 86_400) * 2 * Math.PI));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => Math.max(1, (weight / total) * swaps));
}

/** Rounds up or down at random, so that the mean is unchanged. */
function roundRandomly(value: number, chance: number): number {
  return Math.floor(value) + (chance < value % 1 ? 1 : 0);
}

function addLaunches(maker: BlockMaker, world: World, dueLaunches: readonly Launch[]): void {
  const [deployer] = world.accounts;
  if (deployer === undefined)
    throw new AppError('internal', 'the node of the development chain has no accounts');
  for (const { plan } of dueLaunches)
    maker.add({ from: deployer, to: world.trader, ...openPoolCall(world, plan) });
}

async function withLaunchedPools(rpc: DevRpc, world: World, dueLaunches: readonly Launch[]): Promise<World> {
  const poolPlans = [...world.poolPlans, ...dueLaunches.map(({ plan }) => plan)];
  const launches = world.launches.filter((launch) => !dueLaunches.includes(launch));
  return { ...world, poolPlans, launches, pools: await readPools(rpc, world, poolPlans) };
}
