/**
 * The folder of one development chain. Its process owns the folder; a later start removes folders whose
 * processes have ended.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { takeEngineLock, type EngineLock } from '../../clickhouse/engine/engineLock';
import { steadyNow } from '../../domain/time/steadyTime';
import type { Logger } from '../../log';
import { errorText } from '../../errors';

export interface DevFolder {
  /** Name of the folder: `dev-` and eight hex digits. */
  readonly id: string;
  readonly path: string;
  /** Records the chain's node. A later start waits for that node to end before it deletes the folder. */
  setNode(pid: number): void;
  /** Deletes the folder and its content, for at most `limitMs`. A later start deletes what is left. */
  remove(limitMs?: number): void;
}

const FOLDER_NAME = /^dev-[0-9a-f]{8}$/;
const OWNER_FILE = 'owner.json';

/** A folder younger than this, without an owner file, may still be in creation. */
const UNOWNED_AGE_MS = 60_000;
const NODE_END_MS = 2_000;
/**
 * Longest time in ms for the deletion at the end of the program, which must end within 10 s. A busy disk deletes 300 files a
 * second, and after five minutes the folder has 26,000.
 */
const REMOVE_MS = 4_000;

/** Creates `<dataDir>/dev-<id>` with a new id. This process owns the folder until it ends or calls `remove`. */
export async function makeDevFolder(dataDir: string): Promise<DevFolder> {
  const id = `dev-${randomBytes(4).toString('hex')}`;
  const path = join(dataDir, id);
  mkdirSync(path, { recursive: true });
  const lock: EngineLock = await takeEngineLock(join(path, OWNER_FILE), path, 0);
  const remove = (limitMs = REMOVE_MS): void => {
    const deadline = steadyNow() + limitMs;
    // The owner file goes last: it tells a later start that the owner has ended.
    const others = existsSync(path) ? readdirSync(path).filter((name) => name !== OWNER_FILE) : [];
    if (others.every((name) => removeUntil(join(path, name), deadline)))
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  return { id, path, setNode: (pid) => lock.setEngine(pid), remove };
}

/** Deletes a file, or a folder with its content. Stops at the deadline and returns false. */
function removeUntil(path: string, deadline: number): boolean {
  if (steadyNow() >= deadline) return false;
  // The data of ClickHouse has symbolic links to folders, which must not be followed.
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder && !readdirSync(path).every((name) => removeUntil(join(path, name), deadline))) return false;
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  return true;
}

/** Folders of development chains in a data folder, whether their chains run or not. */
export function listDevFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((name) => FOLDER_NAME.test(name))
    .map((name) => join(dataDir, name));
}

/** Deletes folders of development chains whose owners have ended. Logs a folder that cannot be deleted. */
export async function removeOldDevFolders(dataDir: string, log: Logger): Promise<void> {
  for (const path of listDevFolders(dataDir)) {
    const hasOwner = existsSync(join(path, OWNER_FILE));
    const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (!hasOwner && ageMs < UNOWNED_AGE_MS) continue;
    try {
      await takeEngineLock(join(path, OWNER_FILE), path, NODE_END_MS);
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      log.info({ folder: path }, 'deleted the data of an earlier development chain');
    } catch (error) {
      log.debug({ folder: path, reason: errorText(error) }, 'an earlier development chain is still in use');
    }
  }
}
