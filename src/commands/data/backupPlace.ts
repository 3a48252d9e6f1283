/**
 * Locations of backups. The embedded server can access only its own folder, so its backups are written there and then
 * moved, and linked or copied back to restore. An external server gets the destination unchanged.
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
  /** Text for people. */
  readonly shown: string;
  /** Moves the written backup to its final place. */
  finish(): Promise<void>;
  /** Removes temporary files, also after a failure. */
  cleanUp(): Promise<void>;
}

/** Folder below DATA_DIR, outside the server's folder, so backups survive its removal. */
const BACKUPS = 'backups';

/** Folder of an embedded server's backup. A plain name is below DATA_DIR/backups; anything else is a path. */
function backupFolder(place: string, dataDir: string): string {
  if (isDestination(place)) {
    throw new AppError(
      'bad_config',
      `got ${place.split('(')[0] ?? ''}(…), which needs CLICKHOUSE_URL; allowed for the embedded engine: a name or a folder`,
    );
  }
  return /^[\w.-]+$/.test(place) && !/^\.+$/.test(place) ? join(dataDir, BACKUPS, place) : resolve(place);
}

function atServer(place: string): BackupPlace {
  const given = isDestination(place);
  const destination = given ? place : fileDestination(place);
  const nothing = async (): Promise<void> => undefined;
  return { destination, shown: given ? showDestination(place) : place, finish: nothing, cleanUp: nothing };
}

/** Throws `bad_config` if the place exists already. */
export async function placeToWrite(
  place: string,
  dataDir: string,
  engineFolder: string | null,
): Promise<BackupPlace> {
  if (engineFolder === null) return atServer(place);
  const folder = backupFolder(place, dataDir);
  if (await isThere(folder))
    throw new AppError('bad_config', `${folder} already exists: choose another name or folder`);
  const name = `writing-${process.pid}`;
  const written = join(engineFolder, BACKUPS, name);
  await rm(written, { recursive: true, force: true });
  return {
    destination: fileDestination(name),
    shown: folder,
    finish: () => move(written, folder),
    cleanUp: () => rm(written, { recursive: true, force: true }),
  };
}

/** Throws `bad_config` if there is no backup. */
export async function placeToRead(
  place: string,
  dataDir: string,
  engineFolder: string | null,
): Promise<BackupPlace> {
  if (engineFolder === null) return atServer(place);
  const folder = backupFolder(place, dataDir);
  if (!(await isThere(join(folder, '.backup'))))
    throw new AppError('bad_config', `no backup found in ${folder}: the file .backup is missing`);
  const name = `reading-${process.pid}`;
  const brought = join(engineFolder, BACKUPS, name);
  await rm(brought, { recursive: true, force: true });
  await bring(folder, brought);
  return {
    destination: fileDestination(name),
    shown: folder,
    finish: async () => undefined,
    cleanUp: () => rm(brought, { recursive: true, force: true }),
  };
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await rename(from, to);
  } catch {
    // A failed rename usually means another file system; the copy reports any other cause. The partial name marks an
    // unfinished copy.
    const partial = `${to}.partial`;
    await rm(partial, { recursive: true, force: true });
    await cp(from, partial, { recursive: true, errorOnExist: true });
    await rename(partial, to);
  }
}

/** Links files where possible, otherwise copies them. */
async function bring(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await bring(source, target);
    else if (entry.isFile()) await link(source, target).catch(() => cp(source, target));
  }
}
