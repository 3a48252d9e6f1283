/**
 * The group `peers`: the same backfill, Swap and Sync of the pairs of one V2 factory, by Candlehouse with all its work (raw
 * logs, pools, prices, bars, balances, audit) and by other indexers that store rows. All read the same stub node, one after
 * the other, each the first blocks of the same chain: fewer where it is slow, so that each takes 20 s or more.
 *
 * Versions are those of the lock files in ponder/, subsquid/ and postgres/ (Ponder 0.16, the last on Node 20, with PGlite
 * 0.2; Subsquid's evm-processor 1.27 and typeorm-store 1.5; Postgres 18); what ran is read from the installed packages and
 * printed. They are installed when the group is asked for by name, never otherwise.
 *
 * A peer's time is from its first request for logs to its last commit; its start, its schema and its connection are not
 * counted. Candlehouse's is from the start of its ingester. A peer that stored other than all rows has no figure.
 */
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import type { EmbeddedServer } from '../../../src/clickhouse/engine/server';
import { errorText } from '../../../src/errors';
import { askRows } from '../../../test/support/askRows';
import { installProject } from '../../../test/support/installProject';
import { ingest } from '../backfill';
import { createDatabase, databaseUrl, log, say, waitForMerges, type Bench } from '../bench';
import { startBenchChild } from '../childProcess';
import type { Figure } from '../figure';
import { STUB_V2_FACTORY } from '../../../test/support/stubChain';
import { projectOf, type PeerRows, type PeerRun, type PeerTask } from './peerRun';
import { runPonder } from './ponderPeer';
import { findPostgres, startPostgres, type PostgresServer } from './postgresServer';
import { runScript } from './scriptPeer';
import { runSubsquid } from './subsquidPeer';

/** Of Candlehouse and the script; the node holds them in memory, 14,000 in 6 GB. */
const BLOCKS = Number(process.env['BENCH_PEER_BLOCKS'] ?? 14_000);
const LOGS_PER_BLOCK = 200;
/** The chain goes on past what is read, which is final. */
const UNFINAL = 64;

interface Rate {
  readonly name: string;
  readonly eventsPerSecond: number;
}

const blocksOf = (share: number): number => Math.max(2, Math.round(BLOCKS * share));
const eventsTo = (to: number): number => (to - 1) * LOGS_PER_BLOCK;

export async function benchPeers({ server, figures }: Bench): Promise<void> {
  say('installing peers …');
  const ponder = await installProject(projectOf('ponder'), 'peer-ponder');
  const subsquid = await installProject(projectOf('subsquid'), 'peer-subsquid');
  const binaries = findPostgres(await installProject(projectOf('postgres'), 'peer-postgres'));
  if (binaries === null) say(`no Postgres for ${process.platform} on ${process.arch}: its rows are left out`);

  say(`building a stub chain of ${BLOCKS} blocks …`);
  const chain = { blocks: BLOCKS + UNFINAL, logsPerBlock: LOGS_PER_BLOCK, pairs: 2_000, onlyV2: true };
  const node = await startBenchChild('stubServer', { ...chain, forIndexers: true });
  const task = (share: number): PeerTask => ({
    rpcUrl: node.url,
    factory: STUB_V2_FACTORY,
    to: blocksOf(share),
  });
  try {
    const script = await attempt(() => measure(task(1), (wanted) => runScriptIn(server, wanted)));
    const own = await measureCandlehouse(server, task(1));
    const embedded = await attempt(() => measure(task(0.025), (wanted) => runPonder(wanted, ponder, null)));
    const squid = await attemptWithPostgres(binaries, (postgres) =>
      measure(task(0.16), (wanted) => runSubsquid(wanted, subsquid, postgres)),
    );
    const served = await attemptWithPostgres(binaries, (postgres) =>
      measure(task(0.04), (wanted) => runPonder(wanted, ponder, postgres)),
    );
    if (embedded !== null) figures.push(compare(own, embedded, 40));
    if (served !== null) figures.push(compare(own, served, null));
    if (squid !== null) figures.push(compare(own, squid, 5));
    if (script !== null) figures.push(compare(own, script, 0.6));
  } finally {
    await node.close();
  }
}

/** A peer that fails has no figure; the others go on, and the benchmark counts as failed. */
async function attempt(run: () => Promise<Rate>): Promise<Rate | null> {
  try {
    return await run();
  } catch (error) {
    say(`no figure: ${errorText(error)}`);
    process.exitCode = 1;
    return null;
  }
}

/** With a server of its own, so that no peer pays for another's rows. */
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

/** Seconds from the first request for logs to the last commit, and whether all rows are there. */
async function measure(task: PeerTask, run: (task: PeerTask) => Promise<PeerRun>): Promise<Rate> {
  await takeLogsAskedAt(task.rpcUrl);
  const { name, rows, endedAt } = await run(task);
  const startedAt = await takeLogsAskedAt(task.rpcUrl);
  if (startedAt === null) throw new Error(`${name} never asked for logs`);
  return rateOf(name, task, rows, (endedAt - startedAt) / 1_000);
}

function rateOf(name: string, { to }: PeerTask, { swaps, syncs }: PeerRows, seconds: number): Rate {
  const events = eventsTo(to);
  if (swaps !== events / 2 || syncs !== events / 2)
    throw new Error(`${name} stored ${swaps} swaps and ${syncs} syncs of ${events / 2} each`);
  const eventsPerSecond = events / seconds;
  const counted = `${to.toLocaleString('en-US')} blocks`;
  say(`${name}: ${events} events of ${counted} in ${seconds.toFixed(1)} s, ${Math.round(eventsPerSecond)}/s`);
  return { name: `${name}, ${counted}`, eventsPerSecond };
}

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
  const database = await createDatabase(server.writerUrl, name, true);
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

/** Leaves the engine idle for who comes next. */
async function dropWhenMerged(admin: Database, database: Database, name: string): Promise<void> {
  await database.close();
  await admin.command('drop', `DROP DATABASE ${name} SYNC`);
  await waitForMerges(admin);
}

/** `times`: how many times the peer's rate is promised; null where nothing is. */
function compare(own: Rate, peer: Rate, times: number | null): Figure {
  const ratio = own.eventsPerSecond / peer.eventsPerSecond;
  return {
    name: `Swap and Sync of one V2 factory: ${own.name}`,
    value: own.eventsPerSecond,
    unit: 'events/s',
    limitName: peer.name,
    limit: peer.eventsPerSecond,
    ratio,
    target: times === null ? 'none' : `>= ${times}x`,
    ok: times === null || ratio >= times,
  };
}
