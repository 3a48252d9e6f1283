/**
 * Measures what a backfilled swap leaves behind: rows and bytes of each table, primary keys in memory, and rows that
 * merges wrote again. In the stub chain, a swap has four logs in a V2 pair and three logs in a V3 pool.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { askRows } from '../../../test/support/engine/askRows';
import { createDatabase, log, say, waitForMerges, type Bench } from '../bench';
import { processorSeconds, startBenchChild, type BenchChild } from '../children/childProcess';
import type { Figure } from '../figure';
import { ingest } from './ingest/backfill';
import { UNFINAL_BLOCKS } from '../../../test/support/stub/stubChain';

const BLOCKS = Number(process.env['BENCH_FOOTPRINT_BLOCKS'] ?? 4_000);
const CHAIN = { blocks: BLOCKS, logsPerBlock: 200, pairs: 2_000 };
/** Smaller tables have no line of their own. */
const TABLE_BYTES_MIN = 65_536;

interface Stored {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly keyBytes: number;
}

export async function benchFootprint({ server, figures }: Bench): Promise<void> {
  say(`backfilling ${CHAIN.blocks * CHAIN.logsPerBlock} logs …`);
  const node = await startBenchChild('stubServer', CHAIN);
  for (const [name, blocks] of [
    ['candlehouse_tenth', Math.ceil(BLOCKS / 10)],
    ['candlehouse_footprint', BLOCKS],
  ] as const) {
    const database = await createDatabase(server.writerUrl, name);
    figures.push(await benchMerges(database, node, blocks - UNFINAL_BLOCKS));
    if (blocks === BLOCKS) figures.push(...(await measureTables(database, server.pid())));
    await database.close();
  }
  await node.close();
}

/** Rows that merges wrote per inserted row, after a backfill of blocks 0 … `toBlock`. */
async function benchMerges(database: Database, node: BenchChild, toBlock: number): Promise<Figure> {
  const countersBefore = await readCounters(database);
  await ingest(node.url, database, toBlock, log);
  await waitForMerges(database);
  const countersAfter = await readCounters(database);
  const inserted = countersAfter.inserted - countersBefore.inserted;
  return plainFigure(`rows written by merges per inserted row, of ${inserted} rows`, {
    value: (countersAfter.merged - countersBefore.merged) / inserted,
    unit: 'rows',
  });
}

async function readCounters(database: Database): Promise<{ inserted: number; merged: number }> {
  const rows = await askRows<{ event: string; value: string }>(
    database,
    "SELECT event, value FROM system.events WHERE event IN ('MergeTreeDataWriterRows', 'MergedRows')",
  );
  const counterOf = (event: string): number => Number(rows.find((row) => row.event === event)?.value ?? 0);
  return { inserted: counterOf('MergeTreeDataWriterRows'), merged: counterOf('MergedRows') };
}

/** Merges all parts of each table, then measures the tables. */
async function measureTables(database: Database, enginePid: number): Promise<Figure[]> {
  const secondsBefore = processorSeconds(enginePid);
  for (const { table } of await listStored(database))
    await database.command('optimize', `OPTIMIZE TABLE ${table} FINAL`);
  const mergeSeconds = processorSeconds(enginePid) - secondsBefore;
  const storedTables = await listStored(database);
  const sum = (valueOf: (stored: Stored) => number): number =>
    storedTables.reduce((total, stored) => total + valueOf(stored), 0);
  const swaps = storedTables.find(({ table }) => table === 'swaps')?.rows ?? NaN;
  const logs = storedTables.find(({ table }) => table === 'logs')?.rows ?? NaN;
  return [
    ...storedTables.map(({ table, rows, bytes }) =>
      plainFigure(`${table}: bytes per row, ${(rows / swaps).toFixed(3)} rows per swap`, {
        value: bytes / rows,
        unit: 'B',
      }),
    ),
    plainFigure(`all tables: bytes per swap, with ${(logs / swaps).toFixed(2)} logs per swap`, {
      value: sum(({ bytes }) => bytes) / swaps,
      unit: 'B',
    }),
    plainFigure('all tables: rows per swap', { value: sum(({ rows }) => rows) / swaps, unit: 'rows' }),
    plainFigure('primary keys in memory per swap', {
      value: sum(({ keyBytes }) => keyBytes) / swaps,
      unit: 'B',
    }),
    plainFigure('processor time of the engine per merged row', {
      value: (mergeSeconds / sum(({ rows }) => rows)) * 1e6,
      unit: 'us',
    }),
  ];
}

async function listStored(database: Database): Promise<Stored[]> {
  const rows = await askRows<Record<'table' | 'rows' | 'bytes' | 'keys', string>>(
    database,
    `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, sum(primary_key_bytes_in_memory) AS keys
     FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC LIMIT 100`,
  );
  const tableSizes = rows.map(({ table, ...row }) => ({
    table,
    rows: Number(row.rows),
    bytes: Number(row.bytes),
    keyBytes: Number(row.keys),
  }));
  return tableSizes.filter(({ bytes }) => bytes >= TABLE_BYTES_MIN);
}

function plainFigure(
  name: string,
  { value, unit }: { readonly value: number; readonly unit: string },
): Figure {
  return { name, value, unit, limitName: 'none', limit: value, ratio: 1, target: 'printed', ok: true };
}
