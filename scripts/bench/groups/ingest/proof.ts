/**
 * Measures the cost of the proof of blocks: compares the speed of a backfill, and the time from a block to a stream
 * client, with PROOF=full and PROOF=bloom. Both variants alternate.
 */
import { createDatabase, databaseUrl, log, say, writeDescription, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile, type Figure } from '../../figure';
import { askRows } from '../../../../test/support/engine/askRows';
import { startStubChain } from '../../../../test/support/stub/stubChain';
import { serveApi } from '../../loaders/servedApi';
import { ingest } from './backfill';
import { timeBlocks } from '../latency';

const MODES = ['bloom', 'full'] as const;
type Mode = (typeof MODES)[number];

const LOGS = Number(process.env['BENCH_PROOF_LOGS'] ?? 120_000);
const ROUNDS = 3;
const HEADS = 150;

export async function benchProof(bench: Bench): Promise<void> {
  for (const logsPerBlock of [20, 100]) bench.figures.push(await timeBackfills(bench, logsPerBlock));
  bench.figures.push(await timeHeads(bench));
}

async function timeBackfills({ server }: Bench, logsPerBlock: number): Promise<Figure> {
  say(`proving a backfill with ${logsPerBlock} logs a block …`);
  const blocks = Math.round(LOGS / logsPerBlock);
  const options = { blocks, logsPerBlock, pairs: 500, onlyV2: true, provable: true };
  const node = await startBenchChild('stubServer', options);
  const rates: Record<Mode, number[]> = { bloom: [], full: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const mode of MODES) {
      const name = `candlehouse_proof_${logsPerBlock}_${mode}_${round}`;
      const database = await createDatabase(server.writerUrl, name, true);
      const proof = { mode, trusted: null };
      const seconds = await ingest(node.url, database, blocks - 64, log, undefined, proof);
      const [row] = await askRows<{ logs: string }>(database, 'SELECT count() AS logs FROM logs');
      rates[mode].push(Number(row?.logs ?? 0) / seconds);
      await database.command('drop', `DROP DATABASE ${name}`);
      await database.close();
    }
  await node.close();
  const [value, limit] = [percentile(rates.full, 50), percentile(rates.bloom, 50)];
  return {
    name: `backfill with proven blocks, ${logsPerBlock} logs a block, median of ${ROUNDS}`,
    value,
    unit: 'logs/s',
    limitName: 'the same with PROOF=bloom',
    limit,
    ratio: value / limit,
    target: '>= 0.8x',
    ok: value >= 0.8 * limit,
  };
}

async function timeHeads({ server, folder }: Bench): Promise<Figure> {
  say('proving blocks at the head …');
  const first = 100;
  const times: Record<Mode, number> = { bloom: 0, full: 0 };
  for (const mode of MODES) {
    const options = {
      blocks: first + HEADS,
      logsPerBlock: 500,
      pairs: 200,
      transactionsMin: 200,
      provable: true,
    };
    const chain = await startStubChain(options);
    chain.setHead(first);
    const name = `candlehouse_proof_head_${mode}`;
    const database = await createDatabase(server.writerUrl, name, true);
    const api = await serveApi('all', {
      RPC_URL: chain.wsUrl,
      CHAIN_CONFIG: writeDescription(folder),
      START_BLOCK: '0',
      PROOF: mode,
      CLICKHOUSE_URL: databaseUrl(server.writerUrl, name),
    });
    times[mode] = percentile(await timeBlocks(api, chain, { from: first + 1, to: first + HEADS }), 99);
    await api.stop();
    await database.close();
    await chain.close();
  }
  const { full: value, bloom: limit } = times;
  return {
    name: `time from a new block to the stream client, p99 of ${HEADS} proven blocks of 200 transactions and 500 logs`,
    value,
    unit: 'ms',
    limitName: 'the same with PROOF=bloom',
    limit,
    ratio: value / limit,
    target: '<= limit + 10 ms',
    ok: value <= limit + 10,
  };
}
