/**
 * The group `peers`: the same backfill (Swap and Sync of the pairs of one V2 factory) by Candlehouse and by other
 * indexers. Candlehouse does all its work: raw logs, pools, prices, bars, balances, audit. The others store only rows.
 * All read the same stub node, one after the other, and the first blocks of the same chain. A slow indexer reads fewer
 * blocks, but each runs for 20 s or more.
 *
 * The lock files in ponder/, subsquid/ and postgres/ fix the versions: Ponder 0.16 (the last on Node 20, with PGlite
 * 0.2), Subsquid's evm-processor 1.27 and typeorm-store 1.5, and Postgres 18. The benchmark prints the installed
 * versions. It installs these packages only when the group is named.
 *
 * A peer's time runs from its first request for logs to its last commit, without start, schema and connection.
 * Candlehouse's time runs from the start of its ingester. A peer that did not store exactly all rows has no figure.
 */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import type { EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { errorText } from '../../../src/errors';
import { askRows } from '../../../test/support/engine/askRows';
import { installProject } from '../../../test/support/server/installProject';
import { ingest } from '../groups/ingest/backfill';
import { createDatabase, databaseUrl, log, say, waitForMerges, type Bench } from '../bench';
import { startBenchChild } from '../children/childProcess';
import type { Figure } from '../figure';
import { STUB_V2_FACTORY, UNFINAL_BLOCKS } from '../../../test/support/stub/stubChain';
import { projectOf, type PeerRows, type PeerRun, type PeerTask } from './peerRun';
import { runPonder } from './ponderPeer';
import { findPostgres, startPostgres, type PostgresServer } from './postgresServer';
import { runScript } from './scriptPeer';
import { runSubsquid } from './subsquidPeer';

/**
 * Number of blocks that Candlehouse and script.mjs read. The stub node holds the blocks in memory: 14,000 blocks take 6
 * GB.
 */
const BLOCKS = Number(process.env['BENCH_PEER_BLOCKS'] ?? 14_000);
const LOGS_PER_BLOCK = 200;

interface Rate {
  readonly name: string;
  readonly eventsPerSecond: number;
}

const blocksOf = (share: number): number => Math.max(2, Math.round(BLOCKS * share));
const eventsTo = (to: number): number => (to - 1) * LOGS_PER_BLOCK;

export async function benchPeers({ server, figures }: Bench): Promise<void> {
  say('installing the other indexers …');
  const ponder = await installProject(projectOf('ponder'), 'peer-ponder');
  const subsquid = await installProject(projectOf('subsquid'), 'peer-subsquid');
  const binaries = findPostgres(await installProject(projectOf('postgres'), 'peer-postgres'));
  if (binaries === null)
    say(
      `Postgres is not available for ${process.platform} on ${process.arch}; skipping the indexers that need it`,
    );

  say(`building a stub chain of ${BLOCKS} blocks …`);
  // Blocks after the last block read, so that all blocks read are final.
  const chain = { blocks: BLOCKS + UNFINAL_BLOCKS, logsPerBlock: LOGS_PER_BLOCK, pairs: 2_000, onlyV2: true };
  const node = await startBenchChild('stubServer', { ...chain, forIndexers: true });
  // A slow indexer gets a smaller share of the blocks.
  const task = (share: number): PeerTask => ({
    rpcUrl: node.url,
    factory: STUB_V2_FACTORY,
    to: blocksOf(share),
  });
  try {
    const scriptRate = await attempt(() => measure(task(1), (peerTask) => runScriptIn(server, peerTask)));
    const candlehouse = await measureCandlehouse(server, task(1));
    const embeddedRate = await attempt(() =>
      measure(task(0.025), (peerTask) => runPonder(peerTask, ponder, null)),
    );
    const squid = await attemptWithPostgres(binaries, (postgres) =>
      measure(task(0.16), (peerTask) => runSubsquid(peerTask, subsquid, postgres)),
    );
    const servedRate = await attemptWithPostgres(binaries, (postgres) =>
      measure(task(0.04), (peerTask) => runPonder(peerTask, ponder, postgres)),
    );
    if (embeddedRate !== null) figures.push(compare(candlehouse, embeddedRate, 40));
    if (servedRate !== null) figures.push(compare(candlehouse, servedRate, null));
    if (squid !== null) figures.push(compare(candlehouse, squid, 5));
    if (scriptRate !== null) figures.push(compare(candlehouse, scriptRate, 0.6));
  } finally {
    await node.close();
  }
}

/** A failing peer has no figure. The others still run, and the benchmark exits with an error. */
async function attempt(run: () => Promise<Rate>): Promise<Rate | null> {
  try {
    return await run();
  } catch (error) {
    say(`measurement failed: ${errorText(error)}`);
    process.exitCode = 1;
    return null;
  }
}

/** Starts a new Postgres server, so one peer's rows do not slow another. */
async function attemptWithPostgres(
  binaries: string | null,
  run: (postgres: PostgresServer) => Promise<Rate>,
): Promise<Rate | null> {
  if (binaries === null) return null;
  return attempt(async () => {
    const postgres = await startPostgres(binaries);
    try {
      return await run(postgres);
    } finally {
      await postgres.stop();
    }
  });
}

/** Seconds from the first request for logs to the last commit; checks that all rows are stored. */
async function measure(task: PeerTask, run: (task: PeerTask) => Promise<PeerRun>): Promise<Rate> {
  await takeLogsAskedAt(task.rpcUrl);
  const { name, rows, endedAt } = await run(task);
  const startedAt = await takeLogsAskedAt(task.rpcUrl);
  if (startedAt === null) throw new Error(`${name} sent no request for logs`);
  return rateOf(name, task, rows, (endedAt - startedAt) / 1_000);
}

function rateOf(name: string, { to }: PeerTask, { swaps, syncs }: PeerRows, seconds: number): Rate {
  const events = eventsTo(to);
  if (swaps !== events / 2 || syncs !== events / 2)
    throw new Error(`${name} stored ${swaps} swaps and ${syncs} syncs, expected ${events / 2} of each`);
  const eventsPerSecond = events / seconds;
  const blocksText = `${to.toLocaleString('en-US')} blocks`;
  say(
    `${name}: ${events} events of ${blocksText} in ${seconds.toFixed(1)} s, ${Math.round(eventsPerSecond)}/s`,
  );
  return { name: `${name}, ${blocksText}`, eventsPerSecond };
}

/** Returns the time of the first request for logs since the last call, unix ms; null without a request. */
async function takeLogsAskedAt(rpcUrl: string): Promise<number | null> {
  const body = JSON.stringify({ id: 1, method: 'stub_takeLogsAskedAt', params: [] });
  const response = await fetch(rpcUrl, { method: 'POST', body });
  return ((await response.json()) as { result: number | null }).result;
}

async function runScriptIn(server: EmbeddedServer, task: PeerTask): Promise<PeerRun> {
  const name = 'candlehouse_script';
  const admin = openDatabase({ url: server.writerUrl });
  await admin.command('create', `CREATE DATABASE ${name}`);
  const database = openDatabase({ url: databaseUrl(server.writerUrl, name) });
  const run = await runScript(task, databaseUrl(server.writerUrl, name), database);
  await dropWhenMerged(admin, database, name);
  await admin.close();
  return run;
}

async function measureCandlehouse(server: EmbeddedServer, task: PeerTask): Promise<Rate> {
  const name = 'candlehouse_peers';
  const admin = openDatabase({ url: server.writerUrl });
  const database = await createDatabase(server.writerUrl, name);
  const seconds = await ingest(task.rpcUrl, database, task.to, log);
  const [row] = await askRows<{ swaps: string; syncs: string }>(
    database,
    "SELECT (SELECT count() FROM swaps) AS swaps, (SELECT count() FROM pool_states WHERE kind = 'sync') AS syncs",
  );
  const rows = { swaps: Number(row?.swaps), syncs: Number(row?.syncs) };
  const rate = rateOf('Candlehouse', task, rows, seconds);
  await dropWhenMerged(admin, database, name);
  await admin.close();
  return rate;
}

/** Drops a database and waits for merges, so the database server is idle for the next peer. */
async function dropWhenMerged(admin: Database, database: Database, name: string): Promise<void> {
  await database.close();
  await admin.command('drop', `DROP DATABASE ${name} SYNC`);
  await waitForMerges(admin);
}

/**
 * Makes the figure that compares Candlehouse with one peer. `timesFaster` is how many times as fast as the peer
 * Candlehouse promises to be at least; null without a promise.
 */
function compare(ownRate: Rate, peerRate: Rate, timesFaster: number | null): Figure {
  const ratio = ownRate.eventsPerSecond / peerRate.eventsPerSecond;
  return {
    name: `Swap and Sync of one V2 factory: ${ownRate.name}`,
    value: ownRate.eventsPerSecond,
    unit: 'events/s',
    limitName: peerRate.name,
    limit: peerRate.eventsPerSecond,
    ratio,
    target: timesFaster === null ? 'none' : `>= ${timesFaster}x`,
    ok: timesFaster === null || ratio >= timesFaster,
  };
}
