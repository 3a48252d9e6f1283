/**
 * Runs a helper script of the benchmarks in its own Node process, so its work is not counted for the measured program.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';

export interface BenchChild {
  readonly pid: number;
  /** The first line of the child's output, which is its address. */
  readonly url: string;
  /** Resolves to the next line of the child's output. */
  nextLine(): Promise<string>;
  /** Writes a line to the child's standard input. */
  say(line: string): void;
  close(): Promise<void>;
}

/** Starts the compiled `scripts/bench/children/<name>.ts`. The child ends when this process ends, or earlier. */
export async function startBenchChild(name: string, argument: unknown): Promise<BenchChild> {
  const file = join(findPackageRoot(), 'build', 'scripts', 'bench', 'children', `${name}.js`);
  const child = spawn(process.execPath, [file, JSON.stringify(argument)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const lineWaiters: ((line: string) => void)[] = [];
  let unfinishedLine = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (unfinishedLine + chunk.toString()).split('\n');
    unfinishedLine = parts.pop() ?? '';
    for (const part of parts) {
      const waiter = lineWaiters.shift();
      if (waiter === undefined) lines.push(part);
      else waiter(part);
    }
  });
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const failed = exit.then(() => Promise.reject(new Error(`${name} ended`)));
  failed.catch(() => undefined);
  const nextLine = async (): Promise<string> =>
    lines.shift() ?? Promise.race([new Promise<string>((resolve) => lineWaiters.push(resolve)), failed]);
  return {
    pid: child.pid ?? 0,
    url: await nextLine(),
    nextLine: nextLine,
    say: (text) => void child.stdin.write(`${text}\n`),
    async close() {
      child.stdin.end();
      await exit;
    },
  };
}

/** Processor time that a process has used, in seconds (Linux). */
export function processorSeconds(pid: number): number {
  return readSeconds(`/proc/${pid}/stat`);
}

/** Processor time that the main thread of this process has used, in seconds (Linux). */
export function mainThreadSeconds(): number {
  return readSeconds(`/proc/self/task/${process.pid}/stat`);
}

function readSeconds(file: string): number {
  const statText = readFileSync(file, 'utf8');
  // In /proc/<pid>/stat, user and system time are the 12th and 13th field after the name in parentheses, in hundredths
  // of a second.
  const fields = statText.slice(statText.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a process (Linux). */
export function residentBytes(pid: number): number {
  return 1_024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}
