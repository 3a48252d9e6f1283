/**
 * Epochs of 32 blocks, counted by block number so that every replay agrees. Summarizes a leg over an epoch by its mean
 * liquidity and its mean price over the last 30 minutes. Liquidity that appears for a few blocks has little weight, and
 * sudden price moves are compared with the mean.
 */
import { ZERO_ADDRESS, type Hex } from '../domain/hex';
import type { Leg, LegState } from './leg';

export const EPOCH_BLOCKS = 32;
/** Time constant in seconds, for the means of price and liquidity, and for the decay of traded amounts. */
const MEAN_SECONDS = 1_800;
/** Time in seconds without a move after which a pool is dormant: routes ignore it. */
export const DORMANT_SECONDS = 30 * 86_400;

export function epochOf(block: number): number {
  return Math.floor(block / EPOCH_BLOCKS);
}

/** First block of a block's epoch. */
export function epochStart(block: number): number {
  return epochOf(block) * EPOCH_BLOCKS;
}

/** Summary of a leg at the end of the last epoch in which it moved. */
export interface LegRecord {
  readonly leg: Leg;
  /** State at the end of the epoch. */
  readonly state: LegState;
  /** Mean liquidity over 30 minutes or the life of the leg, as of `at`. */
  readonly depthLiquidity: number;
  /** Part of the 30 minutes that the mean covers, 0–1: 1 − exp(−life / 30 minutes). */
  readonly depthWeight: number;
  /** Mean of ln(price) as of `at`; meaningless while `state.price` is 0. */
  readonly meanLog: number;
  /** Whole token1 traded, decayed to `at`. */
  readonly traded: number;
  /** Time of the last block of the epoch, unix seconds. */
  readonly at: number;
  /** Time of the last block that moved the leg, unix seconds. */
  readonly movedAt: number;
  /** The part of ln(price) that came without a swap and that the mean price has not reached yet, as of `at`. */
  readonly unswapped: number;
  readonly makers: LegMakers;
  readonly bornBlock: number;
}

/**
 * Up to two different makers of the leg, in order of appearance. Twice the zero address if the node does not name
 * senders, because makers then cannot be counted.
 */
export type LegMakers = readonly Hex[];

/** `bornBlock` of a leg that is older than the first ingested block. */
export const BORN_BEFORE = 0;
/** `bornBlock` of a leg that never had a price. */
export const UNBORN = 2 ** 32 - 1;
/** Least age of a pool that sets a trusted price. A younger pool gives a confidence of at most 0.4. */
const MATURE_BLOCKS = 100;
const MATURE_SECONDS = 1_000;
const MATURE_MAKERS = 2;

/** The least age in blocks on a chain with this mean time between two blocks. */
export function matureAge(blockSeconds = MATURE_SECONDS / MATURE_BLOCKS): number {
  return Math.max(MATURE_BLOCKS, Math.ceil(MATURE_SECONDS / blockSeconds));
}

/** Adds the makers of a block, in log order. */
export function addMakers(knownMakers: LegMakers, newMakers: readonly (Hex | null)[]): LegMakers {
  if (knownMakers.length >= MATURE_MAKERS) return knownMakers;
  if (newMakers.includes(null)) return [ZERO_ADDRESS, ZERO_ADDRESS];
  let makers = knownMakers;
  for (const maker of newMakers)
    if (maker !== null && makers.length < MATURE_MAKERS && !makers.includes(maker))
      makers = [...makers, maker];
  return makers;
}

/** The first block in which a leg has this age in blocks. Infinity if it has too few makers to set a trusted price. */
export function matureFrom(
  { bornBlock, makers }: Pick<LegRecord, 'bornBlock' | 'makers'>,
  ageBlocks: number,
): number {
  if (bornBlock === BORN_BEFORE) return BORN_BEFORE;
  return makers.length >= MATURE_MAKERS ? bornBlock + ageBlocks : Infinity;
}

/** Moves of a leg in the running epoch: its state at the end of each block that moved the leg, ascending. */
export interface LegMoves {
  readonly leg: Leg;
  /**
   * Whether the pool existed before the first ingested block. If so, its state before the first move is assumed equal
   * to its state after that move.
   */
  readonly older: boolean;
  readonly blocks: readonly LegMove[];
  /** Whole token1 traded since the epoch began. */
  readonly traded: number;
  /** The part of ln(price) that came without a swap. It does not decay within the epoch. */
  readonly unswapped: number;
  readonly makers: LegMakers;
  /** Block in which the leg first had a price, or had one again after it had none. */
  readonly bornBlock: number;
}

export interface LegMove {
  readonly block: number;
  readonly time: number;
  readonly state: LegState;
}

/** The ingested part of an epoch. Blocks inclusive; times of the blocks in unix seconds. */
interface EpochSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly lastTime: number;
}

/** Makes the record of an epoch in which the leg moved. */
export function closeEpoch(recordBefore: LegRecord | undefined, moves: LegMoves, span: EpochSpan): LegRecord {
  const lastMove = moves.blocks[moves.blocks.length - 1];
  const state = lastMove?.state ?? recordBefore?.state;
  if (state === undefined || lastMove === undefined)
    throw new RangeError('closeEpoch needs at least one move of the leg');
  const meanLog = meanLogOver(recordBefore, moves, span);
  const { depthLiquidity, depthWeight } = meanDepthOver(recordBefore, moves, span);
  return {
    leg: moves.leg,
    state,
    depthLiquidity,
    depthWeight,
    meanLog,
    traded: decay(recordBefore, span.lastTime) + moves.traded,
    at: span.lastTime,
    movedAt: lastMove.time,
    unswapped: heldPart(moves.unswapped, state.price, meanLog),
    makers: moves.makers,
    bornBlock: moves.bornBlock,
  };
}

/**
 * The part of ln(price) by which the published price is behind the spot price. It is directed towards the mean, and
 * is at most the distance from the mean.
 */
export function heldPart(unswapped: number, price: number, meanLog: number): number {
  const distance = price > 0 ? Math.log(price) - meanLog : 0;
  return unswapped > 0
    ? Math.max(0, Math.min(unswapped, distance))
    : Math.min(0, Math.max(unswapped, distance));
}

/** Mean liquidity of a leg at a time at or after its record, without moves in between. */
export function meanLiquidity(record: LegRecord, time: number): number {
  const { depthLiquidity, depthWeight, at } = record;
  const { liquidity } = record.state;
  const seconds = time - at;
  if (!(seconds > 0)) return depthWeight > 0 ? depthLiquidity : liquidity;
  // Repeats the formula of `driftDepth` without allocating an object: a route search calls this function for every
  // pool.
  const decay = Math.exp(-seconds / MEAN_SECONDS);
  const keptWeight = depthWeight * decay;
  return liquidity + (depthLiquidity - liquidity) * (keptWeight / (keptWeight + (1 - decay)));
}

/** Part of the 30 minutes that the mean of a leg covers at `time`, 0–1. `time` is not before the record. */
export function lifeWeight(record: LegRecord, time: number): number {
  return driftDepth(record, record.state.liquidity, time - record.at).depthWeight;
}

/**
 * The part of ln(price) that came without a swap, decayed from the record to `time`, without moves in
 * between.
 */
export function unswappedAt(record: LegRecord | undefined, time: number): number {
  if (record === undefined || record.unswapped === 0) return 0;
  return record.unswapped * Math.exp(-(time - record.at) / MEAN_SECONDS);
}

/** Mean price of a leg at or after the time of its record, if the leg did not move since. 0 if it has no price. */
export function meanPrice(record: LegRecord, time: number): number {
  if (!(record.state.price > 0)) return 0;
  return Math.exp(driftLog(record.meanLog, Math.log(record.state.price), time - record.at));
}

/** Whole token1 traded, decayed to a time at or after the record. */
export function decay(record: LegRecord | undefined, time: number): number {
  return record === undefined ? 0 : record.traded * Math.exp(-(time - record.at) / MEAN_SECONDS);
}

/** The mean after `seconds` at a constant value. */
function driftLog(mean: number, value: number, seconds: number): number {
  return seconds > 0 ? value + (mean - value) * Math.exp(-seconds / MEAN_SECONDS) : mean;
}

type MeanDepth = Pick<LegRecord, 'depthLiquidity' | 'depthWeight'>;

/**
 * The mean liquidity after `seconds` at a constant liquidity. If the mean covers no time yet, the result is this
 * liquidity.
 */
function driftDepth(
  { depthLiquidity, depthWeight }: MeanDepth,
  liquidity: number,
  seconds: number,
): MeanDepth {
  if (!(seconds > 0)) return { depthLiquidity: depthWeight > 0 ? depthLiquidity : liquidity, depthWeight };
  const decay = Math.exp(-seconds / MEAN_SECONDS);
  const keptWeight = depthWeight * decay;
  const weight = keptWeight + (1 - decay);
  return {
    depthLiquidity: liquidity + (depthLiquidity - liquidity) * (keptWeight / weight),
    depthWeight: weight,
  };
}

/** Liquidity at the end of a block lasts until the next block. */
function meanDepthOver(
  recordBefore: LegRecord | undefined,
  { blocks, older }: LegMoves,
  span: EpochSpan,
): MeanDepth {
  const firstMove = blocks[0];
  let mean: MeanDepth = recordBefore ?? {
    depthLiquidity: firstMove?.state.liquidity ?? 0,
    depthWeight: older ? 1 : 0,
  };
  let liquidity = recordBefore?.state.liquidity ?? firstMove?.state.liquidity ?? 0;
  let time = recordBefore?.at ?? firstMove?.time ?? span.lastTime;
  for (const move of blocks) {
    mean = driftDepth(mean, liquidity, move.time - time);
    liquidity = move.state.liquidity;
    time = move.time;
  }
  const { depthLiquidity, depthWeight } = driftDepth(mean, liquidity, span.lastTime - time);
  return { depthLiquidity, depthWeight };
}

function meanLogOver(recordBefore: LegRecord | undefined, { blocks }: LegMoves, span: EpochSpan): number {
  let mean = recordBefore?.meanLog ?? 0;
  let price = recordBefore?.state.price ?? 0;
  let time = recordBefore?.at ?? 0;
  for (const move of blocks) {
    if (price > 0) mean = driftLog(mean, Math.log(price), move.time - time);
    else if (move.state.price > 0) mean = Math.log(move.state.price);
    price = move.state.price;
    time = move.time;
  }
  return price > 0 ? driftLog(mean, Math.log(price), span.lastTime - time) : mean;
}
