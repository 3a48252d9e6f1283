/**
 * Starts one anvil node as a child process, on a free port, without leaving files on disk. The node ends when this
 * process ends.
 *
 * The node program anvil does not notice when its parent dies. So a shell runs in between, and starts anvil
 * beside a watcher that reads the shell's standard input. This process holds the only other end of that pipe.
 * When this process dies for any reason, the kernel closes the pipe and the watcher kills anvil.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import { startOriginGuard } from './originGuard';

interface AnvilOptions {
  readonly log: Logger;
  /** Chain id; default 369. */
  readonly chainId?: number;
  /** Port; by default a free port, chosen by the system. */
  readonly port?: number;
  /** Time of the genesis block, unix seconds. The default is now. */
  readonly timestamp?: number;
  /** Number of unlocked accounts of anvil's well-known mnemonic, each with a billion native tokens. Default 10. */
  readonly accounts?: number;
  /** Number of blocks with readable state, which limits the depth of a reorg. Default 300. */
  readonly stateBlocks?: number;
  /** Rules of the chain; default shanghai, the rules of PulseChain. */
  readonly hardfork?: string;
  readonly extraArguments?: readonly string[];
}

export interface Anvil {
  readonly url: string;
  readonly wsUrl: string;
  /** Process id of anvil itself. */
  readonly pid: number;
  /** Resolves with the reason when anvil ends, whether it was stopped or ended by itself. */
  readonly ended: Promise<string>;
  /** Ends anvil and waits for its exit. A second call does nothing. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const LAST_OUTPUT_CHARACTERS_MAX = 2_000;

/**
 * The shell command. $0 is the folder to remove at the end; the other arguments are the command to run.
 * `read` returns when the pipe closes. The shell's own output is closed: otherwise its message about the
 * killed child would go into a pipe without a reader, and the shell would end early.
 */
const WATCHED_COMMAND = `
"$@" </dev/null &
anvil=$!
exec 3<&0
echo "pid $anvil"
exec >/dev/null 2>&1
{ read -r line <&3; kill -9 "$anvil" 2>/dev/null; } >/dev/null 2>&1 &
watcher=$!
wait "$anvil"
code=$?
kill "$watcher" 2>/dev/null
rm -rf -- "$0"
exit "$code"
`;

/** Starts a node. Throws `bad_config` naming RPC_URL if anvil is not installed, `node_failed` if it does not start. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const binary = findAnvilBinary();
  const guard = await startOriginGuard(options.port ?? 0).catch((error: unknown): never => {
    throw new AppError('node_failed', `the development node did not start: ${errorText(error)}`, {
      cause: error,
    });
  });
  const host = hiddenHost();
  const cacheDir = mkdtempSync(join(tmpdir(), 'candlehouse-anvil-'));
  const child = spawn(
    '/bin/sh',
    ['-c', WATCHED_COMMAND, cacheDir, binary, ...argumentsFor(options, host, cacheDir)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // anvil has its own process group, so Ctrl-C on the terminal does not reach it. It stops after the
      // ingester has finished.
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: cacheDir, NO_COLOR: '1' },
    },
  );
  const endReason = watchEnd(child, cacheDir);
  void endReason.then(() => guard.close());
  const stop = async (): Promise<void> => {
    child.stdin?.destroy();
    await endReason;
  };
  try {
    const { port, pid } = await readStart(child, endReason);
    guard.setNode({ host, port });
    const url = `http://127.0.0.1:${guard.port}`;
    options.log.debug({ url, pid }, 'anvil is up');
    return { url, wsUrl: `ws://127.0.0.1:${guard.port}`, pid, ended: endReason, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The address on which anvil listens behind the guard. On Linux all of 127.0.0.0/8 is this machine, so a web page
 * cannot find the address and port by trying.
 */
function hiddenHost(): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return ['127', ...Array.from({ length: 3 }, () => randomInt(1, 255))].join('.');
}

function argumentsFor(options: AnvilOptions, host: string, cacheDir: string): string[] {
  const settings: Record<string, string | number> = {
    host,
    port: 0,
    'chain-id': options.chainId ?? 369,
    // The chain has the rules of PulseChain, without blob fields in headers.
    hardfork: options.hardfork ?? 'shanghai',
    'gas-limit': 100_000_000,
    accounts: options.accounts ?? 10,
    balance: 1_000_000_000,
    // Without this setting, anvil writes the whole state of each block to disk and leaves it there.
    'prune-history': options.stateBlocks ?? 300,
    'cache-path': cacheDir,
    // With explicit prices per transaction, equal runs put transactions in the same order.
    order: 'fees',
  };
  if (options.timestamp !== undefined) settings['timestamp'] = options.timestamp;
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  // Without --no-cors, any web page in a browser on this machine could control the chain over HTTP.
  return [...flags, '--no-mining', '--no-cors', ...(options.extraArguments ?? [])];
}

/** Resolves after the shell has ended and its files are removed, with anvil's exit code and last output. */
function watchEnd(child: ChildProcess, cacheDir: string): Promise<string> {
  let lastOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastOutput = (lastOutput + text).slice(-LAST_OUTPUT_CHARACTERS_MAX);
  });
  // A write error only means that the reader is gone; the `close` event reports the end.
  child.stdin?.on('error', () => undefined);
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(errorText(error)));
    child.on('close', (code, signal) => {
      rmSync(cacheDir, { recursive: true, force: true });
      resolve(`anvil ended with ${signal ?? `code ${code ?? 'unknown'}`} ${lastOutput.trim()}`.trim());
    });
  });
}

/** Waits for anvil's "Listening on" line. Later output (a line per request) is discarded. */
async function readStart(
  child: ChildProcess,
  endReason: Promise<string>,
): Promise<{ port: number; pid: number }> {
  const { stdout } = child;
  if (stdout === null) throw new AppError('internal', 'anvil has no standard output');
  const lines = createInterface({ input: stdout });
  const listening = new Promise<{ port: number; pid: number }>((resolve) => {
    let pid = 0;
    lines.on('line', (line) => {
      pid ||= Number(/^pid (\d+)$/.exec(line)?.[1] ?? 0);
      const port = Number(/Listening on \S+:(\d+)/.exec(line)?.[1] ?? 0);
      if (port > 0) resolve({ port, pid });
    });
  });
  const { promise: timeout, cancel } = rejectAfter(START_TIMEOUT_MS);
  const earlyEnd = endReason.then((reason): never => {
    throw new AppError(
      'node_failed',
      `the development node did not start: ${reason}. To use a real chain, set RPC_URL and run npm start`,
      { retryable: false },
    );
  });
  try {
    return await Promise.race([listening, earlyEnd, timeout]);
  } finally {
    cancel();
    lines.close();
    stdout.removeAllListeners('data').resume();
    earlyEnd.catch(() => undefined);
  }
}

function rejectAfter(ms: number): { promise: Promise<never>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const error = new AppError('node_failed', `the development node did not start within ${ms} ms`);
    timer = setTimeout(() => reject(error), ms);
  });
  return { promise, cancel: () => clearTimeout(timer) };
}

/** The anvil binary for this platform, from its npm package. Throws `bad_config` if the package has no binary for it. */
export function findAnvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const cpu = arch === 'x64' ? 'amd64' : arch;
  const name = `@foundry-rs/anvil-${platform}-${cpu}`;
  try {
    const manifest = createRequire(join(findPackageRoot(), 'package.json')).resolve(`${name}/package.json`);
    const binary = join(manifest, '..', 'bin', 'anvil');
    accessSync(binary, constants.X_OK);
    return binary;
  } catch (error) {
    throw new AppError(
      'bad_config',
      `the development node is not available on ${platform}/${arch} (package ${name} is missing): set RPC_URL to a node`,
      { cause: error },
    );
  }
}
