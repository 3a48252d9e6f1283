/**
 * Measures what raw logs cost: compares the speed of a backfill, and the bytes on disk of its database, with EXPLORER=off
 * and EXPLORER=on. Both variants alternate.
 */
import type { Database } from '../../../../src/clickhouse/client/database';
import { createDatabase, log, say, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';
import { askRows } from '../../../../test/support/engine/askRows';
import { ingest } from './backfill';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';

const VARIANTS = ['on', 'off'] as const;
type Variant = (typeof VARIANTS)[number];

const LOGS = Number(process.env['BENCH_RAW_LOGS'] ?? 400_000);
/** Each round runs both variants, one after the other, because the speed of a shared machine changes. */
const ROUNDS = 5;

export async function benchRawLogs(bench: Bench): Promise<void> {
  for (const logsPerBlock of [20, 100]) bench.figures.push(...(await compare(bench, logsPerBlock)));
}

async function compare({ server }: Bench, logsPerBlock: number): Promise<Figure[]> {
  say(`backfilling with and without raw logs, ${logsPerBlock} logs a block …`);
  const blocks = Math.round(LOGS / logsPerBlock);
  const node = await startBenchChild('stubServer', { blocks, logsPerBlock, pairs: 500, onlyV2: true });
  const rates: Record<Variant, number[]> = { on: [], off: [] };
  const bytes: Record<Variant, number> = { on: 0, off: 0 };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const variant of round % 2 === 0 ? VARIANTS : [...VARIANTS].reverse()) {
      const name = `candlehouse_logs_${logsPerBlock}_${variant}_${round}`;
      const database = await createDatabase(server.writerUrl, name);
      const logOptions = { keepsAllLogs: () => variant === 'on' };
      const seconds = await ingest(node.url, database, blocks - UNFINAL_BLOCKS, log, undefined, logOptions);
      rates[variant].push((await countLogs(database)) / seconds);
      if (round === ROUNDS - 1) bytes[variant] = await sizeOf(database);
      await database.command('drop', `DROP DATABASE ${name}`);
      await database.close();
    }
  await node.close();
  const ratio = percentile(
    rates.off.map((rate, round) => rate / (rates.on[round] ?? NaN)),
    50,
  );
  return [
    {
      name: `backfill without raw logs, ${logsPerBlock} logs a block; the ratio is the median of ${ROUNDS} rounds`,
      value: percentile(rates.off, 50),
      unit: 'logs/s',
      limitName: 'the same with EXPLORER=on',
      limit: percentile(rates.on, 50),
      ratio,
      target: '>= 1.1x',
      ok: ratio >= 1.1,
    },
    {
      name: `disk space without raw logs, ${logsPerBlock} logs a block, all tables`,
      value: bytes.off / LOGS,
      unit: 'B/log',
      limitName: 'the same with EXPLORER=on',
      limit: bytes.on / LOGS,
      ratio: bytes.off / bytes.on,
      target: '<= 0.8x',
      ok: bytes.off <= 0.8 * bytes.on,
    },
  ];
}

/** Number of all logs of the stored blocks, with the logs that are not stored. */
async function countLogs(database: Database): Promise<number> {
  const [row] = await askRows<{ logs: string }>(
    database,
    'SELECT toString(sum(log_count)) AS logs FROM blocks',
  );
  return Number(row?.logs ?? 0);
}

/** Bytes on disk after all parts of each table are merged, so that the number of inserts does not matter. */
async function sizeOf(database: Database): Promise<number> {
  const tables = await askRows<{ name: string }>(
    database,
    `SELECT DISTINCT table AS name FROM system.parts WHERE active AND database = currentDatabase() LIMIT 1000`,
  );
  for (const { name } of tables) await database.command('merge', `OPTIMIZE TABLE ${name} FINAL`);
  const [row] = await askRows<{ bytes: string }>(
    database,
    'SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND database = currentDatabase()',
  );
  return Number(row?.bytes ?? 0);
}
