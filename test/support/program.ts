/** The built program as a user runs it: spawned, its log read, stopped or killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findPackageRoot } from '../../src/clickhouse/packageRoot';
import { CLUSTER_NAME } from './embeddedCluster';

const mainFile = (): string => join(findPackageRoot(), 'dist', 'main.js');
/** Of what a program printed. */
const OUTPUT_KEPT = 200_000;

export interface Spawned {
  readonly process: ChildProcess;
  /** The last that it printed. */
  output(): string;
  /** Sends the signal and waits for the end; resolves to the exit code (null: killed). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Program extends Spawned {
  /** Where its API listens. */
  readonly url: string;
}

export type Settings = Readonly<Record<string, string>>;

function environment(settings: Settings): NodeJS.ProcessEnv {
  const own = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', LOG_LEVEL: 'info' };
  return { ...own, ...placeOf(settings), ...settings };
}

/** Under jest.cluster.config.js a database of the cluster, of its own for each data folder; else the folder itself. */
function placeOf({ DATA_DIR: folder }: Settings): Settings {
  const writer = process.env['CANDLEHOUSE_TEST_WRITER_URL'];
  const reader = process.env['CANDLEHOUSE_TEST_READER_URL'];
  if (process.env['CANDLEHOUSE_TEST_CLUSTER'] === undefined || folder === undefined) return {};
  const name = `candlehouse_${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
  const within = (url = ''): string => url.replace(/\/\w+$/, `/${name}`);
  return {
    CLICKHOUSE_URL: within(writer),
    CLICKHOUSE_READ_URL: within(reader),
    CLICKHOUSE_CLUSTER: CLUSTER_NAME,
  };
}

/** Starts `dist/main.js <command>`. */
export function spawnProgram(command: string, settings: Settings): Spawned {
  const child = spawn(process.execPath, [mainFile(), command], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const keep = (chunk: Buffer): void => void (text = (text + chunk.toString()).slice(-OUTPUT_KEPT));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    process: child,
    output: () => text,
    async end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Starts `dist/main.js <command>` and waits until its API listens. Rejects with its output when it ends before. */
export async function startProgram(command: string, settings: Settings): Promise<Program> {
  const spawned = spawnProgram(command, settings);
  for (;;) {
    const url = /"url":"(http:[^"]+)"/.exec(spawned.output())?.[1];
    if (url !== undefined) return { ...spawned, url };
    const { exitCode, signalCode } = spawned.process;
    if (exitCode !== null || signalCode !== null) throw new Error(`the program ended:\n${spawned.output()}`);
    await delay(20);
  }
}

/** Runs a command to its end. */
export async function runProgram(
  args: readonly string[],
  settings: Settings,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [mainFile(), ...args], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

/** The engine's process id as its lock file names it; null when there is none. */
export function enginePid(dataDir: string): number | null {
  const file = join(dataDir, 'clickhouse', 'lock.json');
  if (!existsSync(file)) return null;
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8')) as { engine: { pid: number } | null };
    return lock.engine?.pid ?? null;
  } catch {
    return null;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the API's newest block is at least `block`. */
export async function waitForBlock(url: string, block: number, timeoutMs = 120_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  let seen = 'nothing';
  while (Date.now() < end) {
    try {
      const response = await fetch(`${url}/readyz`);
      await response.arrayBuffer();
      seen = response.headers.get('x-indexed-block') ?? 'nothing';
      if (Number(seen) >= block) return;
    } catch {
      // Not listening yet, or just killed.
    }
    await delay(50);
  }
  throw new Error(`block ${block} was not indexed within ${timeoutMs} ms; the API is at ${seen}`);
}
