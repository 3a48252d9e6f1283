/** Measures a backfill from a stub node through every table and view, against a raw insert of the same encoded rows. */
import { cpus } from 'node:os';

import { createBlockSource, type BlockSource } from '../../../../src/node/blocks/blockSource';
import { systemClock } from '../../../../src/node/rpc/clock';
import { createEndpointPool } from '../../../../src/node/rpc/endpointPool';
import type { ProofOptions } from '../../../../src/domain/block';
import type { ChainDescription } from '../../../../src/domain/chainDescription';
import type { Database } from '../../../../src/clickhouse/client/database';
import { toOrd } from '../../../../src/domain/ord';
import { createClickHouseStore } from '../../../../src/ingest/store/clickhouseStore';
import {
  HASH_BLOCKS,
  hashRanges,
  listWholeRanges,
  writeRangeHash,
} from '../../../../src/ingest/repair/rangeHash';
import { runIngest } from '../../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../../src/ingest/session/status';
import type { Logger } from '../../../../src/log';
import { processorSeconds } from '../../children/childProcess';
import type { Figure } from '../../figure';
import { askRows } from '../../../../test/support/engine/askRows';
import { stubDescription } from '../../../../test/support/stub/stubDescription';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';

/** A value for each process of a backfill: its id, or seconds of processor time. */
type PerProcess = Readonly<Record<'ingester' | 'engine' | 'node', number>>;

export interface RecordedInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly body: Buffer;
}

/** Number of blocks that `measureReading` fetches at a time. */
const RANGE_BLOCKS = 80;

/** Wraps a database to record its inserts. */
function recordInserts(database: Database): { recording: Database; inserts: RecordedInsert[] } {
  const inserts: RecordedInsert[] = [];
  const recording: Database = {
    ...database,
    insert(table, columns, body, token) {
      inserts.push({ table, columns, body: Buffer.from(body) });
      return database.insert(table, columns, body, token);
    },
  };
  return { recording, inserts };
}

interface IngestSettings {
  readonly proof?: ProofOptions;
  readonly keepsAllLogs?: (block: number) => boolean;
  readonly wrapSource?: (node: BlockSource) => BlockSource;
}

/** Ingests blocks 0 … `to` with all of the ingester's work; returns the seconds. */
export async function ingest(
  nodeUrl: string,
  database: Database,
  to: number,
  log: Logger,
  description: ChainDescription = stubDescription(),
  { proof, keepsAllLogs, wrapSource = (node) => node }: IngestSettings = {},
): Promise<number> {
  const rpc = createEndpointPool({ urls: [nodeUrl], chainId: 369, log });
  const startedAt = performance.now();
  await runIngest(
    {
      store: createClickHouseStore(database, 369),
      rpc,
      source: wrapSource(createBlockSource({ pool: rpc, log, ...(proof === undefined ? {} : { proof }) })),
      chain: description,
      keepsAllLogs,
      startBlock: { kind: 'absolute', block: 0 },
      finality: 'tag',
      status: newIngestStatus(),
      log,
      clock: systemClock(),
      stopAt: to,
    },
    new AbortController().signal,
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await rpc.close();
  return seconds;
}

/**
 * `full` has all tables and views. `raw` and `recorded` have the tables without the views. `unpriced` receives the same
 * chain ingested without anchors, so without USD prices.
 */
export async function benchBackfill(
  nodeUrl: string,
  databases: Readonly<Record<'full' | 'raw' | 'unpriced' | 'recorded', Database>>,
  pids: PerProcess,
  blocks: number,
  log: Logger,
): Promise<{ figures: Figure[]; inserts: readonly RecordedInsert[] }> {
  const to = blocks - UNFINAL_BLOCKS;
  const unpricedSeconds = await ingest(nodeUrl, databases.unpriced, to, log, {
    ...stubDescription(),
    anchors: [],
  });
  const timesBefore = processorTimes(pids);
  const seconds = await ingest(nodeUrl, databases.full, to, log);
  const timesAfter = processorTimes(pids);
  // A separate backfill records the inserts, because copying them takes time.
  const { recording, inserts } = recordInserts(databases.recorded);
  await ingest(nodeUrl, recording, to, log);
  const [row] = await askRows<{ logs: string }>(databases.full, 'SELECT count() AS logs FROM logs');
  const logs = Number(row?.logs ?? 0);
  const rawStartedAt = performance.now();
  for (const { table, columns, body } of inserts) await databases.raw.insert(table, columns, body);
  const rawSeconds = (performance.now() - rawStartedAt) / 1000;
  const value = logs / seconds;
  const limit = logs / rawSeconds;
  const figures = [
    {
      key: 'backfill',
      name: `backfill of ${logs} logs, all tables and bars`,
      value,
      unit: 'logs/s',
      limitName: 'raw insert of the same encoded rows, no views',
      limit,
      ratio: value / limit,
      target: '>= 100,000 logs/s, >= 0.35x',
      ok: value >= 100_000 && value >= 0.35 * limit,
    },
    {
      name: 'the same backfill with prices',
      value: seconds,
      unit: 's',
      limitName: 'the same without prices: the chain has no anchor',
      limit: unpricedSeconds,
      ratio: seconds / unpricedSeconds,
      target: '<= 1.25x',
      ok: seconds <= 1.25 * unpricedSeconds,
    },
    processorFigure({
      before: timesBefore,
      after: timesAfter,
      logs,
      seconds,
      readingSeconds: await measureReading(nodeUrl, to, pids, log),
    }),
  ];
  return { figures: [...figures, await timeRangeHashes(databases.full, to, logs / seconds)], inserts };
}

function processorTimes({ ingester, engine, node }: PerProcess): PerProcess {
  return {
    ingester: processorSeconds(ingester),
    engine: processorSeconds(engine),
    node: processorSeconds(node),
  };
}

/** Processor seconds that the ingester needs to fetch, parse and verify the blocks. */
async function measureReading(nodeUrl: string, to: number, pids: PerProcess, log: Logger): Promise<number> {
  const pool = createEndpointPool({ urls: [nodeUrl], chainId: 369, log });
  const source = createBlockSource({ pool, log });
  const secondsBefore = processorTimes(pids).ingester;
  for (let from = 0; from <= to; from += RANGE_BLOCKS)
    await source.fetchRange(from, Math.min(to, from + RANGE_BLOCKS - 1));
  const seconds = processorTimes(pids).ingester - secondsBefore;
  await pool.close();
  return seconds;
}

interface BackfillCost {
  /** Processor seconds of each process before and after the backfill. */
  readonly before: PerProcess;
  readonly after: PerProcess;
  readonly logs: number;
  readonly seconds: number;
  /** Processor seconds that the ingester needs only to fetch, parse and verify the blocks (result of `measureReading`). */
  readonly readingSeconds: number;
}

/**
 * Processor time per log, by process. The limit is the time of all cores, so a ratio near 1 means that the machine is
 * fully used. The ingester's time without the reading of blocks is spent on decoding, prices, rows and garbage
 * collection.
 */
function processorFigure({ before, after, logs, seconds, readingSeconds }: BackfillCost): Figure {
  const perLog = (processName: keyof PerProcess): number =>
    ((after[processName] - before[processName]) / logs) * 1e6;
  const readMicroseconds = (readingSeconds / logs) * 1e6;
  const [ingester, engine, node] = [perLog('ingester'), perLog('engine'), perLog('node')];
  const value = ingester + engine + node;
  const limit = (cpus().length * seconds * 1e6) / logs;
  // With 10 µs of each core per log, all cores together store 100,000 logs per second.
  const targetMicroseconds = cpus().length * 10;
  const parts = `ingester ${ingester.toFixed(1)}, of which reading blocks ${readMicroseconds.toFixed(1)}, engine ${engine.toFixed(1)}, stub node ${node.toFixed(1)}`;
  return {
    name: `processor time per backfilled log (${parts})`,
    value,
    unit: 'us',
    limitName: `time of ${cpus().length} cores per log at this rate`,
    limit,
    ratio: value / limit,
    target: `<= ${targetMicroseconds} us: 100,000 logs/s`,
    ok: value <= targetMicroseconds,
  };
}

/** Cost of the range hashes of the backfilled blocks, on one thread as in the ingester. */
async function timeRangeHashes(database: Database, to: number, logsPerSecond: number): Promise<Figure> {
  const ranges = listWholeRanges(0, to);
  const [row] = await askRows<{ logs: string }>(
    database,
    `SELECT count() AS logs FROM logs WHERE ord >= ${toOrd(ranges[0] ?? 0, 0)} AND ord < ${toOrd((ranges.at(-1) ?? 0) + HASH_BLOCKS, 0)}`,
  );
  const logs = Number(row?.logs ?? 0);
  const startedAt = performance.now();
  for await (const range of hashRanges(database, 369, ranges, 1)) await writeRangeHash(database, 369, range);
  const value = (performance.now() - startedAt) / 1000;
  const limit = logs / logsPerSecond;
  return {
    name: `range hashes of ${ranges.length * HASH_BLOCKS} blocks with ${logs} logs`,
    value,
    unit: 's',
    limitName: 'backfill of the same number of logs',
    limit,
    ratio: value / limit,
    target: '<= 0.15x',
    ok: value <= 0.15 * limit,
  };
}
