/**
 * Runs one compilation in a child process, with limits on processor time, clock time, memory and answer size. The
 * child runs at the lowest priority and ends with this process.
 */
import { spawn } from 'node:child_process';

import { z } from 'zod';

import { AppError } from '../../errors';

export interface CompilerLimits {
  /** Limit of processor time, in whole seconds. */
  readonly cpuSeconds: number;
  /** Limit of clock time in ms, to stop a compiler that hangs. The limit is long, because a busy machine
   * gives a low-priority process little time. */
  readonly clockMs: number;
  /** Limit of memory, in bytes. */
  readonly memoryMax: number;
  /** Size limit of the output without warnings, in bytes. */
  readonly answerMax: number;
  /** Niceness of the process, 0 to 19. */
  readonly niceness: number;
}

export const COMPILER_LIMITS: CompilerLimits = {
  cpuSeconds: 30,
  clockMs: 600_000,
  memoryMax: 2 ** 30,
  answerMax: 8 * 2 ** 20,
  niceness: 19,
};

const STDERR_MAX = 2_000;
const REASON_MAX = 300;
const EXIT_PARENT_GONE = 3;
const EXIT_MEMORY = 4;

/**
 * Arguments: niceness, seconds, KiB of memory, then the command. `ulimit -d` limits every private writable page, so
 * on Linux it covers both JavaScript and WebAssembly. macOS ignores `ulimit -d`. There, only the child's own check
 * limits memory.
 */
const LAUNCHER = `
niceness=$1; ulimit -S -t "$2"; ulimit -S -d "$3" 2>/dev/null; shift 3
exec nice -n "$niceness" "$@"
`;

/**
 * One thread compiles, the other watches memory and the parent process. Arguments: compiler, bytes of memory, bytes of
 * the answer. The compiler is a soljson file, or an npm package with one. Without callbacks, the compiler finds only the
 * given sources. `cwrap` of Emscripten makes a function of C callable by its C name; the module has the function under this
 * name after an underscore. Of each two names in `bind`, the first is that of newer compilers.
 */
const CHILD_SCRIPT = `
const { Worker } = require('node:worker_threads');
const [folder, memoryMax, answerMax] = process.argv.slice(1);
process.on('disconnect', () => process.exit(${EXIT_PARENT_GONE}));
setInterval(() => { if (process.memoryUsage.rss() > Number(memoryMax)) process.exit(${EXIT_MEMORY}); }, 20);
process.once('message', (input) => {
  const worker = new Worker(\`
    const { parentPort, workerData } = require('node:worker_threads');
    const { existsSync } = require('node:fs');
    const { folder } = workerData;
    const file = folder.endsWith('.js') ? folder : folder + '/soljson.js';
    const load = () => {
      const soljson = require(file);
      const bind = (names, types) => soljson.cwrap(names.find((name) => ('_' + name) in soljson), 'string', types);
      const compile = bind(['solidity_compile', 'compileStandard'], ['string', 'number', 'number']);
      const version = bind(['solidity_version', 'version'], []);
      return { version, compile: (input) => compile(input, 0, 0) };
    };
    const solc = existsSync(file) ? load() : require(folder);
    const { errors = [], contracts } = JSON.parse(solc.compile(workerData.input));
    const failed = errors.filter(({ severity }) => severity === 'error').slice(0, 1);
    const output = JSON.stringify({ errors: failed, contracts });
    parentPort.postMessage(output.length > workerData.answerMax
      ? { failure: 'its answer has more than ' + workerData.answerMax + ' characters' }
      : { version: solc.version(), output });
  \`, { eval: true, workerData: { folder, input, answerMax: Number(answerMax) } });
  const answer = (message) => process.send(message, () => process.exit(0));
  worker.on('error', (error) => answer({ failure: String(error && error.message || error).slice(0, ${STDERR_MAX}) }));
  worker.on('message', answer);
});
`;

const answerShape = z.union([
  z.object({ version: z.string(), output: z.string() }),
  z.object({ failure: z.string() }),
]);

interface RawCompilerAnswer {
  readonly version: string;
  /** The first error and the contracts of the compiler's output, as JSON text. */
  readonly output: string;
}

/**
 * Compiles a standard JSON input with the compiler in `folder`, which is a package or a soljson file.
 * @throws AppError `bad_request` for a compilation that fails or exceeds a limit, `unavailable` for a compilation that
 * was stopped or that a busy machine did not finish
 */
export function runCompiler(
  folder: string,
  input: string,
  limits: CompilerLimits,
  signal: AbortSignal | undefined,
): Promise<RawCompilerAnswer> {
  const { niceness, cpuSeconds, memoryMax, answerMax, clockMs } = limits;
  const bounds = [niceness, cpuSeconds, Math.ceil(memoryMax / 1_024)].map(String);
  const command = [process.execPath, '-e', CHILD_SCRIPT, folder, String(memoryMax), String(answerMax)];
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', LAUNCHER, 'sh', ...bounds, ...command], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { PATH: '/usr/bin:/bin' },
    });
    let stderrText = '';
    let answer: unknown = null;
    let killed = '';
    const kill = (why: string): void => {
      killed ||= why;
      child.kill('SIGKILL');
    };
    const stop = (): void => kill('the compilation was stopped');
    const timer = setTimeout(() => kill(`the compiler did not end within ${clockMs / 1_000} s`), clockMs);
    signal?.addEventListener('abort', stop, { once: true });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderrText = (stderrText + chunk.toString()).slice(-STDERR_MAX);
    });
    child.on('message', (message) => {
      answer = message;
    });
    let startError: Error | null = null;
    child.on('error', (error) => {
      startError = error;
    });
    child.on('close', (code, ending) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      const parsed = answerShape.safeParse(answer);
      if (parsed.success && 'output' in parsed.data) resolve(parsed.data);
      else if (killed !== '') reject(new AppError('unavailable', killed));
      else if (startError !== null)
        reject(
          new AppError('unavailable', 'the compiler process could not be started', { cause: startError }),
        );
      else {
        const text = parsed.success && 'failure' in parsed.data ? parsed.data.failure : stderrText.trim();
        reject(new AppError('bad_request', reasonOf({ code, ending, text }, limits)));
      }
    });
    if (signal?.aborted === true) stop();
    // `send` fails if the child has already ended. The 'close' event reports that end.
    else child.send(input, () => undefined);
  });
}

interface Ending {
  readonly code: number | null;
  readonly ending: NodeJS.Signals | null;
  readonly text: string;
}

/** Signals that end a runtime when the kernel refuses memory. */
const CRASHES: ReadonlySet<string> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS']);
const OUT_OF_MEMORY = /out of memory|OOM|allocation failed|bad_alloc|cannot enlarge memory|memory\.grow/i;

function reasonOf({ code, ending, text }: Ending, { cpuSeconds, memoryMax }: CompilerLimits): string {
  if (ending === 'SIGXCPU') return `the compiler exceeded ${cpuSeconds} s of processor time`;
  const crashed = ending !== null && CRASHES.has(ending);
  if (code === EXIT_MEMORY || crashed || OUT_OF_MEMORY.test(text))
    return `the compiler exceeded its memory limit of ${Math.floor(memoryMax / 2 ** 20)} MiB`;
  return `the compiler failed: ${text.slice(0, REASON_MAX)}`;
}
