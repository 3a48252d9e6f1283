/**
 * Lock file in an engine's folder. It names the process that uses the folder and its engine, so that a second
 * start can say which process uses the folder. The engine's own file lock prevents two engines on the same
 * data.
 */
import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../../domain/time/steadyTime';
import { AppError } from '../../errors';

interface ProcessIdentity {
  readonly pid: number;
  /** Start time of the process, which distinguishes two processes that had the same pid at different
   * times. */
  readonly startedAt: string;
}

interface LockContent {
  readonly owner: ProcessIdentity;
  /** Null until the engine has started. */
  readonly engine: ProcessIdentity | null;
}

export interface EngineLock {
  /**
   * Writes the engine's pid into the lock. If this process dies, the next process waits until that engine
   * ends.
   */
  setEngine(pid: number): void;
  release(): void;
}

const POLL_MS = 50;

/** Time in ms for which a killed process may still appear in the process list. */
const OWNER_GRACE_MS = 1_000;
const TAKE_OVER_ATTEMPTS = 10;

/**
 * Takes the lock. If the owner is dead, waits at most `waitMs` until its engine ends. Throws `bad_config` with folder
 * and pid if a live process owns the lock. Throws `unavailable` if the dead owner's engine does not end.
 */
export async function takeEngineLock(file: string, folder: string, waitMs: number): Promise<EngineLock> {
  const owner = identify(process.pid);
  if (owner === null) throw new AppError('internal', `cannot read the start time of process ${process.pid}`);
  const ownContent: LockContent = { owner, engine: null };
  const temporary = `${file}.${process.pid}`;
  for (let attempt = 0; attempt < TAKE_OVER_ATTEMPTS; attempt++) {
    writeFileSync(temporary, JSON.stringify(ownContent), { mode: 0o600 });
    const isTaken = tryLink(temporary, file);
    rmSync(temporary, { force: true });
    if (isTaken) return heldLock(file, ownContent);
    const otherLock = readLock(file);
    if (otherLock !== null) {
      if (!(await isGoneWithin(otherLock.owner, OWNER_GRACE_MS)))
        throw lockHeldError(folder, otherLock.owner.pid);
      if (otherLock.engine !== null) await waitUntilGone(otherLock.engine, folder, waitMs);
    }
    setAside(file, otherLock);
  }
  throw new AppError(
    'unavailable',
    `could not take the lock ${file} in ${TAKE_OVER_ATTEMPTS} attempts: another process took it each time`,
  );
}

function lockHeldError(folder: string, pid: number): AppError {
  return new AppError(
    'bad_config',
    `the database in ${folder} is in use by process ${pid}: stop this process, or set DATA_DIR to another folder`,
  );
}

function heldLock(file: string, ownContent: LockContent): EngineLock {
  let content = ownContent;
  const isOurs = (): boolean => {
    const currentLock = readLock(file);
    return currentLock !== null && isSame(currentLock.owner, ownContent.owner);
  };
  return {
    setEngine: (pid) => {
      content = { ...content, engine: identify(pid) };
      if (!isOurs()) return;
      const temporary = `${file}.${process.pid}`;
      writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 });
      renameSync(temporary, file);
    },
    release: () => {
      if (isOurs()) rmSync(file, { force: true });
    },
  };
}

/**
 * Removes the lock of a dead process. If another process has replaced the lock meanwhile, puts the new lock
 * back.
 */
function setAside(file: string, seenLock: LockContent | null): void {
  const movedFile = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, movedFile);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const movedLock = readLock(movedFile);
  if (movedLock !== null && (seenLock === null || !isSame(movedLock.owner, seenLock.owner)))
    tryLink(movedFile, file);
  rmSync(movedFile, { force: true });
}

/** Creates `file` atomically. Returns false if the file exists. */
function tryLink(source: string, file: string): boolean {
  try {
    linkSync(source, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function waitUntilGone(engine: ProcessIdentity, folder: string, waitMs: number): Promise<void> {
  if (await isGoneWithin(engine, waitMs)) return;
  throw new AppError(
    'unavailable',
    `the previous ClickHouse of ${folder}, process ${engine.pid}, has not ended within ${waitMs} ms`,
  );
}

async function isGoneWithin(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  const deadline = steadyNow() + waitMs;
  while (isAlive(identity)) {
    if (steadyNow() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** The lock's content. Null if the file is missing or damaged. */
function readLock(file: string): LockContent | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null || !('owner' in parsed)) return null;
    const owner = readIdentity(parsed.owner);
    if (owner === null) return null;
    return { owner, engine: 'engine' in parsed ? readIdentity(parsed.engine) : null };
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

function readIdentity(value: unknown): ProcessIdentity | null {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('startedAt' in value))
    return null;
  const { pid, startedAt } = value;
  return typeof pid === 'number' && typeof startedAt === 'string' ? { pid, startedAt } : null;
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt;
}

function isAlive(wanted: ProcessIdentity): boolean {
  const runningIdentity = identify(wanted.pid);
  return runningIdentity !== null && isSame(runningIdentity, wanted);
}

/**
 * Returns a running process with its start time; null if there is none with this pid. A zombie counts as
 * ended.
 */
function identify(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startElsewhere(pid);
  return startedAt === null ? null : { pid, startedAt };
}

/** The start time is made of the boot id and the start tick from /proc; see proc(5), field 22 of stat. */
function startOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 of stat, the process name, is in parentheses and may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    if (state === 'Z' || state === 'X') return null;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${bootId}:${fields[19] ?? ''}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return null;
    throw error;
  }
}

function startElsewhere(pid: number): string | null {
  try {
    const [state = 'Z', ...startTimeParts] = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
    })
      .trim()
      .split(/\s+/);
    return state.startsWith('Z') ? null : startTimeParts.join(' ');
  } catch {
    return null;
  }
}

function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
