/** The lines of a plan: each resource with its formula in words, its figure, and where one machine ends. */
import type { PlanInput } from './planInput';
import {
  apiBytes,
  apiHeadSeconds,
  apiReadSeconds,
  bytesPerSwap,
  engineHeadSeconds,
  engineReadSeconds,
  followCores,
  ingesterLogSeconds,
  marketBytesPerSwap,
  mergesPerRow,
  mergesPerTenfold,
  pairsOfHeapBytes,
  pollCores,
  priceSeconds,
  writerLogsPerSecond,
  type PlanNumbers,
} from './planNumbers';
import { showNumber, shownBytes, shownTime, type PlanRow } from './planRow';
import { LIMITS, UNITS } from './unitFigures';

export function listResources(input: PlanInput, numbers: PlanNumbers): PlanRow[] {
  return [
    ...diskRows(input, numbers),
    ...mergeRows(input, numbers),
    ...machineRows(input, numbers),
    ...writerRows(input, numbers),
    ...apiRows(input, numbers),
    ...streamRows(input, numbers),
  ];
}

function diskRows(input: PlanInput, numbers: PlanNumbers): PlanRow[] {
  const swapBytes = bytesPerSwap(input);
  return [
    {
      resource: 'bytes of a swap',
      formula: `${showNumber(marketBytesPerSwap())} B in tables of the market + logs per swap × ${UNITS.logBytes.value} B`,
      figure: shownBytes(swapBytes),
      end: '',
    },
    {
      resource: 'disk of one copy',
      formula: 'swaps × bytes of a swap',
      figure: shownBytes(numbers.bytesOfCopy),
      end: `${showNumber(numbers.usableBytes / swapBytes)} swaps: disk of a machine × fill`,
    },
    {
      resource: 'disk of all copies',
      formula: 'disk of one copy × replicas',
      figure: shownBytes(numbers.bytesOfCopy * input.replicas),
      end: '',
    },
    {
      resource: 'database machines of one copy, by disk',
      formula: 'disk of one copy / (disk of a machine × fill)',
      figure: showNumber(numbers.machinesOfCopy),
      end: '',
    },
    {
      resource: 'shards of the largest chain',
      formula: 'swaps × largest share × bytes of a swap / (disk of a machine × fill)',
      figure: showNumber(numbers.shards),
      end: 'permanent: rows do not move to a new shard',
    },
  ];
}

function mergeRows(input: PlanInput, { largest, shards, machinesOfCopy }: PlanNumbers): PlanRow[] {
  const rows = input.swaps * UNITS.rowsPerSwap.value;
  const merges = mergesPerRow((largest.swaps * UNITS.rowsPerSwap.value) / shards);
  return [
    {
      resource: 'rows of all tables',
      formula: `swaps × ${UNITS.rowsPerSwap.value} rows`,
      figure: showNumber(rows),
      end: '',
    },
    {
      resource: 'times that merges write a row, largest chain',
      formula: `${UNITS.mergesOfMany.value} at 3.5 million rows, ${showNumber(mergesPerTenfold())} more for ten times the rows`,
      figure: showNumber(merges),
      end: `parts of ${shownBytes(UNITS.mergeGb.value * 1e9)} are merged no more`,
    },
    {
      resource: 'processor time of all merges, one copy',
      formula: `rows × times × ${UNITS.mergeMicroseconds.value} µs`,
      figure: `${showNumber((rows * merges * UNITS.mergeMicroseconds.value) / 1e6 / 86_400)} core-days`,
      end: '',
    },
    {
      resource: 'primary keys in memory, each machine',
      formula: `swaps × ${UNITS.keyBytes.value} B / machines of one copy`,
      figure: shownBytes((input.swaps * UNITS.keyBytes.value) / machinesOfCopy),
      end: `${showNumber((input['memory-gb'] * 1e9 * input.fill) / UNITS.keyBytes.value)} swaps: memory × fill`,
    },
  ];
}

function machineRows(
  input: PlanInput,
  { engineCores, machines, largest, uncachedPerSecond }: PlanNumbers,
): PlanRow[] {
  const cores = input.cores * input.fill;
  const headSeconds = engineHeadSeconds(largest.swapsPerDay);
  return [
    {
      resource: 'ClickHouse: writing new blocks, one copy',
      formula: `chains × ${showNumber(followCores(input['block-seconds']))} cores + logs/s at the peak × ${UNITS.engineMicroseconds.value} µs`,
      figure: `${showNumber(engineCores.writing)} cores`,
      end: '',
    },
    {
      resource: 'ClickHouse: lists of each head',
      formula: `API processes × processor time of a head (largest chain: ${showNumber(headSeconds)} s) / block time`,
      figure: `${showNumber(engineCores.heads)} cores`,
      end: `${showNumber((cores * input['block-seconds']) / headSeconds)} API processes of the largest chain`,
    },
    {
      resource: 'ClickHouse: polls of the head',
      formula: `API processes × ${1_000 / LIMITS.pollMs.value} polls per second × ${UNITS.pollMs.value} ms`,
      figure: `${showNumber(engineCores.polls)} cores`,
      end: `${showNumber(cores / pollCores())} API processes`,
    },
    {
      resource: 'ClickHouse: requests',
      formula: `readers × reads per second × uncached part × ${showNumber(engineReadSeconds() * 1_000)} ms`,
      figure: `${showNumber(engineCores.requests)} cores for ${showNumber(uncachedPerSecond)} requests/s`,
      end: `${showNumber(cores / engineReadSeconds())} uncached requests/s`,
    },
    {
      resource: 'database machines of all copies',
      formula: 'more of: machines of one copy × replicas; cores / (cores of a machine × fill)',
      figure: showNumber(machines),
      end: '',
    },
  ];
}

function writerRows(input: PlanInput, { largest, backfillSeconds }: PlanNumbers): PlanRow[] {
  const priceCores = priceSeconds(input.pairs) / input['block-seconds'];
  return [
    {
      resource: 'ingesters',
      formula: 'one for each chain',
      figure: showNumber(input.chains),
      end: 'a second writer of a chain only stands by',
    },
    {
      resource: 'ingester of the largest chain, at the peak',
      formula: `logs/s × ${UNITS.ingesterMicroseconds.value} µs + ${showNumber(priceSeconds(input.pairs) * 1_000)} ms for prices / block time`,
      figure: `${showNumber(largest.logsPerSecond * ingesterLogSeconds() + priceCores)} cores for ${showNumber(largest.logsPerSecond)} logs/s`,
      end: `${showNumber(writerLogsPerSecond())} logs/s of one chain`,
    },
    {
      resource: 'pools and prices in the memory of an ingester',
      formula: `pairs × ${showNumber(UNITS.priceBytes.value)} B`,
      figure: shownBytes(input.pairs * UNITS.priceBytes.value),
      end: `${showNumber((UNITS.heapLimitMb.value * 1e6) / UNITS.priceBytes.value)} pairs: heap of Node`,
    },
    {
      resource: 'backfill of the largest chain',
      formula: `logs / ${showNumber(writerLogsPerSecond())} logs/s + blocks × ${showNumber(priceSeconds(input.pairs) * 1_000)} ms for prices`,
      figure: shownTime(backfillSeconds),
      end: 'sequential; two cores for each chain',
    },
  ];
}

function apiRows(input: PlanInput, { largest, apiProcesses }: PlanNumbers): PlanRow[] {
  const processBytes = apiBytes(input.pairs);
  const headSeconds = apiHeadSeconds(input.pairs);
  return [
    {
      resource: 'API processes of the largest chain',
      formula: 'most of: replicas; cores of requests and streams / (fill − part for heads); streams / 10,000',
      figure: showNumber(largest.apiProcesses),
      end: `${showNumber((input.fill / UNITS.cachedMicroseconds.value) * 1e6)} cached or ${showNumber(input.fill / apiReadSeconds())} uncached requests/s`,
    },
    {
      resource: 'API processes of all chains',
      formula: 'sum over chains, at least one per chain and replica',
      figure: showNumber(apiProcesses),
      end: '',
    },
    {
      resource: 'lists of each head, each API process',
      formula: `${showNumber(apiHeadSeconds(0))} s + pairs × ${showNumber(((headSeconds - apiHeadSeconds(0)) / input.pairs) * 1e6)} µs, / block time`,
      figure: `${showNumber(headSeconds / input['block-seconds'])} cores`,
      end: 'half of a core: then the lists lag behind the chain',
    },
    {
      resource: 'memory of an API process',
      formula: `${shownBytes(apiBytes(0))} + pairs × ${shownBytes((processBytes - apiBytes(0)) / input.pairs)}`,
      figure: shownBytes(processBytes),
      end: `${showNumber(pairsOfHeapBytes(UNITS.heapLimitMb.value * 1e6))} pairs: heap of Node`,
    },
    {
      resource: 'memory of all API processes',
      formula: 'API processes × memory of an API process',
      figure: shownBytes(apiProcesses * processBytes),
      end: '',
    },
  ];
}

function streamRows(input: PlanInput, { largest }: PlanNumbers): PlanRow[] {
  return [
    {
      resource: 'messages to streams of the largest chain, peak',
      formula: 'streams × swaps per second × peak: each stream gets all swaps of its chain',
      figure: `${showNumber(largest.messagesPerSecond)} messages/s`,
      end: `${showNumber((input.fill * 1e6) / UNITS.messageMicroseconds.value)} messages/s of one API process`,
    },
    {
      resource: 'memory of all streams',
      formula: `streams × ${UNITS.clientKb.value} KB`,
      figure: shownBytes(input.streams * UNITS.clientKb.value * 1_024),
      end: `${showNumber(LIMITS.streams.value)} streams of one API process`,
    },
  ];
}
