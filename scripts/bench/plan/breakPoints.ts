/** The points at which the design breaks, for one plan: each compares the largest chain, or all chains, with a limit. */
import type { PlanInput } from './planInput';
import {
  barBytesPerSwap,
  bytesPerSwap,
  dayReadSeconds,
  pairsOfHeadSeconds,
  pairsOfHeapBytes,
  pairsOfPriceSeconds,
  pollCores,
  swapsOfHeadSeconds,
  writerLogsPerSecond,
  type PlanNumbers,
} from './planNumbers';
import type { BreakPoint } from './planRow';
import { LIMITS, UNITS } from './unitFigures';

const MONTH_SECONDS = 30 * 86_400;

/** All points, the one with the least room first. */
export function listBreakPoints(input: PlanInput, numbers: PlanNumbers): BreakPoint[] {
  const points = [
    ...pointsOfLists(input, numbers),
    ...pointsOfWriting(input, numbers),
    ...pointsOfReading(input, numbers),
  ];
  return points.sort((a, b) => roomOf(a) - roomOf(b));
}

/** How many times the plan fits into the limit. */
export const roomOf = ({ limit, planned }: BreakPoint): number =>
  planned === 0 ? Infinity : limit / planned;

function pointsOfLists(input: PlanInput, { largest }: PlanNumbers): BreakPoint[] {
  const halfBlockSeconds = input['block-seconds'] / 2;
  const cores = input.cores * input.fill;
  return [
    {
      subject: 'lists of each head: ClickHouse reads a day of swaps for each API process',
      formula: 'swaps a day of one chain, at which this takes the cores of a machine',
      limit: swapsOfHeadSeconds((cores * input['block-seconds']) / largest.apiProcesses),
      planned: largest.swapsPerDay,
      unit: 'swaps a day',
    },
    {
      subject: 'lists of each head: the read of one day reaches the time limit of a statement',
      formula: `swaps a day of one chain, at which the read needs ${LIMITS.statementSeconds.value} s`,
      limit: LIMITS.statementSeconds.value / dayReadSeconds(1),
      planned: largest.swapsPerDay,
      unit: 'swaps a day',
    },
    {
      subject: 'lists of each head: an API process lags behind the chain',
      formula: 'pairs of one chain, at which the lists take half of the time between two blocks',
      limit: pairsOfHeadSeconds(halfBlockSeconds),
      planned: input.pairs,
      unit: 'pairs',
    },
    {
      subject: 'lists of all pairs in the memory of each API process',
      formula: 'pairs of one chain, at which the heap reaches the limit of Node',
      limit: pairsOfHeapBytes(UNITS.heapLimitMb.value * 1e6),
      planned: input.pairs,
      unit: 'pairs',
    },
    {
      subject: 'lists of all pairs as the result of one statement',
      formula: 'rows that a reader may get from one statement',
      limit: LIMITS.resultRows.value,
      planned: input.pairs,
      unit: 'pairs',
    },
  ];
}

function pointsOfWriting(input: PlanInput, numbers: PlanNumbers): BreakPoint[] {
  const { largest, backfillSeconds, shards } = numbers;
  return [
    {
      subject: 'one writer for each chain',
      formula: 'logs per second of one chain at its busiest time',
      limit: writerLogsPerSecond(),
      planned: largest.logsPerSecond,
      unit: 'logs/s',
    },
    {
      subject: 'a backfill is sequential: one writer, and prices block after block',
      formula: 'swaps of one chain that a backfill stores in 30 days',
      limit: (largest.swaps * MONTH_SECONDS) / backfillSeconds,
      planned: largest.swaps,
      unit: 'swaps',
    },
    {
      subject: 'prices are computed block after block',
      formula: 'pairs of one chain, at which pricing takes half of the time between two blocks',
      limit: pairsOfPriceSeconds(input['block-seconds'] / 2),
      planned: input.pairs,
      unit: 'pairs',
    },
    {
      subject: 'shards are permanent: a chain must begin with all of its shards',
      formula: 'swaps of one chain on the disk of one machine',
      limit: numbers.usableBytes / bytesPerSwap(input),
      planned: largest.swaps,
      unit: 'swaps',
    },
    {
      subject: 'parts of a table that are too large to be merged',
      formula: 'bytes of the bars of one shard in one part',
      limit: UNITS.mergeGb.value,
      planned: (largest.swaps * barBytesPerSwap()) / shards / 1e9,
      unit: 'GB',
    },
  ];
}

function pointsOfReading(input: PlanInput, numbers: PlanNumbers): BreakPoint[] {
  const { largest } = numbers;
  const uncached = largest.requestsPerSecond * (1 - input['cached-share']);
  return [
    {
      subject: 'each API process polls the head',
      formula: 'API processes of one chain, whose polls take one core of ClickHouse',
      limit: 1 / pollCores(),
      planned: largest.apiProcesses,
      unit: 'processes',
    },
    {
      subject: 'statements that one ClickHouse runs at the same time',
      formula: 'uncached requests per second × seconds of a request',
      limit: LIMITS.statements.value,
      planned: (uncached * UNITS.readMs.value) / 1_000,
      unit: 'statements',
    },
    {
      subject: 'streams of one API process',
      formula: 'streams of the largest chain for each of its API processes',
      limit: LIMITS.streams.value,
      planned: largest.streams / largest.apiProcesses,
      unit: 'streams',
    },
    {
      subject: 'messages that one API process sends',
      formula: 'messages per second that take the planned part of one core',
      limit: (input.fill * 1e6) / UNITS.messageMicroseconds.value,
      planned: largest.messagesPerSecond / largest.apiProcesses,
      unit: 'messages/s',
    },
  ];
}
