/** Runs the built program over an existing database in its own process, as in production. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { createDrain, type Drain } from './drain';

export interface ServedApi {
  readonly url: string;
  readonly pid: number;
  /** Returns the body of a GET request; throws for a status other than 200. */
  get(path: string): Promise<string>;
  /** Like `get`, but only counts the bytes, because a client's work on the body is not the server's time. */
  drain(path: string): Promise<number>;
  /** Number of the newest indexed block from the header; null if no block is indexed yet. */
  head(): Promise<string | null>;
  /** Largest resident memory of the process, in MB. */
  memoryMb(): number;
  stop(): Promise<void>;
}

const START_MS = 30_000;
/** The limits per client are off, because one client sends all requests of the benchmark. */
const NO_LIMITS = {
  RATE_LIMIT_PER_MINUTE: '0',
  RATE_LIMIT_ROWS_PER_MINUTE: '0',
  RATE_LIMIT_BYTES_PER_MINUTE: '0',
  RATE_LIMIT_IN_FLIGHT: '0',
  SHED_LOOP_DELAY_MS: '0',
};

/** Runs `dist/main.js <command>` with these settings on a free port. */
export async function serveApi(
  command: string,
  settings: Readonly<Record<string, string>>,
): Promise<ServedApi> {
  const env = { ...process.env, PORT: '0', LOG_LEVEL: 'info', ...NO_LIMITS, ...settings };
  const mainFile = join(findPackageRoot(), 'dist', 'main.js');
  const child = spawn(process.execPath, [mainFile, command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve())).finally(() =>
    process.removeListener('exit', kill),
  );
  const untilMs = Date.now() + START_MS;
  let url: string | undefined;
  const fail = (problem: string): never => {
    kill();
    throw new Error(`${problem}:\n${output}`);
  };
  while (url === undefined) {
    if (child.exitCode !== null || Date.now() > untilMs) fail('the API did not start');
    url = /"url":"(http:[^"]+)"/.exec(output)?.[1];
    await delay(20);
  }
  const baseUrl = url;
  const agent = new Agent({ keepAlive: true });
  let drain: Drain | null = null;
  const fetchBody = (path: string): Promise<Buffer[]> => fetchPieces(`${baseUrl}${path}`, agent);
  const get = async (path: string): Promise<string> => Buffer.concat(await fetchBody(path)).toString();
  while (
    !(await get('/api/v1/pairs?limit=1').then(
      () => true,
      () => false,
    ))
  ) {
    if (Date.now() > untilMs) fail('the API has not indexed a block');
    await delay(50);
  }
  return {
    url: baseUrl,
    pid: child.pid ?? 0,
    get,
    drain: (path) => {
      drain ??= createDrain(baseUrl);
      return drain.get(path);
    },
    async head() {
      const response = await fetch(`${baseUrl}/healthz`);
      await response.arrayBuffer();
      return response.headers.get('x-indexed-block');
    },
    memoryMb() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    async stop() {
      agent.destroy();
      drain?.close();
      child.kill('SIGTERM');
      await exit;
    },
  };
}

function fetchPieces(url: string, agent: Agent): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const call = request(url, { agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        if (response.statusCode === 200) resolve(pieces);
        else
          reject(
            new Error(`${response.statusCode} of ${url}: ${Buffer.concat(pieces).toString().slice(0, 200)}`),
          );
      });
    });
    call.on('error', reject);
    call.end();
  });
}
