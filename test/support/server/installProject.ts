/**
 * Installs a package with its own lock file into .cache, once. Keeps heavy dependencies of a few tests and benchmarks out
 * of the main install. Safe for parallel processes. `npm ci` deletes node_modules, so the folder is beside it.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';
import { isRunning } from '../engine/embedded';
import { eventually } from '../eventually';

const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs the dependencies of `package.json` in `source`. Returns the folder that contains `node_modules`. `name`
 * appears in messages. `node` is the Node that runs npm: npm leaves out optional packages that need a newer Node.
 */
export async function installProject(source: string, name: string, node = process.execPath): Promise<string> {
  const cache = join(findPackageRoot(), '.cache');
  const lock = readFileSync(join(source, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(cache, `${name}-${digest}`);
  const claimFolder = `${folder}.claim`;
  mkdirSync(cache, { recursive: true });
  const isInstalled = async (): Promise<boolean> => {
    if (existsSync(folder)) return true;
    if (isTaken(claimFolder)) return false;
    try {
      if (!existsSync(folder)) await install(source, folder, name, node);
    } finally {
      rmSync(claimFolder, { force: true });
    }
    return true;
  };
  await eventually(
    isInstalled,
    (installed) => installed,
    () => `${name} is not installed; another process has ${claimFolder}`,
  );
  return folder;
}

/** Whether another process is installing. Otherwise claims the installation for this process. */
function isTaken(claim: string): boolean {
  try {
    writeFileSync(claim, String(process.pid), { flag: 'wx' });
    return false;
  } catch {
    return !takeOver(claim);
  }
}

/** Takes over the claim of a process that has died. */
function takeOver(claim: string): boolean {
  try {
    // A claim is empty while its process writes it.
    const owner = readFileSync(claim, 'utf8');
    if (owner === '' || isRunning(Number(owner))) return false;
    rmSync(claim, { force: true });
    writeFileSync(claim, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

async function install(source: string, folder: string, name: string, node: string): Promise<void> {
  const draftFolder = `${folder}.draft`;
  rmSync(draftFolder, { recursive: true, force: true });
  mkdirSync(draftFolder, { recursive: true });
  for (const file of FILES) copyFileSync(join(source, file), join(draftFolder, file));
  // No install scripts: the tests do not need their results.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const path = `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}`;
  const child = spawn(npm, args, {
    cwd: draftFolder,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`npm ci of ${name} exited with ${code}: ${output.slice(-2_000)}`);
  renameSync(draftFolder, folder);
}
