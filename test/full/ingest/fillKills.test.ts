/**
 * Kills the program in the middle of backfills from each source, each time after a random number of statements that write.
 * The next run continues, and stores the same blocks as a run without a kill. workers.test.ts kills workers.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { migrate } from '../../../src/clickhouse/schema/migrate';
import { runBackfill } from '../../../src/commands/backfill';
import { loadConfig } from '../../../src/config';
import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { hashOf } from '../../simulation/compare/storedContent';
import { askRows } from '../../support/engine/askRows';
import { silent } from '../../support/engine/embedded';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { startKillingProxy, type KillingProxy } from '../../support/engine/killingProxy';
import { eventually } from '../../support/eventually';
import {
  createHyperSync,
  HYPERSYNC_URL,
  packageLoaderFor,
  startPortal,
  type StandInPortal,
} from '../../support/node/blockServices';
import { writeCryoFiles } from '../../support/node/cryoFiles';
import { Random } from '../../support/random';
import { SEED } from '../../support/run/seed';
import { spawnProgram, type Settings } from '../../support/server/program';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';

const CHAIN_ID = 369;
const KILLS = Number(process.env['FILL_KILLS'] ?? 5);
/** Time limit of a test, in ms. A run takes about 5 s on an idle machine, and longer beside other programs. */
const TEST_MS = 600_000 + KILLS * 15_000;
/** Number of blocks that each run adds. */
const STEP = 120;
/** Last block. The number of runs is larger than that of kills, because a run may end before its kill. */
const LAST = (KILLS + 4) * STEP;
/** Blocks after LAST belong to the next day, so that the day is complete. */
const DAY = '2024-03-01';
const NEXT_DAY = Date.parse('2024-03-02') / 1_000;
/** All blocks of 100 kills fit into the day. */
const BLOCK_SECONDS = 5;

/** A command of the program, or a run of it in this process, which must end when the signal aborts. */
type Fill = string | ((settings: Settings, signal: AbortSignal) => Promise<void>);

/** A database of its own, with the schema. */
interface Target {
  readonly test: TestDatabase;
  readonly database: Database;
}

let chain: StubChain;
let folder: string;
let proxy: KillingProxy;
let portal: StandInPortal;
const targets: Target[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fill-kills-'));
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  chain = await startStubChain({
    blocks: LAST + 100,
    logsPerBlock: 40,
    pairs: 40,
    seed: SEED,
    provable: true,
    genesisTime: NEXT_DAY - (LAST + 1) * BLOCK_SECONDS,
    blockSeconds: BLOCK_SECONDS,
  });
  const { test } = await openTarget();
  proxy = await startKillingProxy(test.writerUrl);
  const place = { rpcUrl: chain.url, databaseUrl: test.writerUrl, folder: join(folder, 'files') };
  await writeCryoFiles({ ...place, from: 1, to: LAST, chunk: 300 });
  portal = await startPortal({ rpcUrl: chain.url, head: LAST, blocksMax: 500 });
});

afterAll(async () => {
  for (const { test, database } of targets) {
    await database.close();
    await test.drop();
  }
  await proxy?.close();
  await portal?.close();
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function openTarget(): Promise<Target> {
  const test = await createTestDatabase();
  const database = openDatabase({ url: test.writerUrl });
  const target = { test, database };
  targets.push(target);
  await migrate(database, silent);
  return target;
}

/**
 * Runs a fill, and kills it when it has sent this many writing statements. The answer to the last one is lost. Resolves
 * to true if the fill ended before the kill.
 */
async function run({ test }: Target, fill: Fill, statements = Infinity): Promise<boolean> {
  proxy.killAfter(statements);
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    FINALITY_DEPTH: '5',
    CLICKHOUSE_URL: proxy.through(test.writerUrl),
  };
  const isKilled = (): boolean => proxy.statements().length >= statements;
  if (typeof fill !== 'string') return runHere(fill, settings, isKilled);
  const program = spawnProgram(fill, settings, { mayEnd: true });
  await eventually(isKilled, (killed) => killed || program.hasEnded());
  if (isKilled()) {
    await program.end('SIGKILL');
    return false;
  }
  if ((await program.end('SIGKILL')) !== 0) throw new Error(program.lastWords());
  return true;
}

/** Runs a fill in this process. After the kill, the database gets none of its statements. */
async function runHere(
  fill: Exclude<Fill, string>,
  settings: Settings,
  isKilled: () => boolean,
): Promise<boolean> {
  const stop = new AbortController();
  let hasEnded = false;
  const filling = fill(settings, stop.signal).finally(() => (hasEnded = true));
  filling.catch(() => undefined);
  await eventually(isKilled, (killed) => killed || hasEnded);
  stop.abort();
  if (!isKilled()) return filling.then(() => true);
  await filling.catch(() => undefined);
  return false;
}

/** The hash of all rows, the audit hashes, and the databases of staged rows that are left. */
async function contentOf({ test, database }: Target): Promise<unknown> {
  const staged = `SELECT name FROM system.databases WHERE name = '${test.database}_parquet' LIMIT 1`;
  return {
    rows: await hashOf({ database }),
    audit: [...(await readRangeHashes(database, CHAIN_ID, 0, LAST))],
    staged: await askRows(database, staged),
  };
}

/** The package of HyperSync's client is not installed, so its backfills run in this process. */
function fillFromHyperSync(to: number): Fill {
  const loadPackage = packageLoaderFor(createHyperSync(chain.url, LAST, 500));
  return (settings, signal) => {
    const config = loadConfig({ ...settings, HYPERSYNC_TOKEN: 'token' }, (path) =>
      readFileSync(path, 'utf8'),
    );
    return runBackfill(config, silent, signal, { from: 1, to, source: HYPERSYNC_URL, loadPackage });
  };
}

test.each<[source: string, fillTo: (to: number) => Fill]>([
  ['a node', (to) => `backfill --from 1 --to ${to}`],
  ['Parquet files', (to) => `backfill --to ${to} --parquet ${join(folder, 'files')}`],
  ['an SQD portal', (to) => `backfill --from 1 --to ${to} --source ${portal.url}`],
  ['HyperSync', fillFromHyperSync],
])(
  `after ${KILLS} kills at random statements, a backfill from %s ends with the hashes of a straight run`,
  async (_, fillTo) => {
    await killAndCompare(fillTo);
  },
  TEST_MS,
);

test(
  `after ${KILLS} kills, a fill from a snapshot ends with the hashes of a straight run`,
  async () => {
    const exporter = await openTarget();
    expect(await run(exporter, `backfill --from 1 --to ${LAST + 10}`)).toBe(true);
    const snapshot = join(folder, 'snapshot');
    const command = `export --days ${DAY} --out ${snapshot}`;
    expect(await run(exporter, command, 20)).toBe(false);
    expect(await run(exporter, command)).toBe(true);
    await killAndCompare((to) => `fill --to ${to} --snapshot ${snapshot}`);
  },
  TEST_MS,
);

/** `fillTo` stores the blocks up to a block. */
async function killAndCompare(fillTo: (to: number) => Fill): Promise<void> {
  const straight = await openTarget();
  expect(await run(straight, fillTo(STEP))).toBe(true);
  expect(await run(straight, fillTo(2 * STEP))).toBe(true);
  const writes = proxy.statements().length;
  process.stdout.write(`seed ${SEED}, ${writes} statements\n`);
  expect(await run(straight, fillTo(LAST))).toBe(true);
  const random = new Random(SEED);
  const target = await openTarget();
  const kills: number[] = [];
  for (let to = STEP; to < LAST && kills.length < KILLS; to += STEP) {
    const statements = random.int(1, writes);
    if (!(await run(target, fillTo(to), statements))) kills.push(statements);
  }
  expect(kills).toHaveLength(KILLS);
  expect(await run(target, fillTo(LAST))).toBe(true);
  const expected = await contentOf(straight);
  expect(expected).toMatchObject({ audit: expect.arrayContaining([[0, expect.anything()]]), staged: [] });
  expect([kills, await contentOf(target)]).toEqual([kills, expected]);
}
