/**
 * Tests the node process of the development chain. The process ends, and its folder is removed, when its
 * parent process ends.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { WebSocket } from 'ws';

import { findAnvilBinary, startAnvil } from '../../../src/dev/node/anvil';
import { makeDevFolder, removeOldDevFolders } from '../../../src/dev/node/devFolder';
import { getBlockHead, openDevRpc, toNumber } from '../../../src/dev/node/devRpc';
import { createLog } from '../../../src/log';
import { isRunning } from '../../support/engine/embedded';
import { until } from '../../support/eventually';
import { listChildNodes, listLeftovers } from '../../support/node/childNodes';

const log = createLog('silent', false);

describe('the development node starts, mines on request and stops', () => {
  test('the development node starts on a free port with chain id 369 and the given time, beside another node', async () => {
    const nodes = await Promise.all(
      [1_700_000_000, 1_600_000_000].map((timestamp) => startAnvil({ log, timestamp })),
    );
    try {
      for (const [index, node] of nodes.entries()) {
        const rpc = openDevRpc(node.url);
        expect(toNumber(await rpc.call('eth_chainId'))).toBe(369);
        expect((await getBlockHead(rpc)).timestamp).toBe([1_700_000_000, 1_600_000_000][index]);
        await rpc.close();
      }
      expect(nodes[0]?.url).not.toBe(nodes[1]?.url);
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  });

  test('a web page of another origin may not read answers of the development node', async () => {
    const node = await startAnvil({ log });
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
      const headers = { 'content-type': 'application/json', origin: 'https://elsewhere.example' };
      const answer = await fetch(node.url, { method: 'POST', headers, body });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const asked = { origin: headers.origin, 'access-control-request-method': 'POST' };
      const preflight = await fetch(node.url, { method: 'OPTIONS', headers: asked });
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await node.stop();
    }
  });

  test.each([
    ['no page', undefined, {}, true],
    ['a page of the same origin', 'own', {}, true],
    ['a page of another site', 'https://elsewhere.example', {}, false],
    ['a page of this machine on another port', 'http://127.0.0.1:3000', {}, false],
    ['a page of this machine under another name', 'http://localhost:3000', {}, false],
    ['a file or a sandboxed frame', 'null', {}, false],
    ['a page whose host name resolves to this machine', 'http://a.example', { host: 'a.example' }, false],
  ])(
    'the development node answers %s (origin %s) only if it is of the same origin',
    async (_, page, headers, isAllowed) => {
      const node = await startAnvil({ log });
      try {
        const origin = page === 'own' ? node.url : page;
        const socket = new WebSocket(node.wsUrl, { headers, ...(origin === undefined ? {} : { origin }) });
        const opened = await new Promise<unknown>((resolve) => {
          socket.once('open', () => resolve(true)).once('error', (error) => resolve(error.message));
        });
        expect(opened).toBe(isAllowed || 'Unexpected server response: 403');
        if (isAllowed) {
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }));
          const [answer] = (await once(socket, 'message')) as [Buffer];
          expect(JSON.parse(answer.toString())).toMatchObject({ result: '0x171' });
        }
        socket.terminate();
        expect(await statusUnder(node.url, headers)).toBe('host' in headers ? 403 : 200);
      } finally {
        await node.stop();
      }
    },
  );

  test('the development node mines blocks only on request', async () => {
    const node = await startAnvil({ log });
    const rpc = openDevRpc(node.url);
    try {
      await rpc.call('evm_mine');
      await delay(50);
      expect((await getBlockHead(rpc)).number).toBe(1);
    } finally {
      await rpc.close();
      await node.stop();
    }
  });

  test('the development node leaves no process and no folder when it is stopped, even twice', async () => {
    const node = await startAnvil({ log });
    const nodes = listChildNodes();
    await Promise.all([node.stop(), node.stop()]);
    expect(nodes).toHaveLength(1);
    expect(listLeftovers(nodes)).toEqual([]);
    expect(isRunning(node.pid)).toBe(false);
  });

  test('the development node reports when it ends unexpectedly', async () => {
    const node = await startAnvil({ log });
    process.kill(node.pid, 'SIGKILL');
    await expect(node.ended).resolves.toEqual(expect.any(String));
    expect(isRunning(node.pid)).toBe(false);
    await node.stop();
  });

  test('the development node fails on a port in use, and leaves no process behind', async () => {
    const node = await startAnvil({ log });
    try {
      const port = Number(new URL(node.url).port);
      await expect(startAnvil({ log, port })).rejects.toThrow(/did not start/);
    } finally {
      await node.stop();
    }
    expect(listChildNodes()).toEqual([]);
  });

  test('the development node without a binary for the platform tells the user to set RPC_URL', () => {
    expect(() => findAnvilBinary('sunos', 'sparc')).toThrow(expect.objectContaining({ code: 'bad_config' }));
    expect(() => findAnvilBinary('sunos', 'sparc')).toThrow(/RPC_URL/);
  });

  test('the development node serves requests while nobody reads its output', async () => {
    const node = await startAnvil({ log });
    const rpc = openDevRpc(node.url);
    try {
      const calls = Array.from({ length: 500 }, () => ({ method: 'eth_chainId', params: [] }));
      for (let round = 0; round < 10; round++) expect(await rpc.batch(calls)).toHaveLength(500);
    } finally {
      await rpc.close();
      await node.stop();
    }
  });
});

/** The status of a request of the page at this address, sent with these headers. */
async function statusUnder(url: string, headers: Record<string, string>): Promise<number> {
  const call = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] }));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

describe('the development node ends after a kill of its parent process', () => {
  let parent: ChildProcess | undefined;
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'candlehouse-orphan-'));
  });
  afterEach(() => {
    parent?.kill('SIGKILL');
    // The process that cleans up after its parent may still be removing files.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });

  test('the development node ends after a kill of its parent, and its files are removed', async () => {
    parent = spawnParent(folder);
    const pid = await readPid(parent);
    expect(isRunning(pid)).toBe(true);
    const made = readdirSync(folder).filter((name) => name.startsWith('candlehouse-anvil-'));
    expect(made).toHaveLength(1);
    parent.kill('SIGKILL');
    await until(() => !isRunning(pid) && !existsSync(join(folder, made[0] ?? '')));
  });
});

/** A Node process that starts a node, prints its pid and waits. Its temporary files are in `folder`. */
function spawnParent(folder: string): ChildProcess {
  const root = join(__dirname, '..', '..', '..');
  const script = `
    const { transformFileSync } = require('@swc/core');
    const options = { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } };
    require.extensions['.ts'] = (module, file) => module._compile(transformFileSync(file, options).code, file);
    const { startAnvil } = require('./src/dev/node/anvil.ts');
    const { createLog } = require('./src/log.ts');
    startAnvil({ log: createLog('silent', false) }).then((node) => {
      process.stdout.write('pid ' + node.pid + '\\n');
      setInterval(() => undefined, 60_000);
    });`;
  return spawn(process.execPath, ['-e', script], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function readPid(parent: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    parent.once('exit', () => reject(new Error(`the parent ended early: ${text}`)));
    parent.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const pid = /pid (\d+)\n/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

describe('the folder of a development chain lasts as long as its owner', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'candlehouse-folders-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  test('the folder of a development chain is new at each start, and remove() deletes it', async () => {
    const [one, two] = [await makeDevFolder(dataDir), await makeDevFolder(dataDir)];
    expect(one.id).toMatch(/^dev-[0-9a-f]{8}$/);
    expect(one.path).not.toBe(two.path);
    one.remove();
    expect(readdirSync(dataDir)).toEqual([two.id]);
  });

  test('a deletion without time leaves the folder to a later start, with its owner file', async () => {
    const folder = await makeDevFolder(dataDir);
    mkdirSync(join(folder.path, 'clickhouse'));
    folder.remove(0);
    expect(readdirSync(folder.path).sort()).toEqual(['clickhouse', 'owner.json']);
    folder.remove();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('the folder of a development chain stays while its owner runs, and other folders always stay', async () => {
    const folder = await makeDevFolder(dataDir);
    mkdirSync(join(dataDir, 'clickhouse'));
    await removeOldDevFolders(dataDir, log);
    expect(readdirSync(dataDir).sort()).toEqual(['clickhouse', folder.id].sort());
  });

  test('a later start deletes the folder of a development chain if its owner has ended, or its owner file has been missing for long', async () => {
    const [orphan, ownerless, young] = ['dev-00000001', 'dev-00000002', 'dev-00000003'];
    for (const name of [orphan, ownerless, young]) mkdirSync(join(dataDir, name));
    // The recorded start time is not the start time of the process with this pid, so the owner has ended and another
    // process has its pid.
    const owner = { owner: { pid: process.pid, startedAt: 'before' }, engine: null };
    writeFileSync(join(dataDir, orphan, 'owner.json'), JSON.stringify(owner));
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(join(dataDir, ownerless), old, old);
    await removeOldDevFolders(dataDir, log);
    expect(readdirSync(dataDir)).toEqual([young]);
  });
});
