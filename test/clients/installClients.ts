/** Installs the clients by their own lock file, once, into node_modules/.cache; several test files may ask at once. */
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
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const HERE = __dirname;
const CACHE = join(HERE, '../../node_modules/.cache');
const FILES = ['package.json', 'package-lock.json'];
const INSTALL_MS = 600_000;
/** After which another one's unfinished folder is thought to be left over. */
const ABANDONED_MS = 620_000;

/** The folder whose `node_modules` has the clients. */
export async function installClients(): Promise<string> {
  const lock = readFileSync(join(HERE, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = join(CACHE, `candlehouse-clients-${digest}`);
  const claim = `${folder}.claim`;
  mkdirSync(CACHE, { recursive: true });
  for (const end = Date.now() + INSTALL_MS; !existsSync(folder); await delay(200)) {
    if (Date.now() > end) throw new Error(`the clients are not installed; remove ${claim} and try again`);
    if (isTaken(claim)) continue;
    try {
      if (!existsSync(folder)) await install(folder);
    } finally {
      rmSync(claim, { force: true });
    }
  }
  return folder;
}

/** Whether someone else installs; if not, we do from now on. */
function isTaken(claim: string): boolean {
  try {
    writeFileSync(claim, JSON.stringify({ pid: process.pid, at: Date.now() }), { flag: 'wx' });
    return false;
  } catch {
    return !takeOver(claim);
  }
}

/** Takes the claim of a process that is gone. */
function takeOver(claim: string): boolean {
  try {
    const { pid, at } = JSON.parse(readFileSync(claim, 'utf8')) as { pid: number; at: number };
    if (Date.now() - at < ABANDONED_MS && isAlive(pid)) return false;
    rmSync(claim, { force: true });
    writeFileSync(claim, JSON.stringify({ pid: process.pid, at: Date.now() }), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function install(folder: string): Promise<void> {
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  for (const file of FILES) copyFileSync(join(HERE, file), join(draft, file));
  // No scripts: what they build or fetch, no test needs.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, args, { cwd: draft, stdio: ['ignore', 'pipe', 'pipe'], timeout: INSTALL_MS });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`npm ci of the clients ended with ${code}: ${said.slice(-2_000)}`);
  renameSync(draft, folder);
}
