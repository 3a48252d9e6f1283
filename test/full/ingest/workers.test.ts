/**
 * Backfills whose blocks are fetched by several worker processes. Expects the rows and range hashes of a straight run,
 * whatever the number of workers, the order of the pieces, and the moments at which processes are killed or suspended.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pino from 'pino';

import { createBlockSource, type BlockSource } from '../../../src/node/blocks/blockSource';
import { systemClock } from '../../../src/node/rpc/clock';
import { createEndpointPool } from '../../../src/node/rpc/endpointPool';
import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { runBackfill } from '../../../src/commands/backfill';
import { createIngester } from '../../../src/commands/ingest';
import { openStorage } from '../../../src/commands/storage';
import { loadConfig, type Config } from '../../../src/config';
import type { ChainBlock } from '../../../src/domain/block';
import { readRangeHashes } from '../../../src/ingest/repair/rangeHash';
import { spanOfPiece, StagedBlocks } from '../../../src/ingest/staged/stagedBlocks';
import { StagedSource } from '../../../src/ingest/staged/stagedSource';
import { StageWorker } from '../../../src/ingest/staged/stageWorker';
import { readFinalTo } from '../../../src/ingest/store/storedState';
import { createLog } from '../../../src/log';
import { contentHash, engineContent, readTip } from '../../simulation/compare/storedContent';
import { askRows } from '../../support/engine/askRows';
import { isRunning } from '../../support/engine/embedded';
import {
  CLUSTER_NAME,
  createClusterDatabase,
  startEmbeddedCluster,
} from '../../support/engine/embeddedCluster';
import { createTestDatabase, type TestDatabase } from '../../support/engine/engine';
import { eventually } from '../../support/eventually';
import { Random } from '../../support/random';
import { runProgram, runToSuccess, spawnProgram, type Settings } from '../../support/server/program';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';

const CHAIN_ID = 369;
const BLOCKS = 2_200;
const LAST = 2_100;
const KILLS = Number(process.env['WORKERS_KILLS'] ?? 6);
const SEED = Number(process.env['WORKERS_SEED'] ?? 5);
const RANGE = ['--from', '1', '--to', String(LAST)];

let folder: string;
let chain: StubChain;
let straight: Target;
let straightHash: string;
const targets: Target[] = [];

/** A database of its own, into which blocks are filled. */
interface Target {
  readonly test: TestDatabase;
  readonly database: Database;
  readonly settings: Settings;
}

async function openTarget(): Promise<Target> {
  const test = await createTestDatabase();
  const settings = {
    RPC_URL: chain.url,
    CHAIN_CONFIG: join(folder, 'chain.json'),
    FINALITY_DEPTH: '5',
    CLICKHOUSE_URL: test.writerUrl,
  };
  const target = { test, database: openDatabase({ url: test.writerUrl }), settings };
  targets.push(target);
  return target;
}

const configOf = ({ settings }: Target): Config => loadConfig(settings, (path) => readFileSync(path, 'utf8'));

async function hashOf({ database }: Target): Promise<string> {
  return contentHash(await engineContent(database, (await readTip(database))!));
}

/** Expects the rows and the range hashes of the straight run, and no staged blocks. */
async function expectStraight(target: Target): Promise<void> {
  expect(await hashOf(target)).toBe(straightHash);
  const [ours, theirs] = await Promise.all(
    [target, straight].map(({ database }) => readRangeHashes(database, CHAIN_ID, 0, LAST)),
  );
  expect([...ours!.keys()]).toEqual([0, 1_000]);
  expect(ours).toEqual(theirs);
  expect(await listStaged(target)).toEqual([]);
}

function listStaged({ database, test }: Target): Promise<unknown[]> {
  const name = `${test.database}_staged`;
  return askRows(database, `SELECT name FROM system.databases WHERE name = '${name}' LIMIT 1`);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workers-'));
  const description = { ...stubDescription(), burn: undefined, logo: undefined };
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(description));
  chain = await startStubChain({
    blocks: BLOCKS,
    logsPerBlock: 12,
    pairs: 12,
    seed: 4,
    provable: true,
    transactionsMin: 2,
  });
  straight = await openTarget();
  const { signal } = new AbortController();
  await runBackfill(configOf(straight), createLog('silent'), signal, { from: 1, to: LAST });
  straightHash = await hashOf(straight);
});

afterAll(async () => {
  for (const { test, database } of targets) {
    await database.close();
    await test.drop();
  }
  await chain?.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each([1, 3])('%i workers give the rows and the range hashes of a straight run', async (workers) => {
  const target = await openTarget();
  const output = await runToSuccess(['backfill', ...RANGE, '--workers', String(workers)], target.settings);
  await expectStraight(target);
  const { workers: staged, node } = countsOf(output);
  // On a busy machine, the writer may wait a minute for a worker, and then asks the node.
  expect(staged).toBeGreaterThan(0);
  expect(staged + node).toBeGreaterThanOrEqual(LAST);
});

/** The numbers of blocks that a backfill has read from its workers and from its node. */
function countsOf(output: string): { workers: number; node: number } {
  const line = output.split('\n').find((text) => text.includes('blocks were read from the workers'))!;
  const { workers, node } = JSON.parse(line) as { workers: number; node: number };
  return { workers, node };
}

test('the order in which pieces are staged does not matter, and wrong staged blocks are read from the node', async () => {
  const target = await openTarget();
  const random = new Random(SEED);
  const config = configOf(target);
  const log = createLog('silent');
  const ending = new AbortController();
  const { signal } = ending;
  const range = { from: 1, to: LAST };
  const staged = new StagedBlocks(target.test.writerUrl);
  await staged.create();
  const rpc = createEndpointPool({ urls: [chain.url], chainId: CHAIN_ID, log });
  const node = createBlockSource({ pool: rpc, log, proof: config.proof });
  const deps = {
    staged,
    tip: { reaches: () => Promise.resolve(true) },
    readFinalTo: () => readFinalTo(target.database, CHAIN_ID),
    range,
    log,
    clock: systemClock(),
  };
  const refused: string[] = [];
  const noting = pino(
    { level: 'warn', base: null },
    { write: (line: string) => refused.push((JSON.parse(line) as { reason: string }).reason) },
  );
  await stageWrong(staged, node);
  await target.database.command(
    'stage bytes of another version',
    `INSERT INTO ${target.test.database}_staged.blocks VALUES (1, 128, 255, 1, unhex('63'))`,
  );
  const choose = (free: readonly number[]): number => random.int(0, Math.max(0, free.length - 1));
  const workers = [1, 2, 3].map(() => new StageWorker({ ...deps, source: node, choose }).run(signal));
  const ingester = createIngester({ ...config, startBlock: { kind: 'absolute', block: 1 } }, log);
  const storage = await openStorage(config, log);
  let source: StagedSource | null = null;
  await ingester.run(storage, signal, {
    stopAt: LAST,
    wrapSource: (own) =>
      (source = new StagedSource({
        ...deps,
        node: own,
        proof: 'full',
        hasWorkers: () => true,
        log: noting,
        signal,
      })),
  });
  await Promise.all(workers);
  expect(source!.counts.workers).toBeGreaterThan(LAST / 2);
  const reasons = refused.map((reason) => reason.replace(/0x[0-9a-f]+/g, 'hash')).toSorted();
  expect(reasons).toEqual([
    'block 127 is hash, but the node has hash',
    'block 256 is not proven enough',
    expect.stringContaining('block 390 fails verification (parent_link)'),
    'got the version 99 of the encoding, not 1',
  ]);
  await staged.drop();
  await Promise.all([staged.close(), storage.close(), ingester.close(), rpc.close()]);
  await expectStraight(target);
});

/** Stages the first pieces of the chain with one fault each. */
async function stageWrong(staged: StagedBlocks, node: BlockSource): Promise<void> {
  const piece = async (number: number): Promise<ChainBlock[]> => {
    const { from, to } = spanOfPiece(number, { from: 1, to: LAST });
    return node.fetchRange(from, to);
  };
  const other = await piece(0);
  const tip = other.pop()!;
  await staged.write(0, [...other, { ...tip, hash: other[0]!.hash }]);
  const weak = await piece(2);
  await staged.write(
    2,
    weak.map((block) => ({ ...block, proof: 'bloom' as const })),
  );
  const broken = await piece(3);
  broken[5] = { ...broken[5]!, hash: tip.hash };
  await staged.write(3, broken);
}

/** Process ids of the workers of a backfill. */
function listWorkers(parent: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [pid = '', ppid, stat = '', ...args] = line.trim().split(/\s+/);
    return Number(ppid) === parent && !stat.startsWith('Z') && args.includes('--worker') ? [Number(pid)] : [];
  });
}

test(`after ${KILLS} kills of workers and of the backfill (seed ${SEED}), a repeated backfill has the hashes of a straight run`, async () => {
  const random = new Random(SEED);
  const command = ['backfill', ...RANGE, '--workers', '3'];
  const seen = new Set<number>();
  const note = (workers: readonly number[]): void => workers.forEach((worker) => seen.add(worker));
  let kills = 0;
  while (kills < KILLS) {
    const target = await openTarget();
    // Each round begins again after a kill of the backfill, until the range is stored.
    for (let isStored = false; !isStored && kills < KILLS;) {
      const run = spawnProgram(command.join(' '), target.settings, { mayEnd: true });
      const { pid } = run.process;
      await eventually(
        () => run.output(),
        (text) => text.includes('workers fetch the blocks') || run.hasEnded(),
      );
      while (!run.hasEnded() && kills < KILLS) {
        await delay(random.int(0, 1_200));
        const workers = listWorkers(pid!);
        note(workers);
        if (workers.length > 0 && random.chance(0.6)) process.kill(random.pick(workers), 'SIGKILL');
        else await run.end('SIGKILL');
        kills += 1;
      }
      await run.end('SIGKILL');
      isStored = (await readFinalTo(target.database, CHAIN_ID)) === LAST;
    }
    await runToSuccess(command, target.settings);
    await expectStraight(target);
  }
  expect(seen.size).toBeGreaterThanOrEqual(3);
  await eventually(
    () => [...seen].filter(isRunning),
    (left) => left.length === 0,
  );
});

test('Ctrl-C ends the backfill and its workers, and leaves no staged blocks', async () => {
  const target = await openTarget();
  const command = ['backfill', ...RANGE, '--workers', '2'].join(' ');
  const run = spawnProgram(command, target.settings, { ownGroup: true });
  const workers = await eventually(
    () => listWorkers(run.process.pid!),
    (found) => found.length === 2,
  );
  await eventually(
    () => listStaged(target),
    (found) => found.length === 1,
  );
  expect(await run.end('SIGINT')).toBe(0);
  await eventually(
    () => workers.filter(isRunning),
    (left) => left.length === 0,
  );
  expect(await listStaged(target)).toEqual([]);
  expect(run.output()).not.toContain('a worker of the backfill has ended');
});

test('a worker on its own that stands still and resumes after the end changes nothing, and ends', async () => {
  const target = await openTarget();
  const mayEnd = true;
  const worker = spawnProgram(['backfill', ...RANGE, '--worker'].join(' '), target.settings, { mayEnd });
  await eventually(
    () => worker.output(),
    (text) => text.includes('staging blocks for a backfill'),
  );
  const backfill = spawnProgram(['backfill', ...RANGE, '--workers', '1'].join(' '), target.settings, {
    mayEnd,
  });
  const claims = `SELECT toString(uniqExact(worker)) AS workers FROM ${target.test.database}_staged.claims LIMIT 1`;
  const countClaimants = async (): Promise<number> => {
    const [row] = await askRows<{ workers: string }>(target.database, claims).catch(() => []);
    return Number(row?.workers ?? 0);
  };
  await eventually(countClaimants, (count) => count === 2 || backfill.hasEnded());
  worker.process.kill('SIGSTOP');
  await eventually(
    () => backfill.hasEnded(),
    (ended) => ended,
  );
  expect(backfill.process.exitCode).toBe(0);
  await expectStraight(target);
  worker.process.kill('SIGCONT');
  await eventually(
    () => worker.hasEnded(),
    (ended) => ended,
  );
  expect(worker.process.exitCode).toBe(0);
  await expectStraight(target);
});

test('workers fill a cluster with the range hashes of a straight run on one server', async () => {
  const cluster = await startEmbeddedCluster();
  const { database, writerUrl } = await createClusterDatabase(cluster);
  const settings = { ...straight.settings, CLICKHOUSE_URL: writerUrl, CLICKHOUSE_CLUSTER: CLUSTER_NAME };
  await runToSuccess(['backfill', ...RANGE, '--workers', '2'], settings);
  const [ours, theirs] = await Promise.all(
    [database, straight.database].map((one) => readRangeHashes(one, CHAIN_ID, 0, LAST)),
  );
  expect([...ours!.keys()]).toEqual([0, 1_000]);
  expect(ours).toEqual(theirs);
  await database.close();
  await cluster.stop();
});

test('workers find the embedded ClickHouse of the backfill that started them', async () => {
  const { settings } = await openTarget();
  const { CLICKHOUSE_URL: _, ...rest } = settings;
  const embedded = { ...rest, DATA_DIR: join(folder, 'data') };
  const output = await runToSuccess(['backfill', '--from', '1', '--to', '300', '--workers', '2'], embedded);
  const { workers, node } = countsOf(output);
  expect(workers).toBeGreaterThan(0);
  expect(workers + node).toBe(300);
  expect(output).toContain('"finalTo":300');
});

test('wrong arguments of the workers give an error that says what is allowed', async () => {
  const { settings } = await openTarget();
  const run = async (...args: string[]): Promise<unknown> => {
    const { code, output } = await runProgram(['backfill', ...args], settings);
    return { code, output };
  };
  const says = (text: string): unknown => ({ code: 1, output: expect.stringContaining(text) });
  for (const count of ['0', '65', '-1', '2.5', 'many'])
    expect(await run(...RANGE, '--workers', count)).toEqual(
      says(`expected a number from 1 to 64, got "${count}"`),
    );
  expect(await run('--workers', '2', '--to', '9')).toEqual(says('--from and --to are needed'));
  expect(await run(...RANGE, '--workers', '2', '--parquet', 'x')).toEqual(
    says('--parquet and --workers do not fit together; allowed: one of them'),
  );
  expect(await run(...RANGE, '--workers', '2', '--worker')).toEqual(
    says('--workers and --worker do not fit together'),
  );
  const { CLICKHOUSE_URL: _, ...rest } = settings;
  const alone = { ...rest, DATA_DIR: join(folder, 'none') };
  const { code, output } = await runProgram(['backfill', ...RANGE, '--worker'], alone);
  expect({ code, output }).toEqual(says('CLICKHOUSE_URL: got nothing; allowed: the URL of the database'));
});
