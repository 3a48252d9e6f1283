/** Computes what a plan needs from the operator's numbers and the measured unit figures. Pure. */
import type { PlanInput } from './planInput';
import { LIMITS, UNITS } from './unitFigures';

const DAY = 86_400;
const MICRO = 1e-6;
/** Rows of the two backfills whose merges were counted. */
const FEW_ROWS = 308_007;
const MANY_ROWS = 3_505_966;
/** Swaps a day of the chain whose lists were measured. */
const QUIET_SWAPS_PER_DAY = 100_000;
/** Time between two blocks of the chain for which `followShare` was measured. */
const FOLLOWED_BLOCK_SECONDS = 10;
/** Numbers of pairs for which lists and memory were measured. */
const FEW_PAIRS = 20_000;
const MANY_PAIRS = 100_000;
/** Numbers of pools for which prices were measured. */
const FEW_POOLS = 10_000;
const MANY_POOLS = 100_000;
const unitOf = (name: keyof typeof UNITS): number => UNITS[name].value;

/** The numbers of one chain. */
interface ChainNumbers {
  readonly swaps: number;
  readonly swapsPerDay: number;
  /** At the busiest time. */
  readonly logsPerSecond: number;
  readonly streams: number;
  /** Messages to all streams per second at the busiest time: each stream gets the events of all swaps. */
  readonly messagesPerSecond: number;
  readonly requestsPerSecond: number;
  /** Cores of the API for requests and streams. */
  readonly apiCores: number;
  readonly apiProcesses: number;
  /** Cores of ClickHouse that compute the lists of each head, for all API processes of the chain. */
  readonly headCores: number;
}

/** Bytes of one copy per swap. */
export function bytesPerSwap(input: PlanInput): number {
  return marketBytesPerSwap() + input['logs-per-swap'] * unitOf('logBytes');
}

export function marketBytesPerSwap(): number {
  const [bytesPerSwapRow, bars, events] = [
    unitOf('swapBytes'),
    barBytesPerSwap(),
    unitOf('eventsPerSwap') * eventBytes(),
  ];
  return bytesPerSwapRow + bars + events + unitOf('otherBytes');
}

export const barBytesPerSwap = (): number => unitOf('barsPerSwap') * unitOf('barBytes');
const eventBytes = (): number => unitOf('eventBytes') + unitOf('eventProjectionBytes');

/** Resident bytes of an API process: a line through the figures for 20,000 and 100,000 pairs. */
export function apiBytes(pairs: number): number {
  return (unitOf('residentMb20k') + slope('residentMb20k', 'residentMb100k') * (pairs - FEW_PAIRS)) * 1e6;
}

/** Seconds of the API's processor for the lists of a head: a line through the figures for 20,000 and 100,000 pairs. */
export function apiHeadSeconds(pairs: number): number {
  return unitOf('headSeconds20k') + slope('headSeconds20k', 'headSeconds100k') * (pairs - FEW_PAIRS);
}

/** Pairs at which the lists of a head take these seconds. */
export function pairsOfHeadSeconds(seconds: number): number {
  return FEW_PAIRS + (seconds - unitOf('headSeconds20k')) / slope('headSeconds20k', 'headSeconds100k');
}

/** Pairs at which the heap of an API process has these bytes. */
export function pairsOfHeapBytes(bytes: number): number {
  return FEW_PAIRS + (bytes / 1e6 - unitOf('heapMb20k')) / slope('heapMb20k', 'heapMb100k');
}

type UnitName = keyof typeof UNITS;

/** Growth of a figure with each further pair. */
const slope = (fewPairs: UnitName, manyPairs: UnitName): number =>
  (unitOf(manyPairs) - unitOf(fewPairs)) / (MANY_PAIRS - FEW_PAIRS);

/** Seconds of the read of the last day of swaps, which each head repeats. */
export const dayReadSeconds = (swapsPerDay: number): number =>
  (unitOf('dayReadMs') / 1_000) * (swapsPerDay / 1e6);

/**
 * Processor seconds of ClickHouse for the lists of one head and one API process. Up to QUIET_SWAPS_PER_DAY, the measured
 * time holds. With more swaps, the read of the last day takes all threads of its statement.
 */
export function engineHeadSeconds(swapsPerDay: number): number {
  const swapsAboveQuiet = Math.max(0, swapsPerDay - QUIET_SWAPS_PER_DAY);
  return unitOf('engineHeadMs') / 1_000 + LIMITS.readerThreads.value * dayReadSeconds(swapsAboveQuiet);
}

/** Swaps a day at which these lists take these seconds of processor time. */
export function swapsOfHeadSeconds(seconds: number): number {
  const secondsLeft = seconds - unitOf('engineHeadMs') / 1_000;
  return QUIET_SWAPS_PER_DAY + secondsLeft / (LIMITS.readerThreads.value * dayReadSeconds(1));
}

/** Cores of ClickHouse for the polls of one API process. */
export const pollCores = (): number => unitOf('pollMs') / LIMITS.pollMs.value;

/** Seconds of processor time of an uncached request: at most the time of a read of 300 bars. */
export const engineReadSeconds = (): number => (unitOf('readMs') / 1_000) * unitOf('engineReadPart');
export const apiReadSeconds = (): number => unitOf('readMs') / 1_000 - engineReadSeconds();

/** Cores of ClickHouse for following a chain with few logs: in proportion to the blocks, which is an upper bound. */
export const followCores = (blockSeconds: number): number =>
  ((unitOf('followShare') / 100) * FOLLOWED_BLOCK_SECONDS) / blockSeconds;

/** Seconds of processor time of the ingester and of ClickHouse per log. */
export const ingesterLogSeconds = (): number => unitOf('ingesterMicroseconds') * MICRO;
const engineLogSeconds = (): number => unitOf('engineMicroseconds') * MICRO;

/** Logs per second of one writer, with every block proven. */
export const writerLogsPerSecond = (): number => unitOf('backfillLogs') * unitOf('proofSpeed');

/** Seconds to price one block: a line through the figures for 10,000 and 100,000 pools. */
export function priceSeconds(pairs: number): number {
  return (unitOf('priceMs100k') / 1_000) * (1 + priceSlope() * (pairs - MANY_POOLS));
}

/** Pairs at which pricing one block takes these seconds. */
export function pairsOfPriceSeconds(seconds: number): number {
  return MANY_POOLS + (seconds / priceSeconds(MANY_POOLS) - 1) / priceSlope();
}

/** Growth of the time to price a block with each further pool, as a part of the time for MANY_POOLS pools. */
const priceSlope = (): number => (1 - 1 / unitOf('priceRatio')) / (MANY_POOLS - FEW_POOLS);

/** Rows that merges write for a tenfold number of rows, per stored row. */
export function mergesPerTenfold(): number {
  return (unitOf('mergesOfMany') - unitOf('mergesOfFew')) / Math.log10(MANY_ROWS / FEW_ROWS);
}

/** Rows that merges write per stored row: one more step for each tenfold number of rows. */
export function mergesPerRow(rows: number): number {
  return Math.max(0, unitOf('mergesOfMany') + mergesPerTenfold() * Math.log10(rows / MANY_ROWS));
}

/** The chain with this part of all swaps, readers and streams. */
function chainNumbers(input: PlanInput, share: number): ChainNumbers {
  const swaps = input.swaps * share;
  const swapsPerDay = swaps / input.days;
  const swapsPerSecond = (swapsPerDay / DAY) * input.peak;
  const streams = input.streams * share;
  const requestsPerSecond = (input.readers * share * input['reads-per-minute']) / 60;
  const messagesPerSecond = streams * swapsPerSecond;
  const cachedShare = input['cached-share'];
  const secondsPerRequest =
    cachedShare * unitOf('cachedMicroseconds') * MICRO + (1 - cachedShare) * apiReadSeconds();
  const apiCores =
    requestsPerSecond * secondsPerRequest + messagesPerSecond * unitOf('messageMicroseconds') * MICRO;
  // The part of a core that the lists of each head leave to requests and streams of an API process.
  const room = input.fill - apiHeadSeconds(input.pairs) / input['block-seconds'];
  const apiProcesses = Math.max(
    input.replicas,
    room > 0 ? Math.ceil(apiCores / room) : Infinity,
    Math.ceil(streams / LIMITS.streams.value),
  );
  return {
    swaps,
    swapsPerDay,
    logsPerSecond: swapsPerSecond * input['logs-per-swap'],
    streams,
    messagesPerSecond,
    requestsPerSecond,
    apiCores,
    apiProcesses,
    headCores: (apiProcesses * engineHeadSeconds(swapsPerDay)) / input['block-seconds'],
  };
}

export interface PlanNumbers {
  readonly largest: ChainNumbers;
  readonly apiProcesses: number;
  readonly uncachedPerSecond: number;
  /** Cores of ClickHouse: writing, polls of API processes, lists of each head, and requests. */
  readonly engineCores: Readonly<Record<'writing' | 'polls' | 'heads' | 'requests', number>>;
  readonly bytesOfCopy: number;
  /** Bytes of one machine that the plan uses. */
  readonly usableBytes: number;
  /** Shards of the largest chain. */
  readonly shards: number;
  /** Database machines of one copy, by disk. */
  readonly machinesOfCopy: number;
  /** Database machines of all copies. */
  readonly machines: number;
  readonly backfillSeconds: number;
}

export function planNumbers(input: PlanInput): PlanNumbers {
  const largest = chainNumbers(input, input['largest-share']);
  const otherChains = input.chains - 1;
  const otherChain = chainNumbers(input, otherChains === 0 ? 0 : (1 - input['largest-share']) / otherChains);
  const sum = (valueOf: (chain: ChainNumbers) => number): number =>
    valueOf(largest) + otherChains * valueOf(otherChain);
  const apiProcesses = sum((chain) => chain.apiProcesses);
  const uncachedPerSecond = sum((chain) => chain.requestsPerSecond) * (1 - input['cached-share']);
  const engineCores = {
    writing:
      input.chains * followCores(input['block-seconds']) +
      sum((chain) => chain.logsPerSecond) * engineLogSeconds(),
    polls: apiProcesses * pollCores(),
    heads: sum((chain) => chain.headCores),
    requests: uncachedPerSecond * engineReadSeconds(),
  };
  const bytesOfCopy = input.swaps * bytesPerSwap(input);
  const usableBytes = input['disk-tb'] * 1e12 * input.fill;
  const shards = Math.ceil((largest.swaps * bytesPerSwap(input)) / usableBytes);
  const machinesOfCopy = Math.max(shards, Math.ceil(bytesOfCopy / usableBytes));
  // Each replica writes; the API processes share the replicas for everything else.
  const { writing, polls, heads, requests } = engineCores;
  const cores = writing * input.replicas + polls + heads + requests;
  const machines = Math.max(machinesOfCopy * input.replicas, Math.ceil(cores / (input.cores * input.fill)));
  const blocks = (input.days * DAY) / input['block-seconds'];
  return {
    largest,
    apiProcesses,
    uncachedPerSecond,
    engineCores,
    bytesOfCopy,
    usableBytes,
    shards,
    machinesOfCopy,
    machines,
    backfillSeconds:
      (largest.swaps * input['logs-per-swap']) / writerLogsPerSecond() + blocks * priceSeconds(input.pairs),
  };
}
