/** `npm start` and its child: signals reach the program, and the program ends when npm ends. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { isRunning } from '../../support/engine/embedded';
import { eventually, until } from '../../support/eventually';

const root = findPackageRoot();
/** A script that replaces the program. It stops like the program, and prints its own process id and its
 * parent's. */
const PROGRAM = `
const { stopOnSignals, untilAborted } = require(${JSON.stringify(join(root, 'dist', 'src', 'commands', 'stopSignal.js'))});
const alive = setInterval(() => undefined, 1000);
untilAborted(stopOnSignals()).then(() => { clearInterval(alive); console.log('drained'); });
const { RPC_URL = '', LOG_LEVEL = '' } = process.env;
console.log(JSON.stringify([process.argv[2], RPC_URL, LOG_LEVEL].join(' ')));
console.log(JSON.stringify({ pid: process.pid, bootstrap: process.ppid }));
`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'npm-start-'));
  for (const name of ['src', 'dist', 'node_modules']) mkdirSync(join(folder, name));
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(root, name), join(folder, name));
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  writeFileSync(join(folder, 'node_modules', '.candlehouse-lock'), lock);
  writeFileSync(join(folder, 'dist', 'main.js'), PROGRAM);
  // The file gets a time newer than every source file, as after a build, so that no build starts.
  const later = Date.now() / 1_000 + 60;
  utimesSync(join(folder, 'dist', 'main.js'), later, later);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly npm: ChildProcess;
  readonly pid: number;
  readonly bootstrap: number;
  readonly ended: Promise<number | null>;
  output(): string;
}

async function start(settings: Readonly<Record<string, string>> = {}): Promise<Started> {
  const env = { ...process.env, ...settings };
  const npm = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => npm.once('exit', (code) => resolve(code)));
  const found = await eventually(
    () => /^\{"pid":(\d+),"bootstrap":(\d+)\}$/m.exec(output),
    (match) => match !== null || npm.exitCode !== null,
    () => output,
  );
  if (found === null) throw new Error(`npm start did not start a program:\n${output}`);
  return { npm, pid: Number(found[1]), bootstrap: Number(found[2]), ended, output: () => output };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the program shuts down cleanly and exits with 0 when npm receives %s',
  async (signal) => {
    const { npm, pid, bootstrap, ended, output } = await start();
    npm.kill(signal);
    expect(await ended).toBe(0);
    expect(output()).toMatch(/^drained$/m);
    await until(() => !isRunning(pid) && !isRunning(bootstrap));
  },
);

test('the program ends when npm is killed', async () => {
  const { npm, pid, bootstrap } = await start();
  npm.kill('SIGKILL');
  await until(() => !isRunning(pid) && !isRunning(bootstrap));
});

test('the program ends when the script started by npm is killed', async () => {
  const { pid, bootstrap, ended } = await start();
  process.kill(bootstrap, 'SIGKILL');
  await until(() => !isRunning(pid));
  expect(await ended).not.toBe(0);
});

test('npm start reads .env beside package.json, and a variable of the environment wins over the file', async () => {
  const path = join(folder, '.env');
  writeFileSync(path, 'RPC_URL=http://127.0.0.1:1\nLOG_LEVEL=warn\n');
  try {
    const real = await start({ LOG_LEVEL: 'error' });
    real.npm.kill('SIGTERM');
    expect(await real.ended).toBe(0);
    expect(real.output()).toContain('"all http://127.0.0.1:1 error"');
    const development = await start({ RPC_URL: '', LOG_LEVEL: 'error' });
    development.npm.kill('SIGTERM');
    expect(await development.ended).toBe(0);
    expect(development.output()).toContain('"dev  error"');
  } finally {
    rmSync(path);
  }
});
