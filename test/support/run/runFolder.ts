/**
 * Creates the temporary folder of a test run and checks that tests leave nothing there. Leftovers are files, and
 * processes whose command line or environment names the folder.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The path is short, because a Unix socket path has at most 107 bytes. */
const FOLDER_PREFIX = 'candlehouse-test-';
/** Linux mounts a file system in memory here. */
const MEMORY_FOLDER = '/dev/shm';
const GIB = 2 ** 30;
/** Memory that must be free, more than a run needs: files of less than 1 GiB, and a few GiB for programs. */
const MEMORY_FOLDER_MIN = 8 * GIB;
const MEMORY_MIN = 12 * GIB;
/** Folders of dead runs stay for this time, so that a developer can inspect them. */
const LEFTOVER_AGE_MS = 600_000;
/** Engines of killed programs end by themselves within this time. */
const PROCESS_GRACE_MS = 30_000;

/** The engine that all test files share. */
export const ENGINE_FOLDER = 'engine';

/** Creates the folder and makes it the temporary folder of this process and its children. */
export function createRunFolder(): string {
  const parent = chooseParent();
  removeFoldersOfDeadRuns(parent);
  const folder = mkdtempSync(join(parent, `${FOLDER_PREFIX}${process.pid}-`));
  process.env['TMPDIR'] = folder;
  return folder;
}

/**
 * Uses memory when enough is available, unless TMPDIR is set. Engines create and remove files all the time: four test
 * files took 72 s of processor time in memory and 99 s on ext4.
 */
function chooseParent(): string {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY_FOLDER)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  const isRoomy = bavail * bsize >= MEMORY_FOLDER_MIN && availableMemory() >= MEMORY_MIN;
  return isRoomy ? MEMORY_FOLDER : tmpdir();
}

/** Bytes that Linux reports as available without swapping; 0 if unknown. */
function availableMemory(): number {
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kibibytes ?? 0) * 1_024;
}

/** Ends processes and removes files that tests left. Returns one line for each. */
export async function clearRunFolder(folder: string): Promise<string[]> {
  const files = readdirSync(folder).filter((name) => name !== ENGINE_FOLDER);
  const end = Date.now() + PROCESS_GRACE_MS;
  let processes = listProcesses(folder);
  while (processes.length > 0 && Date.now() < end) {
    await delay(100);
    processes = listProcesses(folder);
  }
  for (const { pid } of processes) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
  return [
    ...files.map((name) => `a test left the file ${name}`),
    ...processes.map(({ pid, command }) => `a test left the process ${pid}: ${command.slice(0, 300)}`),
  ];
}

/** Kills all processes of an interrupted run, Jest's workers included, and removes its files. */
export function abandonRunFolder(folder: string): void {
  for (const { pid } of listProcesses(folder, true)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended since the list of processes was read.
    }
  }
  // A killed process may hold its files for a moment.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

interface ProcessFacts {
  readonly pid: number;
  readonly command: string;
}

/** Processes whose command line or environment names the folder. Empty on systems without /proc. */
function listProcesses(folder: string, withWorkers = false): ProcessFacts[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    const command = readProc(pid, 'cmdline');
    const isOurs = command !== '' && (command.includes(folder) || readProc(pid, 'environ').includes(folder));
    return isOurs && (withWorkers || !isWorker(pid, command))
      ? [{ pid, command: command.replaceAll('\0', ' ') }]
      : [];
  });
}

/** Jest's own worker processes end after the teardown. */
const isWorker = (pid: number, command: string): boolean =>
  command.includes('jest-worker') && readProc(pid, 'status').includes(`\nPPid:\t${process.pid}\n`);

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Removes the folders of killed runs whose processes have all ended. */
function removeFoldersOfDeadRuns(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(parent, name);
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LEFTOVER_AGE_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
