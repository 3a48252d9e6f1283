/**
 * Runs the engine's process: a child Node that calls `chdb_query_cmdline` of libchdb, which becomes a
 * ClickHouse server. The server lives as long as the pipe on its standard input. engineSupervisor.ts restarts
 * it.
 *
 * The pipe is a FIFO whose only writer is this process. If this process dies for any reason, the kernel
 * closes the writing end, the engine's last query (which reads from the pipe) ends, and the child exits.
 * Node's own stdio 'pipe' is a socket, which the engine cannot open as /dev/stdin.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { AppError } from '../../errors';
import { findPackageRoot } from '../client/packageRoot';

interface EngineLibraries {
  readonly ffi: string;
  readonly engine: string;
}

export interface EngineLaunch {
  readonly libraries: EngineLibraries;
  /** Private folder of the named pipe (FIFO). */
  readonly folder: string;
  readonly dataPath: string;
  readonly configFile: string;
  /** HTTP port; 0 lets the kernel choose a free port when the engine opens it. */
  readonly httpPort: number;
  /** Port of the native protocol between cluster nodes. If absent, the protocol is not served. */
  readonly tcpPort?: number;
}

export interface EngineProcess {
  readonly pid: number;
  /** Resolves when the process has ended, with the reason and its last output. Never rejects. */
  readonly whenEnded: Promise<string>;
  hasEnded(): boolean;
  /** The HTTP port, or null before the engine listens. */
  httpPort(): number | null;
  /** Last output of the engine on standard error. */
  said(): string;
  /**
   * Closes the pipe, waits at most `graceMs` until the process ends by itself, then kills it. Resolves when the
   * process is gone.
   */
  end(graceMs: number): Promise<void>;
}

const STDERR_TAIL_MAX = 4096;

/**
 * Finds libchdb and ffi-rs for this platform. Throws `bad_config` that suggests CLICKHOUSE_URL if they are
 * missing.
 */
export function findEngineLibraries(
  platform: string = process.platform,
  arch: string = process.arch,
): EngineLibraries {
  const name = `@chdb/lib-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;
  try {
    const requireHere = createRequire(__filename);
    const ffi = requireHere.resolve('ffi-rs');
    const packageFile = createRequire(requireHere.resolve('chdb/package.json')).resolve(
      `${name}/package.json`,
    );
    const engine = join(dirname(packageFile), 'libchdb.so');
    accessSync(engine);
    return { ffi, engine };
  } catch (cause) {
    throw new AppError(
      'bad_config',
      `the embedded ClickHouse is not available on ${platform} ${arch} (package ${name} is missing): ` +
        'set CLICKHOUSE_URL to a ClickHouse server',
      { cause },
    );
  }
}

/**
 * Starts the engine and returns before it is ready. Callers must send HTTP requests until the engine answers.
 */
export function launchEngine(launch: EngineLaunch): EngineProcess {
  const fifo = join(launch.folder, `stdin-${process.pid}`);
  const portFile = join(launch.folder, portFileName());
  rmSync(fifo, { force: true });
  rmSync(portFile, { force: true });
  makeFifo(fifo);
  // The FIFO is first opened for reading and writing, which does not block. Both ends are close-on-exec, so
  // the child inherits only its standard input.
  const writeEnd = openSync(fifo, constants.O_RDWR);
  const readEnd = openSync(fifo, constants.O_RDONLY);
  try {
    const child = spawn(
      '/bin/sh',
      ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, ...childArguments(launch)],
      {
        stdio: [readEnd, 'ignore', 'pipe'],
        env: childEnvironment(),
        cwd: launch.folder,
        // The child gets its own session, so that Ctrl-C reaches only the parent. The parent finishes its
        // work and then ends the engine.
        detached: true,
      },
    );
    return watch(child, writeEnd, portFile);
  } finally {
    closeSync(readEnd);
    rmSync(fifo, { force: true });
  }
}

function makeFifo(path: string): void {
  try {
    execFileSync('mkfifo', ['-m', '600', path], { stdio: 'pipe' });
  } catch (cause) {
    const message = `cannot create a named pipe at ${path}: set DATA_DIR to a folder on a local disk`;
    throw new AppError('bad_config', message, { cause });
  }
}

/**
 * Name of the file to which the engine writes its HTTP port. The name is relative to the engine's working
 * directory, so that it needs no escaping in SQL.
 */
const portFileName = (): string => `http-port-${process.pid}`;

function childArguments(launch: EngineLaunch): string[] {
  const { tcpPort } = launch;
  const query = [
    'SYSTEM START LISTEN HTTP',
    ...(tcpPort === undefined ? [] : ['SYSTEM START LISTEN TCP']),
    `SELECT getServerPort('http_port') INTO OUTFILE '${portFileName()}' TRUNCATE FORMAT TSV`,
    "SELECT count() FROM file('/dev/stdin', 'LineAsString')",
  ].join('; ');
  return [
    join(findPackageRoot(), 'clickhouse', 'engine', 'child.cjs'),
    String(process.pid),
    launch.libraries.ffi,
    launch.libraries.engine,
    launch.folder,
    `--path=${launch.dataPath}`,
    `--config-file=${launch.configFile}`,
    `--http_port=${launch.httpPort}`,
    ...(tcpPort === undefined ? [] : [`--tcp_port=${tcpPort}`]),
    '--listen_host=127.0.0.1',
    '--log-level=warning',
    `--query=${query}`,
  ];
}

/** Environment variables of the engine, without the keys and passwords of our own environment. */
function childEnvironment(): NodeJS.ProcessEnv {
  return { TZ: 'UTC', LANG: 'C.UTF-8' };
}

function watch(child: ChildProcess, writeEnd: number, portFile: string): EngineProcess {
  let lastOutput = '';
  let knownPort: number | null = null;
  let ended = false;
  let isPipeOpen = true;
  const closePipe = (): void => {
    if (isPipeOpen) closeSync(writeEnd);
    isPipeOpen = false;
  };
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (text: string) => {
    lastOutput = (lastOutput + text).slice(-STDERR_TAIL_MAX);
  });
  const whenEnded = new Promise<string>((resolve) => {
    const finish = (reason: string): void => {
      ended = true;
      closePipe();
      const shownOutput = withoutLogMessages(lastOutput);
      resolve(shownOutput === '' ? reason : `${reason}: ${shownOutput}`);
    };
    child.once('error', (error) => finish(error.message));
    child.once('close', (code, signal) => finish(signal === null ? `exit code ${code ?? '?'}` : signal));
  });
  return {
    pid: child.pid ?? 0,
    whenEnded,
    hasEnded: () => ended,
    httpPort: () => (knownPort ??= takePort(portFile)),
    said: () => lastOutput,
    end: async (graceMs) => {
      closePipe();
      const graceTimer = new AbortController();
      const whenTooLong = delay(graceMs, 'slow', { signal: graceTimer.signal }).catch(() => 'aborted');
      if ((await Promise.race([whenEnded, whenTooLong])) === 'slow' && !ended) child.kill('SIGKILL');
      graceTimer.abort();
      await whenEnded;
    },
  };
}

/**
 * Reads and removes the port file that the engine writes when it listens. Null while the file is missing or
 * incomplete.
 */
function takePort(file: string): number | null {
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  if (!/^\d+\n$/.test(text)) return null;
  rmSync(file, { force: true });
  return Number(text);
}

/** Last output of the engine, without its messages about log files. */
function withoutLogMessages(tail: string): string {
  const lines = tail.split('\n').filter((line) => line !== '' && !line.startsWith('Logging '));
  return lines.join('\n').trim();
}
