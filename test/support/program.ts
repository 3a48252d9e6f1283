/** The built program as a user runs it: spawned, its log read, stopped or killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MAIN = join(__dirname, '../../dist/main.js');

export interface Program {
  readonly process: ChildProcess;
  /** Where its API listens. */
  readonly url: string;
  /** All that it printed. */
  output(): string;
  /** Sends the signal and waits for the end; resolves to the exit code (null: killed). */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export type Settings = Readonly<Record<string, string>>;

function environment(settings: Settings): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: '0', LOG_LEVEL: 'info', ...settings };
}

/** Starts `dist/main.js <command>` and waits until its API listens. Rejects with its output when it ends before. */
export async function startProgram(command: string, settings: Settings): Promise<Program> {
  const child = spawn(process.execPath, [MAIN, command], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  let url: string | undefined;
  while (url === undefined) {
    url = /"url":"(http:[^"]+)"/.exec(text)?.[1];
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the program ended:\n${text}`);
    await delay(20);
  }
  return {
    process: child,
    url,
    output: () => text,
    async end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a command to its end. */
export async function runProgram(
  args: readonly string[],
  settings: Settings,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], {
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
export async function waitForBlock(url: string, block: number, timeoutMs = 60_000): Promise<void> {
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
