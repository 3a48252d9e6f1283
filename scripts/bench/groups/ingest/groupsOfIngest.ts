/** Benchmark groups that ingest a chain: decode, backfill, insert. */
import { benchBackfill } from './backfill';
import {
  createDatabase,
  databaseUrl,
  log,
  memoryFigure,
  say,
  writeDescription,
  type Bench,
} from '../../bench';
import { startBenchChild, type BenchChild } from '../../children/childProcess';
import { benchDecode } from './decode';
import { benchInserts } from './inserts';
import { serveApi } from '../../loaders/servedApi';
import { startStubChain } from '../../../../test/support/stub/stubChain';

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 1_600);
const CHAIN = { blocks: BLOCKS, logsPerBlock: 200, pairs: 2_000 };

export async function benchIngest(bench: Bench): Promise<void> {
  const { server, figures, isWanted } = bench;
  if (isWanted('decode')) {
    say(`building a stub chain of ${BLOCKS} blocks …`);
    const chain = await startStubChain(CHAIN);
    figures.push(...benchDecode(chain));
    await chain.close();
  }
  if (!isWanted('backfill') && !isWanted('insert')) return;
  say('backfill …');
  // The stub chain runs in its own process, because building answers is the node's work.
  const node = await startBenchChild('stubServer', CHAIN);
  const full = await createDatabase(server.writerUrl, 'candlehouse_full');
  const raw = await createDatabase(server.writerUrl, 'candlehouse_raw', { hasViews: false });
  const unpriced = await createDatabase(server.writerUrl, 'candlehouse_unpriced');
  const recorded = await createDatabase(server.writerUrl, 'candlehouse_recorded', { hasViews: false });
  const pids = { ingester: process.pid, engine: server.pid(), node: node.pid };
  const backfill = await benchBackfill(node.url, { full, raw, unpriced, recorded }, pids, BLOCKS, log);
  if (isWanted('backfill')) {
    figures.push(...backfill.figures);
    await benchMemory(bench, node);
  }
  if (isWanted('insert')) {
    say('insert …');
    const rawUrl = databaseUrl(server.writerUrl, 'candlehouse_raw');
    figures.push(...(await benchInserts(backfill.inserts, { raw, rawUrl, full })));
  }
  for (const database of [unpriced, full, raw, recorded]) await database.close();
  await node.close();
}

/** Measures the memory of the whole program (API and ingester in one process) while it backfills the same chain. */
async function benchMemory({ server, folder, figures }: Bench, node: BenchChild): Promise<void> {
  say('measuring the memory of a backfill …');
  const database = await createDatabase(server.writerUrl, 'candlehouse_memory');
  const api = await serveApi('all', {
    RPC_URL: node.url,
    CHAIN_CONFIG: writeDescription(folder),
    START_BLOCK: '0',
    CLICKHOUSE_URL: databaseUrl(server.writerUrl, 'candlehouse_memory'),
  });
  while (Number((await api.head()) ?? 0) < BLOCKS) await new Promise((resolve) => setTimeout(resolve, 100));
  figures.push(memoryFigure('memory of API and ingester after the backfill', api.memoryMb(), 1_024));
  await api.stop();
  await database.close();
}
