/**
 * Backup and restore on the embedded engine: consistent while the head is followed, complete, and never over existing
 * data.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { askRows } from '../../support/engine/askRows';
import { eventually } from '../../support/eventually';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { stubDescription } from '../../support/stub/stubDescription';
import type { Database } from '../../../src/clickhouse/client/database';
import { attach } from '../../../src/commands/attach';
import { runBackup } from '../../../src/commands/data/backup';
import { openStorage } from '../../../src/commands/storage';
import { runAll } from '../../../src/commands/runAll';
import { runRestore } from '../../../src/commands/data/restore';
import { runVerify } from '../../../src/commands/data/verify';
import { loadConfig, type Config } from '../../../src/config';
import { hashRanges, listWholeRanges } from '../../../src/ingest/repair/rangeHash';
import { readOperations, writeOperation } from '../../../src/clickhouse/schema/operations';
import { cleanUp, makeFolder, silent } from '../../support/engine/embedded';
import { waitForBlock } from '../../support/server/program';
import { StubTruth } from '../../support/stub/stubTruth';

const FIRST = 300;
const LAST = 400;
/** The first range of 1,000 blocks with a range hash is complete and final. */
const END = 1_080;

let chain: StubChain;
let truth: StubTruth;
let folder: string;

beforeAll(async () => {
  chain = await startStubChain({ blocks: END, logsPerBlock: 4, pairs: 3 });
  truth = new StubTruth(chain);
  folder = makeFolder();
});

afterAll(async () => {
  await cleanUp();
  await chain.close();
});

function configOf(name: string): Config {
  const settings = {
    PORT: '0',
    SHED_LOOP_DELAY_MS: '0',
    RPC_URL: chain.url,
    CHAIN_CONFIG: 'chain.json',
    START_BLOCK: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    DATA_DIR: join(folder, name),
  };
  const description = JSON.stringify({ ...stubDescription(), burn: undefined, logo: undefined });
  return loadConfig(settings, () => description);
}

interface Run {
  readonly url: string;
  stop(): Promise<void>;
}

async function start(config: Config): Promise<Run> {
  const controller = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    const onReady = (api: { readonly url: string } | null): void => resolve(api?.url ?? '');
    running = runAll(config, silent, controller.signal, { api: true, ingest: true, onReady });
    running.catch(reject);
  });
  return {
    url,
    stop: async () => {
      controller.abort();
      await running;
    },
  };
}

const never = new AbortController().signal;

async function backUp(config: Config, place: string): Promise<string> {
  let said = '';
  await runBackup(config, silent, never, place, { write: (text) => (said += text) });
  return said;
}

async function restore(config: Config, place: string, replace = false): Promise<string> {
  let said = '';
  await runRestore(config, silent, place, { replace }, { write: (text) => (said += text) });
  return said;
}

/** The range hashes of all complete ranges. */
async function hashAll(database: Database): Promise<string[]> {
  const hashes: string[] = [];
  for await (const range of hashRanges(database, 369, listWholeRanges(1, END - 64))) {
    hashes.push(`${range.from} ${range.rows} ${range.hash}`);
  }
  return hashes;
}

/** Opens the database of a stopped program. Each call starts an engine, which takes seconds. */
async function inside<T>(config: Config, use: (database: Database) => Promise<T>): Promise<T> {
  const attached = await attach(config, silent);
  try {
    return await use(attached.open(attached.name));
  } finally {
    await attached.close();
  }
}

/** Number of the last block in the final tables. */
async function finalOf(database: Database): Promise<number | undefined> {
  const [row] = await askRows<{ cursor: number }>(
    database,
    "SELECT max(to_block) AS cursor FROM promotions WHERE status = 'done'",
  );
  return row?.cursor;
}

test('a backup taken while the head is followed, restored elsewhere and continued, equals an uninterrupted run', async () => {
  const first = configOf('first');
  chain.setHead(FIRST);
  const program = await start(first);
  await waitForBlock(program.url, FIRST);
  // New blocks arrive while tables are linked and copied.
  let head = FIRST;
  const miner = setInterval(() => chain.setHead((head = Math.min(LAST, head + 1))), 20);
  const said = await backUp(first, 'while-running');
  const finalThen = Number(/final blocks 1-(\d+)/.exec(said)?.[1]);
  expect(finalThen).toBeGreaterThan(FIRST - 80);
  expect(finalThen).toBeLessThan(LAST);
  const second = await backUp(first, join(folder, 'elsewhere', 'again'));
  expect(second).toContain(join(folder, 'elsewhere', 'again'));
  clearInterval(miner);
  chain.setHead(LAST);
  await waitForBlock(program.url, LAST);
  await program.stop();

  const other = configOf('other');
  const from = join(first.dataDir, 'backups', 'while-running');
  expect(await restore(other, from)).toContain(`final blocks 1-${finalThen}`);
  await inside(other, async (database) => {
    expect(await finalOf(database)).toBe(finalThen);
    // The backup does not contain its own pause.
    expect((await readOperations(database, ['pause'])).get('pause')).toBe(0);
  });
  chain.setHead(END);
  const again = await start(other);
  await waitForBlock(again.url, END);
  expect(await truth.findWrongBars(again.url)).toEqual([]);
  expect(await truth.findWrongActivity(again.url)).toBeNull();
  await again.stop();

  const straight = configOf('straight');
  const whole = await start(straight);
  await waitForBlock(whole.url, END);
  await whole.stop();
  const expected = await inside(straight, hashAll);
  expect(expected).toHaveLength(1);
  expect(await inside(other, hashAll)).toEqual(expected);
  expect(await runVerify(other, silent, { from: null, to: null })).toBe(0);
});

test('a restore overwrites data only with --replace, and a broken backup leaves the data unchanged', async () => {
  const config = configOf('other');
  const from = join(configOf('first').dataDir, 'backups', 'while-running');
  const before = await inside(config, hashAll);
  await expect(restore(config, from)).rejects.toThrow(/not empty.*--replace/);
  const broken = join(folder, 'broken');
  mkdirSync(broken);
  writeFileSync(join(broken, '.backup'), 'no backup');
  await expect(restore(config, broken, true)).rejects.toThrow();
  await expect(restore(config, 'nowhere', true)).rejects.toThrow(/no backup found in/);
  expect(await inside(config, hashAll)).toEqual(before);
  expect(existsSync(join(config.dataDir, 'clickhouse', 'backups', `reading-${process.pid}`))).toBe(false);
  const said = await restore(config, join(folder, 'elsewhere', 'again'), true);
  await inside(config, async (database) => {
    expect(said).toContain(`final blocks 1-${await finalOf(database)}\n`);
    expect(await hashAll(database)).not.toEqual(before);
  });
});

test('a restore killed before its last step is finished by the next start', async () => {
  const config = configOf('other');
  let before: string[] = [];
  await inside(config, async (database) => {
    before = await hashAll(database);
    // The state after a kill between DROP and RENAME of a restore.
    await database.command('crash', 'RENAME DATABASE candlehouse TO candlehouse_restored');
  });
  const storage = await openStorage(config, silent);
  const after = await hashAll(storage.writer);
  await storage.close();
  expect(after).toEqual(before);
});

test('a restore is refused while a program uses the folder, and a backup is refused if its name exists', async () => {
  const config = configOf('straight');
  const program = await start(config);
  await expect(restore(config, 'any', true)).rejects.toThrow(/stop this process before the restore/);
  await expect(backUp(configOf('first'), 'while-running')).rejects.toThrow(/already exists/);
  await expect(backUp(config, "S3('https://bucket', 'key', 'secret')")).rejects.toThrow(
    /needs CLICKHOUSE_URL; allowed for the embedded engine/,
  );
  await program.stop();
  await expect(backUp(configOf('empty'), 'x')).rejects.toThrow(/has no blocks yet/);
});

test('a backup during a backfill waits for the current range and is complete', async () => {
  const config = configOf('filling');
  const program = await start(config);
  const tryBackup = (): Promise<string> =>
    backUp(config, 'early').catch((error: unknown) => {
      if (!/has no blocks yet/.test(String(error))) throw error;
      return '';
    });
  const said = await eventually(tryBackup, (text) => text !== '');
  await waitForBlock(program.url, chain.head);
  await program.stop();
  const other = configOf('refilled');
  const [, finalTo] = /final blocks 1-(\d+)/.exec(said)!;
  expect(await restore(other, join(config.dataDir, 'backups', 'early'))).toContain(
    `final blocks 1-${finalTo}`,
  );
  const again = await start(other);
  await waitForBlock(again.url, chain.head);
  await again.stop();
  expect(await inside(other, hashAll)).toEqual(await inside(config, hashAll));
});

test('a backup leaves no copied tables behind, and a pause that is not renewed expires', async () => {
  const config = configOf('straight');
  await backUp(config, 'third');
  expect(readdirSync(join(config.dataDir, 'clickhouse', 'backups'))).toEqual([]);
  await inside(config, async (database) => {
    const databases = await askRows<{ name: string }>(
      database,
      "SELECT name FROM system.databases WHERE name LIKE 'candlehouse%'",
    );
    expect(databases).toEqual([{ name: 'candlehouse' }]);
    // The pause of a command that died. The pause expires after one second.
    await writeOperation(database, 'pause', Date.now() + 1_000);
  });
  chain.setHead(END + 100);
  const program = await start(config);
  await waitForBlock(program.url, END + 100);
  await program.stop();
  rmSync(join(config.dataDir, 'backups'), { recursive: true });
});
