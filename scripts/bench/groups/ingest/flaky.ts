/** Compares backfills from one node: without failures, and with a share of failing calls. */
import { createDatabase, log, say, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { percentile } from '../../figure';
import { ingest } from './backfill';
import { UNFINAL_BLOCKS } from '../../../../test/support/stub/stubChain';

const LOGS_PER_BLOCK = 20;
const BLOCKS = Number(process.env['BENCH_FLAKY_BLOCKS'] ?? 2_000);
/** Time in ms that the node takes for an answer. */
const LATENCIES = [0, 30];
const ROUNDS = 3;
/** Shares of the calls that fail. The first one gives the limit. */
const SHARES = [0, 0.3, 0.6] as const;

export async function benchFlaky(bench: Bench): Promise<void> {
  const options = { blocks: BLOCKS, logsPerBlock: LOGS_PER_BLOCK, pairs: 500, onlyV2: true };
  const node = await startBenchChild('stubServer', options);
  for (const latencyMs of LATENCIES) {
    const rates = new Map(SHARES.map((share) => [share, [] as number[]]));
    for (let round = 0; round < ROUNDS; round += 1)
      for (const share of SHARES) {
        say(`backfill with a share of ${share} failing calls, ${latencyMs} ms before each answer …`);
        rates.get(share)?.push(await timeBackfill(bench, { url: node.url, share, latencyMs }));
      }
    const [faultlessRate = 0, ...flakyRates] = SHARES.map((share) => percentile(rates.get(share) ?? [], 50));
    for (const [index, rate] of flakyRates.entries()) {
      const share = SHARES[index + 1] ?? 0;
      // With 60 % failing calls, a backfill need only make progress.
      const minimum = share === 0.3 ? 0.5 : 0;
      bench.figures.push({
        name: `backfill with ${share * 100} % failing calls, ${latencyMs} ms before each answer, median of ${ROUNDS}`,
        value: rate,
        unit: 'blocks/s',
        limitName: 'the same without failures',
        limit: faultlessRate,
        ratio: rate / faultlessRate,
        target: minimum > 0 ? `>= ${minimum}x` : '> 0',
        ok: rate > minimum * faultlessRate,
      });
    }
  }
  await node.close();
}

async function timeBackfill(
  { server }: Bench,
  options: { readonly url: string; readonly share: number; readonly latencyMs: number },
): Promise<number> {
  const proxy = await startBenchChild('flakyServer', options);
  const name = 'candlehouse_flaky';
  const database = await createDatabase(server.writerUrl, name);
  const to = BLOCKS - UNFINAL_BLOCKS;
  const seconds = await ingest(proxy.url, database, to, log);
  await database.command('drop', `DROP DATABASE ${name}`);
  await database.close();
  await proxy.close();
  return to / seconds;
}
