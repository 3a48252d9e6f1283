/**
 * The one folder that a test run puts temporary files in, and the check that its tests left nothing there: no file, and no
 * process that was started with a path in the folder.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Short: the paths of Unix sockets below it have at most 107 bytes. */
const FOLDER_PREFIX = 'candlehouse-test-';
/** Linux mounts a file system in memory here. */
const MEMORY_FOLDER = '/dev/shm';
const GIB = 2 ** 30;
/** More than a run needs: its files take less than 1 GiB, and its programs a few. */
const MEMORY_FOLDER_MIN = 8 * GIB;
const MEMORY_MIN = 12 * GIB;
/** Folders of dead runs younger than this stay, in case someone looks into them. */
const LEFTOVER_AGE_MS = 600_000;
/** Engines of killed programs end by themselves within this time. */
const PROCESS_GRACE_MS = 30_000;

/** The engine that all test files share. */
export const ENGINE_FOLDER = 'engine';

/** Creates the folder and makes it the temporary folder of this process and of all that it starts. */
export function createRunFolder(): string {
  const parent = chooseParent();
  removeFoldersOfDeadRuns(parent);
  const folder = mkdtempSync(join(parent, `${FOLDER_PREFIX}${process.pid}-`));
  process.env['TMPDIR'] = folder;
  return folder;
}

/**
 * In memory where there is plenty of it, unless TMPDIR names another place. Engines create and remove files all the time: four test
 * files took 72 s of processor time in memory and 99 s on ext4.
 */
function chooseParent(): string {
  if (process.env['TMPDIR'] !== undefined || !existsSync(MEMORY_FOLDER)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  const isRoomy = bavail * bsize >= MEMORY_FOLDER_MIN && availableMemory() >= MEMORY_MIN;
  return isRoomy ? MEMORY_FOLDER : tmpdir();
}

/** Bytes that Linux says can be had without swapping; 0 where it does not say. */
function availableMemory(): number {
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kibibytes ?? 0) * 1_024;
}

/** Ends the processes and removes the files that the tests left. Returns a line for each, empty when there are none. */
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

/** For a run that is stopped in the middle: kills all that it started, Jest's workers too, and removes its files. */
export function abandonRunFolder(folder: string): void {
  for (const { pid } of listProcesses(folder, true)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  // A killed process may hold its files for a moment.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

interface ProcessFacts {
  readonly pid: number;
  readonly command: string;
}

/** Processes whose command line or environment names the folder. Empty where there is no /proc. */
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

/** Removes the folders of runs that were killed; their processes have ended with them. */
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
    // A process of another user is alive too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
