/**
 * Solidity compilers of npm, several versions side by side: packages named `solc-<version>`, aliases of `npm:solc@<version>`,
 * and `solc` itself, wherever Node would look for them. Nothing is fetched. A compilation runs in a process of its own,
 * bounded in time and memory, which ends with this one.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { AppError } from '../../errors';
import { findPackageRoot } from '../../clickhouse/packageRoot';

const TIMEOUT_MS = 90_000;
/** Resident memory of a compiling process; optimizing the largest known contracts takes some 800 MB. */
const MEMORY_MAX = 2 * 2 ** 30;
const STDERR_MAX = 2_000;

/**
 * The process: one thread compiles, the other watches memory and the parent. Arguments: the compiler's folder, the most
 * bytes of memory.
 */
const CHILD_SCRIPT = `
const { Worker } = require('node:worker_threads');
const [folder, memoryMax] = process.argv.slice(1);
process.on('disconnect', () => process.exit(3));
setInterval(() => { if (process.memoryUsage.rss() > Number(memoryMax)) process.exit(4); }, 50);
process.once('message', (input) => {
  const worker = new Worker(\`
    const { parentPort, workerData } = require('node:worker_threads');
    const solc = require(workerData.folder);
    const output = solc.compile(workerData.input);
    parentPort.postMessage({ version: solc.version(), output });
  \`, { eval: true, workerData: { folder, input } });
  worker.on('error', (error) => process.send({ failure: String(error && error.message || error) }, () => process.exit(0)));
  worker.on('message', (answer) => process.send(answer, () => process.exit(0)));
});
`;

const answerShape = z.union([
  z.object({ version: z.string(), output: z.string() }),
  z.object({ failure: z.string() }),
]);
const packageShape = z.object({ name: z.literal('solc'), version: z.string() });

export interface Compilers {
  /** The versions installed, newest first: `0.8.30`. */
  readonly versions: readonly string[];
  /** What the compiler answers to a standard JSON input, parsed. Throws bad_request for a version that is not there. */
  compile(version: string, input: unknown, signal?: AbortSignal): Promise<CompilerAnswer>;
}

export interface CompilerAnswer {
  /** `0.8.30+commit.73712a01`. */
  readonly version: string;
  readonly output: unknown;
}

export interface CompilerLimits {
  readonly timeoutMs: number;
  readonly memoryMax: number;
}

/** The compilers in the `node_modules` of the program and of the folders above it. */
export function findCompilers(
  limits: CompilerLimits = { timeoutMs: TIMEOUT_MS, memoryMax: MEMORY_MAX },
  root: string = findPackageRoot(),
): Compilers {
  const folders = listCompilers(root);
  const versions = [...folders.keys()].sort(compareVersions).reverse();
  return {
    versions,
    async compile(asked, input, signal) {
      const wanted = /^v?(\d+\.\d+\.\d+)(?:\+commit\.([0-9a-f]{8}))?(?:\.\w+)*$/.exec(asked);
      const folder = folders.get(wanted?.[1] ?? '');
      if (wanted === null || folder === undefined) throw missing(asked, versions);
      const { version, output } = await runCompiler(folder, JSON.stringify(input), limits, signal);
      const short = /^\d+\.\d+\.\d+\+commit\.[0-9a-f]{8}/.exec(version)?.[0] ?? version;
      if (wanted[2] !== undefined && !short.endsWith(wanted[2])) throw missing(asked, [short]);
      return { version: short, output: JSON.parse(output) };
    },
  };
}

/**
 * The same compilers, with the last answers remembered: people try again with one word changed, and verify many contracts
 * out of one project.
 */
export function rememberCompilations(compilers: Compilers, max: number): Compilers {
  const answers = new LRUCache<string, CompilerAnswer>({ max });
  return {
    versions: compilers.versions,
    async compile(version, input, signal) {
      const key = createHash('sha256')
        .update(JSON.stringify([version, input]))
        .digest('hex');
      const known = answers.get(key);
      if (known !== undefined) return known;
      const answer = await compilers.compile(version, input, signal);
      answers.set(key, answer);
      return answer;
    },
  };
}

function missing(asked: string, versions: readonly string[]): AppError {
  const there = versions.length === 0 ? 'none' : versions.join(', ');
  const shown = asked.slice(0, 60);
  return new AppError(
    'bad_request',
    `the compiler solc ${shown} is not installed; installed: ${there} (npm install solc-<version>@npm:solc@<version> adds one)`,
  );
}

/** Folders by version. */
function listCompilers(root: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let folder = root; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    const names = existsSync(modules) ? readdirSync(modules) : [];
    for (const name of names.filter((each) => /^solc(?:-.+)?$/.test(each))) {
      const version = readVersion(join(modules, name));
      if (version !== null && !found.has(version)) found.set(version, join(modules, name));
    }
    if (dirname(folder) === folder) return found;
  }
}

function readVersion(folder: string): string | null {
  try {
    const parsed = packageShape.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    // Packages such as 0.8.23-fixed hold the same compiler.
    return parsed.success ? (/^\d+\.\d+\.\d+/.exec(parsed.data.version)?.[0] ?? null) : null;
  } catch {
    return null;
  }
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function runCompiler(
  folder: string,
  input: string,
  { timeoutMs, memoryMax }: CompilerLimits,
  signal: AbortSignal | undefined,
): Promise<{ readonly version: string; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', CHILD_SCRIPT, folder, String(memoryMax)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: {},
    });
    let said = '';
    let answer: unknown = null;
    let killed = '';
    const kill = (why: string): void => {
      killed ||= why;
      child.kill('SIGKILL');
    };
    const stop = (): void => kill('the compilation was stopped');
    const timer = setTimeout(() => kill(`the compiler took longer than ${timeoutMs / 1000} s`), timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-STDERR_MAX);
    });
    child.on('message', (message) => {
      answer = message;
    });
    child.on('error', (error) => {
      said = error.message;
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      const parsed = answerShape.safeParse(answer);
      if (parsed.success && 'output' in parsed.data) resolve(parsed.data);
      else if (killed !== '') reject(new AppError('bad_request', killed));
      else if (code === 4) reject(new AppError('bad_request', 'the compiler needed too much memory'));
      else {
        const why = parsed.success && 'failure' in parsed.data ? parsed.data.failure : said.trim();
        reject(new AppError('bad_request', `the compiler failed: ${why.slice(0, 300)}`));
      }
    });
    if (signal?.aborted === true) stop();
    // A child that died at once is told of by 'close'.
    else child.send(input, () => undefined);
  });
}
