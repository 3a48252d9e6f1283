/**
 * Compares the speed of a backfill from an SQD portal with one from a fast node. The portal is a stand-in that has its
 * answers in memory. Both backfills store the same blocks with the same command, and they alternate.
 */
import { say, type Bench } from '../../bench';
import { startBenchChild } from '../../children/childProcess';
import { compareFills, LOGS_PER_BLOCK, ROUNDS, timeFill } from './parquet';

const LOGS = Number(process.env['BENCH_SERVICES_LOGS'] ?? 120_000);
/** Blocks of one answer of the portal. */
const ANSWER_BLOCKS = 500;

export async function benchServices({ server, folder, figures }: Bench): Promise<void> {
  say('backfilling from a portal …');
  const blocks = Math.round(LOGS / LOGS_PER_BLOCK);
  const to = blocks - 64;
  const chain = { blocks, logsPerBlock: LOGS_PER_BLOCK, pairs: 500, onlyV2: true, provable: true };
  const node = await startBenchChild('stubServer', chain);
  const target = { rpcUrl: node.url, head: to, blocksMax: ANSWER_BLOCKS };
  const portal = await startBenchChild('portalServer', target);
  const fillFrom = (source?: string): Promise<number> =>
    timeFill(server.writerUrl, folder, node.url, { to, ...(source === undefined ? {} : { source }) });
  // In the first backfill, the portal makes its answers.
  await fillFrom(portal.url);
  const rates = { node: [] as number[], portal: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.node.push(await fillFrom());
    rates.portal.push(await fillFrom(portal.url));
  }
  await portal.close();
  await node.close();
  figures.push(compareFills('an SQD portal', rates.portal, rates.node));
}
