/**
 * Runs a client like its users do: a separate process without a network, with a new HOME, because clients cache answers
 * there.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const GUARD = join(__dirname, 'loopbackOnly.cjs');
/** No server listens on this port, so requests through this proxy fail at once. */
const NOWHERE = 'http://127.0.0.1:9';

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ClientOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder of the client. By default an empty folder that is removed at the end. */
  readonly home?: string;
  readonly input?: string;
}

export async function runClient(
  command: string,
  args: readonly string[],
  options: ClientOptions,
): Promise<ClientRun> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'candlehouse-home-'));
  const child = spawn(command, args, {
    cwd: options.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      NO_COLOR: '1',
      NODE_DISABLE_COMPILE_CACHE: '1',
      NODE_OPTIONS: `--require=${GUARD}`,
      HTTP_PROXY: NOWHERE,
      HTTPS_PROXY: NOWHERE,
      NO_PROXY: '127.0.0.1,localhost',
      ...options.env,
    },
  });
  // A client that does not read its input closes the pipe. The error of the write is then ignored.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, stdout, stderr };
  } finally {
    if (options.home === undefined) rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Runs an ES module that imports the clients and calls `print` with its result. `given` is the module's input. Throws
 * with the module's output on failure.
 */
export async function runScript<T>(clients: string, script: string, given: unknown): Promise<T> {
  const text = `
    const given = ${JSON.stringify(given)};
    const print = (value) =>
      process.stdout.write('\\n<<<' + JSON.stringify(value) + '>>>\\n', () => process.exit(0));
    ${script}
  `;
  const args = ['--input-type=module', '-'];
  const { code, stdout, stderr } = await runClient(process.execPath, args, { cwd: clients, input: text });
  const [, found] = /<<<(.*)>>>/s.exec(stdout) ?? [];
  if (code !== 0 || found === undefined)
    throw new Error(`the client ended with ${code}: ${stdout}\n${stderr}`);
  return JSON.parse(found) as T;
}
