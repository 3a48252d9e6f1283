/**
 * Epochs of 32 blocks, counted by block number so that every replay agrees. Summarizes a leg over an epoch: the median
 * of its liquidity at block ends, and an exponentially weighted mean of its price. Liquidity that appears only within
 * an epoch has no weight, and sudden price moves are compared with the mean.
 */
import type { Leg, LegState } from './leg';

export const EPOCH_BLOCKS = 32;
/** Time constant in seconds, for the mean price and for the decay of traded amounts. */
export const MEAN_SECONDS = 1_800;
/** Pools without a move for 30 days are ignored. */
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
  /** Median liquidity over that epoch. */
  readonly depthLiquidity: number;
  /** Mean of ln(price) as of `at`; meaningless while `state.price` is 0. */
  readonly meanLog: number;
  /** Whole token1 traded, decayed to `at`. */
  readonly traded: number;
  /** Time of the last block of the epoch, unix seconds. */
  readonly at: number;
  /** Time of the last block that moved the leg, unix seconds. */
  readonly movedAt: number;
  /** Number of the epoch. */
  readonly epoch: number;
}

/** Moves of a leg in the running epoch: its state at the end of each block that moved it, ascending. */
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
}

export interface LegMove {
  readonly block: number;
  readonly time: number;
  readonly state: LegState;
}

/** The ingested part of an epoch. Blocks inclusive; times of the blocks in unix seconds. */
export interface EpochSpan {
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly lastTime: number;
}

/** Makes the record of an epoch in which the leg moved. */
export function closeEpoch(before: LegRecord | undefined, moves: LegMoves, span: EpochSpan): LegRecord {
  const last = moves.blocks[moves.blocks.length - 1];
  const state = last?.state ?? before?.state;
  if (state === undefined || last === undefined)
    throw new RangeError('closeEpoch needs at least one move of the leg');
  return {
    leg: moves.leg,
    state,
    depthLiquidity: depthOver(before, moves, span),
    meanLog: meanOver(before, moves, span),
    traded: decay(before, span.lastTime) + moves.traded,
    at: span.lastTime,
    movedAt: last.time,
    epoch: epochOf(span.lastBlock),
  };
}

/**
 * Liquidity that counts for a leg in an epoch: the median of the epoch before if the leg moved in it, otherwise its
 * current liquidity.
 */
export function depthIn(record: LegRecord, epoch: number): number {
  return record.epoch === epoch - 1 ? record.depthLiquidity : record.state.liquidity;
}

/** Mean price of a leg at a time at or after its record, without moves in between; 0: no price. */
export function meanPrice(record: LegRecord, time: number): number {
  if (!(record.state.price > 0)) return 0;
  return Math.exp(drift(record.meanLog, Math.log(record.state.price), time - record.at));
}

/** Whole token1 traded, decayed to a time at or after the record. */
export function decay(record: LegRecord | undefined, time: number): number {
  return record === undefined ? 0 : record.traded * Math.exp(-(time - record.at) / MEAN_SECONDS);
}

/** The mean after `seconds` at a constant value. */
function drift(mean: number, value: number, seconds: number): number {
  return seconds > 0 ? value + (mean - value) * Math.exp(-seconds / MEAN_SECONDS) : mean;
}

/**
 * The lower median of the liquidity at the end of each block of the epoch. A leg too young for a median above zero
 * gets the mean, limited by its liquidity at the end.
 */
function depthOver(before: LegRecord | undefined, { blocks, older }: LegMoves, span: EpochSpan): number {
  const held: { liquidity: number; count: number }[] = [];
  const first = blocks[0];
  let liquidity = before?.state.liquidity ?? (older ? (first?.state.liquidity ?? 0) : 0);
  let from = span.firstBlock;
  for (const move of blocks) {
    held.push({ liquidity, count: move.block - from });
    liquidity = move.state.liquidity;
    from = move.block;
  }
  held.push({ liquidity, count: span.lastBlock + 1 - from });
  held.sort((a, b) => a.liquidity - b.liquidity);
  const total = span.lastBlock + 1 - span.firstBlock;
  let seen = 0;
  let sum = 0;
  let median = -1;
  for (const { liquidity: value, count } of held) {
    seen += count;
    sum += value * count;
    if (median < 0 && seen > (total - 1) / 2) median = value;
  }
  return median > 0 ? median : Math.min(sum / total, liquidity);
}

function meanOver(before: LegRecord | undefined, { blocks }: LegMoves, span: EpochSpan): number {
  let mean = before?.meanLog ?? 0;
  let price = before?.state.price ?? 0;
  let time = before?.at ?? 0;
  for (const move of blocks) {
    if (price > 0) mean = drift(mean, Math.log(price), move.time - time);
    else if (move.state.price > 0) mean = Math.log(move.state.price);
    price = move.state.price;
    time = move.time;
  }
  return price > 0 ? drift(mean, Math.log(price), span.lastTime - time) : mean;
}
