/**
 * Handles the places of backups. The embedded server can access only its own folder. So a backup is written
 * into this folder and then moved to its place; for a restore, it is linked or copied into this folder. An
 * external server gets the place unchanged.
 */
import { cp, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import {
  fileDestination,
  isDestination,
  showDestination,
  type Destination,
} from '../../clickhouse/engine/backup';
import { AppError } from '../../errors';

export interface BackupPlace {
  readonly destination: Destination;
  /** The place as text for people. */
  readonly shown: string;
  /** Moves the finished backup to its final place. */
  finish(): Promise<void>;
  /** Removes temporary files. Also called after a failure. */
  cleanUp(): Promise<void>;
}

/** Folder for backups below DATA_DIR. It is outside the server's folder, so backups survive the removal of
 * that folder. */
const BACKUPS = 'backups';

/** Folder of a backup of the embedded server. A plain name is a folder below DATA_DIR/backups; any other text
 * is a path. */
function backupFolder(place: string, dataDir: string): string {
  if (isDestination(place)) {
    throw new AppError(
      'bad_config',
      `got ${place.split('(')[0] ?? ''}(…), which needs CLICKHOUSE_URL; allowed for the embedded engine: a name or a folder`,
    );
  }
  return /^[\w.-]+$/.test(place) && !/^\.+$/.test(place) ? join(dataDir, BACKUPS, place) : resolve(place);
}

function serverPlace(place: string): BackupPlace {
  const isGivenDestination = isDestination(place);
  const destination = isGivenDestination ? place : fileDestination(place);
  const doNothing = async (): Promise<void> => undefined;
  return {
    destination,
    shown: isGivenDestination ? showDestination(place) : place,
    finish: doNothing,
    cleanUp: doNothing,
  };
}

/** Throws `bad_config` if the place exists already. */
export async function placeToWrite(
  place: string,
  dataDir: string,
  engineFolder: string | null,
): Promise<BackupPlace> {
  if (engineFolder === null) return serverPlace(place);
  const folder = backupFolder(place, dataDir);
  if (await doesExist(folder))
    throw new AppError('bad_config', `${folder} already exists: choose another name or folder`);
  const name = `writing-${process.pid}`;
  const writtenFolder = join(engineFolder, BACKUPS, name);
  await rm(writtenFolder, { recursive: true, force: true });
  return {
    destination: fileDestination(name),
    shown: folder,
    finish: () => move(writtenFolder, folder),
    cleanUp: () => rm(writtenFolder, { recursive: true, force: true }),
  };
}

/** Throws `bad_config` if the folder has no backup. */
export async function placeToRead(
  place: string,
  dataDir: string,
  engineFolder: string | null,
): Promise<BackupPlace> {
  if (engineFolder === null) return serverPlace(place);
  const folder = backupFolder(place, dataDir);
  if (!(await doesExist(join(folder, '.backup'))))
    throw new AppError('bad_config', `no backup found in ${folder}: the file .backup is missing`);
  const name = `reading-${process.pid}`;
  const readFolder = join(engineFolder, BACKUPS, name);
  await rm(readFolder, { recursive: true, force: true });
  await linkOrCopy(folder, readFolder);
  return {
    destination: fileDestination(name),
    shown: folder,
    finish: async () => undefined,
    cleanUp: () => rm(readFolder, { recursive: true, force: true }),
  };
}

async function doesExist(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await rename(from, to);
  } catch {
    // If a rename fails, the target is usually on another file system, so the files are copied. The name
    // `.partial` marks an unfinished copy.
    const partialCopy = `${to}.partial`;
    await rm(partialCopy, { recursive: true, force: true });
    await cp(from, partialCopy, { recursive: true, errorOnExist: true });
    await rename(partialCopy, to);
  }
}

/** Links files where possible, and copies them otherwise. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkOrCopy(source, target);
    else if (entry.isFile()) await link(source, target).catch(() => cp(source, target));
  }
}
