/** Helpers for tests of the embedded ClickHouse server: start servers, run queries, wait, and inspect processes. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  startEmbeddedServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from '../../../src/clickhouse/engine/server';
import { createLog } from '../../../src/log';
import { until } from '../eventually';

export const silent = createLog('silent', false);
const folders: string[] = [];
const servers: EmbeddedServer[] = [];
/** The Node processes of `startParent`, which started an engine each. */
const parents: ChildProcess[] = [];
/** Process ids of the engines of `parents`. */
const parentedEnginePids: number[] = [];

/** Ends and removes everything that this file started. Call it in afterAll. */
export async function cleanUp(): Promise<void> {
  for (const parent of parents) parent.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.stop()));
  // The engine of a killed parent ends by itself, but writes files until then.
  for (const pid of parentedEnginePids) await until(() => !isRunning(pid));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-server-'));
  folders.push(folder);
  return folder;
}

/** Starts an embedded server that `cleanUp` ends. */
export async function start(
  dataDir: string,
  options: Partial<EmbeddedServerOptions> = {},
): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dataDir, log: silent, ...options });
  servers.push(server);
  return server;
}

/** Returns the answer as TSV, or the name of ClickHouse's error code. */
export async function ask(url: string, sql: string): Promise<string> {
  const address = new URL(url);
  const answer = await fetch(`${address.origin}/?database=${address.pathname.slice(1)}&wait_end_of_query=1`, {
    method: 'POST',
    headers: {
      'X-ClickHouse-User': address.username,
      'X-ClickHouse-Key': address.password,
      // The engine ends only after all idle connections have closed.
      Connection: 'close',
    },
    body: sql,
  });
  const text = (await answer.text()).trimEnd();
  return answer.ok ? text : (/\(([A-Z_]+)\)(?: \(version.*)?$/.exec(text)?.[1] ?? text);
}

/** Creates table `t` with one row. */
export async function makeTable(server: EmbeddedServer, value: number): Promise<void> {
  for (const sql of [
    'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a',
    `INSERT INTO t VALUES (${value})`,
  ]) {
    const answer = await ask(server.writerUrl, sql);
    if (answer !== '') throw new Error(`${sql}: ${answer}`);
  }
}

/** Whether a process runs. A zombie process does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

interface Parent {
  readonly pid: number;
  readonly enginePid: number;
  readonly writerUrl: string;
}

/** A server in a separate Node process, which compiles TypeScript on the fly. */
const PARENT_SCRIPT = `
const { transformFileSync } = require('@swc/core');
const options = { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } };
require.extensions['.ts'] = (module, file) => module._compile(transformFileSync(file, options).code, file);
const { startEmbeddedServer } = require('./src/clickhouse/engine/server.ts');
const { createLog } = require('./src/log.ts');
startEmbeddedServer({ dataDir: process.argv[1], log: createLog('silent', false) }).then((server) =>
  console.log(JSON.stringify({ pid: process.pid, enginePid: server.pid(), writerUrl: server.writerUrl })),
);
`;

/** Starts the server in another process. Rejects when the start fails. */
export function startParent(dataDir: string): Promise<Parent> {
  const root = join(__dirname, '..', '..', '..');
  const child = spawn(process.execPath, ['-e', PARENT_SCRIPT, dataDir], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  parents.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (!text.endsWith('\n')) return;
      const parent = JSON.parse(text) as Parent;
      parentedEnginePids.push(parent.enginePid);
      resolve(parent);
    });
    child.once('exit', (code) => reject(new Error(`the parent ended with ${code}: ${text}`)));
  });
}

/** Kills the engine's process, as a crash would. */
export function killEngine(server: EmbeddedServer): void {
  const pid = server.pid();
  if (pid <= 0) throw new Error('the engine is not running');
  process.kill(pid, 'SIGKILL');
}

/** Ids of all processes below `pid`. */
export function listDescendants(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    rows.filter((row) => row[1] === parent).flatMap((row) => [row[0]!, ...below(row[0]!)]);
  return below(pid);
}
