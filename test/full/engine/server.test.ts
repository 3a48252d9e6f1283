/** The life of the embedded engine: start, crash, restart, and the lock of its folder. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findEngineLibraries } from '../../../src/clickhouse/engine/engineChild';
import { RESTART_LIMITS } from '../../../src/clickhouse/engine/engineSupervisor';
import type { EmbeddedServer } from '../../../src/clickhouse/engine/server';
import {
  ask,
  cleanUp,
  isRunning,
  killEngine,
  listDescendants,
  makeFolder,
  makeTable,
  start,
  startParent,
} from '../../support/engine/embedded';
import { until } from '../../support/eventually';

afterAll(cleanUp);

describe('the embedded engine starts, stops and recovers', () => {
  test('the embedded engine keeps its data when it is stopped and started', async () => {
    const dataDir = makeFolder();
    const first = await start(dataDir);
    await makeTable(first, 11);
    const pid = first.pid();
    await Promise.all([first.stop(), first.stop()]);
    expect(isRunning(pid)).toBe(false);
    expect(first.status().state).toBe('stopped');
    const second = await start(dataDir);
    expect(await ask(second.readerUrl, 'SELECT a FROM t')).toBe('11');
    expect(await ask(first.writerUrl.replace(/:\d+\//, portOf(second)), 'SELECT 1')).toBe(
      'AUTHENTICATION_FAILED',
    );
  });

  test('the embedded engine logs no warnings while many tables are created', async () => {
    const dataDir = makeFolder();
    const server = await start(dataDir);
    for (let n = 0; n < 40; n += 1) {
      await ask(server.writerUrl, `CREATE TABLE busy${n} (a UInt8) ENGINE = MergeTree ORDER BY a`);
      await ask(server.writerUrl, `INSERT INTO busy${n} VALUES (1)`);
    }
    await delay(2_000);
    await server.stop();
    const lines = readFileSync(join(dataDir, 'clickhouse', 'engine.log'), 'utf8').split('\n');
    // Each table has background tasks. When there was room for only one task, the engine warned thirty times
    // a second.
    expect(lines.filter((line) => line.includes('Temporarily pause'))).toEqual([]);
  });

  test('the embedded engine is back within seconds after kill -9, at the same addresses, with all acknowledged rows', async () => {
    const server = await start(makeFolder());
    const states: string[] = [];
    const unsubscribe = server.onStatus((status) => states.push(status.state));
    await makeTable(server, 13);
    const pid = server.pid();
    killEngine(server);
    await until(async () => (await ask(server.readerUrl, 'SELECT a FROM t')) === '13');
    await until(() => server.status().state === 'up');
    expect(server.pid()).not.toBe(pid);
    expect(server.status()).toEqual({ state: 'up', reason: '', restarts: 1 });
    expect(states).toEqual(['restarting', 'up']);
    unsubscribe();
  });

  test('the embedded engine restarts on request, and only once for two concurrent requests', async () => {
    const server = await start(makeFolder());
    await makeTable(server, 17);
    const pid = server.pid();
    await Promise.all([server.restart('damaged'), server.restart('damaged')]);
    expect(isRunning(pid)).toBe(false);
    expect(server.status().restarts).toBe(1);
    expect(await ask(server.readerUrl, 'SELECT a FROM t')).toBe('17');
  });

  test('the embedded engine is restarted when it stops answering, but not for one late answer', async () => {
    const checkMs = 1_500;
    const limits = { ...RESTART_LIMITS, checkMs, unansweredMax: 4 };
    const server = await start(makeFolder(), { restartLimits: limits });
    await makeTable(server, 23);
    const reasons: string[] = [];
    server.onStatus(({ state, reason }) => state === 'restarting' && reasons.push(reason));
    const pid = server.pid();
    process.kill(pid, 'SIGSTOP');
    // Stops the engine for so long that one health probe gets no answer in time.
    await delay(2 * checkMs);
    process.kill(pid, 'SIGCONT');
    expect(await ask(server.readerUrl, 'SELECT 1')).toBe('1');
    expect(server.status()).toEqual({ state: 'up', reason: '', restarts: 0 });
    process.kill(pid, 'SIGSTOP');
    await until(() => server.status().restarts === 1);
    expect(reasons[0]).toBe('ClickHouse did not answer 4 checks in a row, each within 1.5 s');
    expect(isRunning(pid)).toBe(false);
    expect(await ask(server.readerUrl, 'SELECT a FROM t')).toBe('23');
  });

  test('the embedded engine stays down and gives the reason after too many restarts', async () => {
    const limits = { ...RESTART_LIMITS, restartsMax: 2, pauseMs: 10 };
    const server = await start(makeFolder(), { restartLimits: limits });
    for (let restarts = 0; restarts < 2; restarts++) {
      killEngine(server);
      await until(() => server.status().restarts === restarts + 1);
    }
    killEngine(server);
    await until(() => server.status().state === 'failed');
    expect(server.status().reason).toBe('gave up after 2 restarts within 600 s; last reason: SIGKILL');
    expect(server.pid()).toBe(0);
    await expect(server.restart('again')).rejects.toMatchObject({ code: 'unavailable' });
    await server.stop();
  });

  test('the embedded engine is not confused with another program on its port', async () => {
    const server = await start(makeFolder());
    const port = Number(new URL(server.writerUrl).port);
    const other = await new Promise<Server>((resolve) => {
      const intruder = createServer((_, answer) => answer.end('1\n'));
      server.onStatus((status) => {
        if (status.state === 'restarting' && !intruder.listening) intruder.listen(port, '127.0.0.1');
      });
      intruder.once('listening', () => resolve(intruder));
      killEngine(server);
    });
    await until(() => server.status().reason.includes('Address already in use'));
    expect(server.status().state).toBe('restarting');
    other.closeAllConnections();
    await new Promise((closed) => other.close(closed));
    await until(() => server.status().state === 'up');
  });
});

describe('the lock of the data folder lets only one process use the folder', () => {
  /** The lock file of a dead owner: an impossible pid, or this process's pid with another start time. */
  test.each([
    ['whose process is gone', { pid: 2 ** 22 + 1, startedAt: 'then' }],
    ['whose pid another process has now', { pid: process.pid, startedAt: 'then' }],
  ])('the lock of the data folder is taken over from an owner %s', async (_, owner) => {
    const dataDir = makeFolder();
    const file = join(dataDir, 'clickhouse', 'lock.json');
    mkdirSync(join(dataDir, 'clickhouse'));
    writeFileSync(file, JSON.stringify({ owner, engine: { ...owner, pid: owner.pid } }));
    const server = await start(dataDir);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      owner: { pid: process.pid },
      engine: { pid: server.pid() },
    });
    await server.stop();
    expect(existsSync(file)).toBe(false);
  });

  test('the lock of the data folder is taken over when its file is damaged', async () => {
    const dataDir = makeFolder();
    mkdirSync(join(dataDir, 'clickhouse'));
    writeFileSync(join(dataDir, 'clickhouse', 'lock.json'), '{"owner":');
    expect(await ask((await start(dataDir)).writerUrl, 'SELECT 1')).toBe('1');
  });

  test('exactly one of several processes that start in parallel after a crash gets the lock of the data folder', async () => {
    const dataDir = makeFolder();
    const dead = { pid: 2 ** 22 + 1, startedAt: 'then' };
    mkdirSync(join(dataDir, 'clickhouse'));
    writeFileSync(join(dataDir, 'clickhouse', 'lock.json'), JSON.stringify({ owner: dead, engine: dead }));
    const starts = await Promise.allSettled([
      startParent(dataDir),
      startParent(dataDir),
      startParent(dataDir),
    ]);
    const winners = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(winners).toHaveLength(1);
    expect(await ask(winners[0]!.writerUrl, 'SELECT 1')).toBe('1');
  });
});

describe('the engine ends after kill -9 of its parent', () => {
  test('the engine ends by itself after kill -9 of its parent, and the next start gets the data', async () => {
    const dataDir = makeFolder();
    const parent = await startParent(dataDir);
    expect(await ask(parent.writerUrl, 'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a')).toBe('');
    expect(await ask(parent.writerUrl, 'INSERT INTO t VALUES (19)')).toBe('');
    const group = listDescendants(parent.pid);
    expect(group).toContain(parent.enginePid);
    const starting = start(dataDir);
    process.kill(parent.pid, 'SIGKILL');
    const next = await starting;
    expect(await ask(next.readerUrl, 'SELECT a FROM t')).toBe('19');
    await until(() => group.filter(isRunning).length === 0);
  });

  test('a start gives up after its timeout if the old engine does not end', async () => {
    const dataDir = makeFolder();
    const parent = await startParent(dataDir);
    process.kill(parent.enginePid, 'SIGSTOP');
    process.kill(parent.pid, 'SIGKILL');
    await until(() => !isRunning(parent.pid));
    try {
      await expect(start(dataDir, { predecessorWaitMs: 200 })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(`process ${parent.enginePid}, has not ended within 200 ms`),
      });
    } finally {
      process.kill(parent.enginePid, 'SIGCONT');
    }
    await until(() => !isRunning(parent.enginePid));
  });
});

test('on a platform without an engine the error suggests CLICKHOUSE_URL', () => {
  expect(() => findEngineLibraries('sunos', 'x64')).toThrow(
    expect.objectContaining({ code: 'bad_config', message: expect.stringContaining('set CLICKHOUSE_URL') }),
  );
});

function portOf(server: EmbeddedServer): string {
  return `:${new URL(server.writerUrl).port}/`;
}
