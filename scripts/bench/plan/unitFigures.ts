/**
 * The figures from which a plan is computed: measured ones, and limits of the code. test/unit/bench/plan.test.ts
 * compares them with docs/measurements.md and with the files that set the limits.
 */
interface UnitFigure {
  readonly value: number;
  /** The figure as its row of docs/measurements.md writes it. */
  readonly written: string;
  /** The first column of that row. */
  readonly row: string;
  /** The command that measures the figure, in the last column of that row. */
  readonly command: string;
}

/** `measuredBy` is a group of benchmarks, or a whole command. */
const unit = (value: number, written: string, measuredBy: string, row: string): UnitFigure => ({
  value,
  written,
  row,
  command: measuredBy.includes(' ') ? measuredBy : `npm run bench -- ${measuredBy}`,
});

const RESIDENT = 'Resident memory of the API at the same time';
const HEAP = 'Heap of the API after garbage collection, when all lists of several heads were requested';
const PER_HEAD = 'Processor time of the API per new head for all lists of 100,000 pairs';
const EVENTS = 'Bytes of a row of the table `events`, 80 million rows';
const FOOTPRINT = 'Rows and bytes per swap, backfill of 800,000 logs of the benchmark chain';
const MERGES = 'Rows that merges write per inserted row, by the rows of a backfill';
const ENGINE_HEAD =
  'Processor time of ClickHouse per new head for all lists of 10,000 pairs, 100,000 swaps a day';

export const UNITS = {
  swapBytes: unit(
    134,
    '134 B',
    'growth',
    'Bytes of a stored swap, with ZSTD compression of its columns, 100 million swaps',
  ),
  barBytes: unit(35, '35 B', 'growth', 'Bytes of a stored bar, for 100 million swaps of 100,000 pairs'),
  barsPerSwap: unit(2.37, '2.37', 'growth', 'Bars per swap, 100 million swaps of 100,000 pairs'),
  eventBytes: unit(12.6, '12.6 B', 'growth', EVENTS),
  eventProjectionBytes: unit(15.1, '15.1 B', 'growth', EVENTS),
  eventsPerSwap: unit(1.82, '1.82 rows of `events`', 'footprint', FOOTPRINT),
  otherBytes: unit(223, '223 B', 'footprint', FOOTPRINT),
  logBytes: unit(54.05, '54.05 B', 'footprint', FOOTPRINT),
  rowsPerSwap: unit(13.75, '13.75 rows', 'footprint', FOOTPRINT),
  keyBytes: unit(0.17, '0.17 B', 'footprint', FOOTPRINT),
  mergeGb: unit(
    161,
    '161 GB',
    'SELECT value FROM system.merge_tree_settings',
    'Largest part that ClickHouse makes by a merge',
  ),
  mergeMicroseconds: unit(
    1.57,
    '1.57 µs',
    'footprint',
    'Processor time of ClickHouse per row that a merge writes',
  ),
  backfillLogs: unit(45_000, '45,000 logs/s', 'backfill', 'Speed of a backfill with a fast node, on 2 cores'),
  proofSpeed: unit(
    0.85,
    '0.85 with 100',
    'proof',
    'Speed of a backfill with `PROOF=full`, relative to `PROOF=bloom`',
  ),
  ingesterMicroseconds: unit(
    19,
    '16 to 19 µs',
    'backfill',
    'Processor time of the ingester per log, without the rest of the program',
  ),
  engineMicroseconds: unit(
    19,
    '15 to 19 µs',
    'backfill',
    'Processor time of ClickHouse per log, by where its data is',
  ),
  priceMs100k: unit(
    3.3,
    '3.3 against',
    'pricing',
    'Time of pricing one block with 100,000 pools, relative to the code before the price rules of 2026-11-26',
  ),
  priceRatio: unit(
    1.4,
    '1.4',
    'pricing',
    'Time of pricing one block with 100,000 pools, relative to 10,000 pools',
  ),
  priceBytes: unit(1256, '1,256 B', 'pricing', 'Heap of the prices of an ingester per pool'),
  residentMb20k: unit(278, '278 MB for 20,000', 'growth', RESIDENT),
  residentMb100k: unit(459, '459 MB for 100,000', 'growth', RESIDENT),
  heapMb20k: unit(115, '115 MB for 20,000', 'growth', HEAP),
  heapMb100k: unit(270, '270 MB for 100,000', 'growth', HEAP),
  heapLimitMb: unit(
    4345,
    '4,345 MB',
    'node -p "v8.getHeapStatistics().heap_size_limit"',
    'Largest heap of Node 20 on a machine with 24 GB',
  ),
  headSeconds20k: unit(0.54, '0.54 s for 20,000', 'growth', PER_HEAD),
  headSeconds100k: unit(0.94, '0.94 s', 'growth', PER_HEAD),
  messageMicroseconds: unit(
    10.51,
    '10.51 µs',
    'fanout',
    'Processor time of the API per message and stream client',
  ),
  clientKb: unit(1.64, '1.64 KB', 'fanout', 'Memory of the API per stream client'),
  mergesOfFew: unit(0, '0 with 308,007 rows', 'footprint', MERGES),
  mergesOfMany: unit(2.68, '2.68 with 3,505,966 rows', 'footprint', MERGES),
  followShare: unit(
    1.3,
    'the engine 1.3 %',
    'idle',
    'Processor time of an instance that follows a chain with a block of 24 logs every 10 s',
  ),
  pollMs: unit(2, '2 to 9 ms', 'explorer', 'Planning time of any SQL statement in ClickHouse'),
  engineHeadMs: unit(2040, '2,040 ms', 'heads', ENGINE_HEAD),
  dayReadMs: unit(488, '488 ms', 'lists', 'Mean reserves of all pools at a million swaps a day'),
  readMs: unit(4.2, '4.2 ms', 'ticks', 'Reading 300 bars, by the connection'),
  engineReadPart: unit(
    0.69,
    '0.69',
    'ticks',
    'Part of ClickHouse in the processor time of a request of 300 bars',
  ),
  cachedMicroseconds: unit(563, '563 µs', 'hot', 'Processor time of the API for a cached answer of `/pairs`'),
} as const;

interface CodeLimit {
  readonly value: number;
  readonly file: string;
  /** The text in the file that sets the limit. */
  readonly written: string;
}

const ENGINE_CONFIG = 'src/clickhouse/engine/engineConfig.ts';

/** Limits that the code sets. */
export const LIMITS = {
  streams: { value: 10_000, file: 'src/stream/hub.ts', written: 'clientsMax = 10_000' },
  statements: { value: 64, file: ENGINE_CONFIG, written: 'max_concurrent_queries_for_user: 64' },
  resultRows: { value: 2_000_000, file: ENGINE_CONFIG, written: 'max_result_rows: 2_000_000' },
  pollMs: { value: 50, file: 'src/stream/tailLoop.ts', written: 'pollMs = 50' },
  readerThreads: { value: 2, file: ENGINE_CONFIG, written: 'max_threads: 2' },
  statementSeconds: { value: 10, file: ENGINE_CONFIG, written: 'READER_SECONDS_MAX = 10' },
} as const satisfies Readonly<Record<string, CodeLimit>>;
