/** Backfill from a stub node through every table and view, against a raw insert of the same rows already encoded. */
import { createBlockSource } from '../../src/chain/blockSource';
import { systemClock } from '../../src/chain/clock';
import { createEndpointPool } from '../../src/chain/endpointPool';
import type { ChainDescription } from '../../src/domain/chainDescription';
import type { Database } from '../../src/clickhouse/database';
import { createClickHouseStore } from '../../src/ingest/clickhouseStore';
import { runIngest } from '../../src/ingest/runIngest';
import { newIngestStatus } from '../../src/ingest/status';
import type { Logger } from '../../src/log';
import type { Figure } from './figure';
import { stubDescription } from './stubDescription';

export interface RecordedInsert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly body: Buffer;
}

/** Ingests blocks 1 … to; returns the seconds that took and the bodies that were inserted. */
async function ingest(
  nodeUrl: string,
  database: Database,
  to: number,
  log: Logger,
  description: ChainDescription = stubDescription(),
): Promise<{ seconds: number; inserts: RecordedInsert[] }> {
  const inserts: RecordedInsert[] = [];
  const recording: Database = {
    ...database,
    insert(table, columns, body, token) {
      inserts.push({ table, columns, body: Buffer.from(body) });
      return database.insert(table, columns, body, token);
    },
  };
  const rpc = createEndpointPool({ urls: [nodeUrl], chainId: 369, log });
  const started = performance.now();
  await runIngest(
    {
      store: createClickHouseStore(recording, 369),
      rpc,
      source: createBlockSource({ pool: rpc, log }),
      chain: description,
      startBlock: { kind: 'absolute', block: 0 },
      finality: 'tag',
      status: newIngestStatus(),
      log,
      clock: systemClock(),
      stopAt: to,
    },
    new AbortController().signal,
  );
  const seconds = (performance.now() - started) / 1000;
  await rpc.close();
  return { seconds, inserts };
}

/** `raw` has the same tables without views; `unpriced` is for the same chain without an anchor. */
export async function benchBackfill(
  nodeUrl: string,
  databases: { readonly full: Database; readonly raw: Database; readonly unpriced: Database },
  blocks: number,
  log: Logger,
): Promise<{ figures: Figure[]; inserts: readonly RecordedInsert[] }> {
  const to = blocks - 64;
  const unpriced = await ingest(nodeUrl, databases.unpriced, to, log, { ...stubDescription(), anchors: [] });
  const { seconds, inserts } = await ingest(nodeUrl, databases.full, to, log);
  const [row] = await databases.full.select<{ logs: string }>(
    'count logs',
    'SELECT count() AS logs FROM logs',
  );
  const logs = Number(row?.logs ?? 0);
  const rawStarted = performance.now();
  for (const { table, columns, body } of inserts) await databases.raw.insert(table, columns, body);
  const rawSeconds = (performance.now() - rawStarted) / 1000;
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
      target: '>= 40,000 logs/s',
      ok: value >= 40_000,
    },
    {
      name: 'the same backfill with prices',
      value: seconds,
      unit: 's',
      limitName: 'without an anchor: no price, no bar of a token',
      limit: unpriced.seconds,
      ratio: seconds / unpriced.seconds,
      target: '<= 1.25x',
      ok: seconds <= 1.25 * unpriced.seconds,
    },
  ];
  return { figures, inserts };
}
