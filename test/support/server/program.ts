/** Spawns the built program as a user does, reads its log, and stops or kills the process. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { CLUSTER_NAME } from '../engine/embeddedCluster';
import { eventually } from '../eventually';

const mainFile = (): string => join(findPackageRoot(), 'dist', 'main.js');
/** Number of characters kept of a program's output. */
const OUTPUT_KEPT = 200_000;
const LINES_SHOWN = 40;
const DRAIN_MAX_MS = 1_000;

export interface Spawned {
  readonly process: ChildProcess;
  /** The latest output. */
  output(): string;
  hasEnded(): boolean;
  /** How the program ended and its last lines, for an error message. */
  lastWords(): string;
  /** Sends the signal and waits for the end. Resolves to the exit code, or null if the signal killed the process. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Program extends Spawned {
  /** Address of the API. */
  readonly url: string;
}

export type Settings = Readonly<Record<string, string>>;

function environment(settings: Settings): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  const ownSettings = {
    PATH,
    HOME,
    TMPDIR,
    PORT: '0',
    LOG_LEVEL: 'info',
    ENV_FILE: '/dev/null',
    SHED_LOOP_DELAY_MS: '0',
  };
  return { ...ownSettings, ...databaseSettings(settings), ...settings };
}

/**
 * Under jest.cluster.config.js each data folder gets a database of the cluster. Otherwise the folder itself is used.
 */
function databaseSettings({ DATA_DIR: folder }: Settings): Settings {
  const writer = process.env['CANDLEHOUSE_TEST_WRITER_URL'];
  const reader = process.env['CANDLEHOUSE_TEST_READER_URL'];
  if (process.env['CANDLEHOUSE_TEST_CLUSTER'] === undefined || folder === undefined) return {};
  const name = `candlehouse_${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
  const urlOfDatabase = (url = ''): string => url.replace(/\/\w+$/, `/${name}`);
  return {
    CLICKHOUSE_URL: urlOfDatabase(writer),
    CLICKHOUSE_READ_URL: urlOfDatabase(reader),
    CLICKHOUSE_CLUSTER: CLUSTER_NAME,
  };
}

interface SpawnOptions {
  /** Starts a separate process group, to which `end` sends its signal. */
  readonly ownGroup?: boolean;
  /** Whether the test expects the program to end early. By default an early end is printed with the last lines. */
  readonly mayEnd?: boolean;
}

/** The programs that run. */
const running = new Set<Spawned>();
let isStopping = false;

/** Ends all programs, and refuses to start others. */
export async function endPrograms(): Promise<void> {
  isStopping = true;
  await Promise.all([...running].map((program) => program.end('SIGTERM')));
}

/** The programs of this process with a known API address, the newest for each address. */
const programByUrl = new Map<string, Spawned>();

const tailOf = (text: string): string => text.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');

/** `command` may contain options, separated by spaces. */
export function spawnProgram(
  command: string,
  settings: Settings,
  { ownGroup = false, mayEnd = false }: SpawnOptions = {},
): Spawned {
  if (isStopping) throw new Error(`"candlehouse ${command}" is not started, because all programs end`);
  const child = spawn(process.execPath, [mainFile(), ...command.split(' ')], {
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: ownGroup,
  });
  let text = '';
  let isAwaited = mayEnd;
  const keepOutput = (chunk: Buffer): void => void (text = (text + chunk.toString()).slice(-OUTPUT_KEPT));
  child.stdout.on('data', keepOutput);
  child.stderr.on('data', keepOutput);
  const exit = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      child.once('close', () => resolve(code));
      // A process that the program left behind may keep the output open.
      setTimeout(() => resolve(code), DRAIN_MAX_MS).unref();
    });
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const lastWords = (): string => {
    const stateText = hasEnded() ? `ended with ${child.signalCode ?? `code ${child.exitCode}`}` : 'runs';
    return `"candlehouse ${command}" (process ${child.pid ?? '?'}) ${stateText}; its last output:\n${tailOf(text)}`;
  };
  void exit.then(() => {
    running.delete(spawned);
    if (!isAwaited) process.stderr.write(`the program ended unexpectedly: ${lastWords()}\n`);
  });
  const spawned: Spawned = {
    process: child,
    output: () => text,
    hasEnded,
    lastWords,
    async end(signal) {
      isAwaited = true;
      if (!hasEnded() && child.pid !== undefined) process.kill(ownGroup ? -child.pid : child.pid, signal);
      return exit;
    },
  };
  running.add(spawned);
  return spawned;
}

/**
 * Starts `dist/main.js <command>` and waits until the API listens. Rejects with the last lines if the program ends
 * first.
 */
export async function startProgram(
  command: string,
  settings: Settings,
  options?: SpawnOptions,
): Promise<Program> {
  const spawned = spawnProgram(command, settings, options);
  const url = await eventually(
    () => /"url":"(http:[^"]+)"/.exec(spawned.output())?.[1],
    (url) => url !== undefined || spawned.hasEnded(),
    spawned.lastWords,
  );
  if (url === undefined) {
    await spawned.end('SIGKILL');
    throw new Error(`the program did not start its API: ${spawned.lastWords()}`);
  }
  programByUrl.set(url, spawned);
  return { ...spawned, url };
}

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

/** Runs a command that must succeed. Otherwise throws with the last lines of its output. */
export async function runToSuccess(args: readonly string[], settings: Settings): Promise<string> {
  const { code, output } = await runProgram(args, settings);
  if (code !== 0)
    throw new Error(`"candlehouse ${args.join(' ')}" ended with code ${code}:\n${tailOf(output)}`);
  return output;
}

/** The engine's process id from its lock file; null without a lock file. */
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

/**
 * Whether the process is an engine of the data folder. The system may have given the pid of a dead engine to
 * another process.
 */
export function isEngine(pid: number, dataDir: string): boolean {
  try {
    const command = execFileSync('ps', ['-ww', '-o', 'state=,args=', '-p', String(pid)], {
      encoding: 'utf8',
      // The lock may name the pid 0 of an engine that is starting, which ps refuses.
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return !command.startsWith('Z') && command.includes(join(dataDir, 'clickhouse'));
  } catch {
    return false;
  }
}

/**
 * Waits until the API's newest block is at least `block`. Throws with the program's last lines as soon as the program
 * has ended.
 */
export async function waitForBlock(url: string, block: number): Promise<void> {
  const program = programByUrl.get(url);
  const readIndexedBlock = async (): Promise<string> => {
    if (program?.hasEnded() === true)
      throw new Error(`block ${block} cannot be indexed: ${program.lastWords()}`);
    // Without an answer the program does not listen yet, or was just killed.
    const response = await fetch(`${url}/readyz`).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
    return response?.headers.get('x-indexed-block') ?? 'nothing';
  };
  await eventually(
    readIndexedBlock,
    (indexedBlock) => Number(indexedBlock) >= block,
    (indexedBlock) => `${indexedBlock}, wanted is block ${block}; ${program?.lastWords() ?? ''}`,
  );
}
