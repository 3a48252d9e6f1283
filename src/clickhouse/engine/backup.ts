/** Runs ClickHouse's BACKUP and RESTORE of whole databases: destinations, progress, and readable errors. */
import { z } from 'zod';

import { AppError, errorText } from '../../errors';
import type { Database } from '../client/database';
import { selectMade, selectNamed } from '../client/namedQueries';
import { text, u64 } from '../rows/columns';
import { rowType, type RowOf } from '../rows/rowType';

/**
 * A backup destination in ClickHouse's syntax, such as `File('name')`, `Disk('backups', 'name')` or `S3('https://…',
 * …)`.
 */
export type Destination = string;

export interface BackedUp {
  readonly database: string;
  readonly name: string;
}

export interface BackupProgress {
  readonly files: number;
  /** Number of bytes written or restored so far. */
  readonly bytes: number;
}

const POLL_MS = 250;
/** Time in ms without an answer of ClickHouse after which the backup fails. */
const SILENCE_MAX_MS = 60_000;
const DESTINATION_PATTERN =
  /^(?:File|Disk|S3|AzureBlobStorage)\((?:\s*'(?:[^'\\]|\\.)*'\s*(?:,|(?=\))))+\)$/i;

/** Whether the text is a destination in ClickHouse syntax with quoted arguments. */
export function isDestination(text: string): boolean {
  return DESTINATION_PATTERN.test(text);
}

/** Makes `File('…')` from a name or path. */
export function fileDestination(path: string): Destination {
  return `File('${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}')`;
}

/** Returns the destination for display: without the arguments after the first, which may be keys. */
export function showDestination(destination: Destination): string {
  const [, engine = '', firstArgument = ''] = /^(\w+)\(\s*('(?:[^'\\]|\\.)*')/.exec(destination) ?? [];
  const shownPath = firstArgument.replace(/\/\/[^/@']*@/, '//');
  return /^disk$/i.test(engine)
    ? destination
    : `${engine}(${shownPath}${destination.includes(',') ? ', …' : ''})`;
}

/**
 * Writes the databases to the destination. Throws an error with ClickHouse's reason. `onProgress` is called
 * about four times a second.
 */
export async function writeBackup(
  database: Database,
  databases: readonly BackedUp[],
  destination: Destination,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupProgress> {
  const databaseList = databases
    .map((backedUp) => `DATABASE ${backedUp.database} AS ${backedUp.name}`)
    .join(', ');
  return runAndWait(database, `BACKUP ${databaseList} TO ${destination} ASYNC`, onProgress);
}

/** Restores databases from a backup under new names, which must not exist. */
export async function readBackup(
  database: Database,
  databases: readonly BackedUp[],
  destination: Destination,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupProgress> {
  const list = databases.map((each) => `DATABASE ${each.name} AS ${each.database}`).join(', ');
  return runAndWait(database, `RESTORE ${list} FROM ${destination} ASYNC`, onProgress);
}

/** Temporary name of a restored database, before it replaces `name`. */
export const restoredName = (name: string): string => `${name}_restored`;

/**
 * Drops `name` and renames the restored database to `name`. If the program crashes in between, `isRestoreWaiting`
 * returns true.
 */
export async function placeRestored(database: Database, name: string): Promise<void> {
  await database.command('drop database', `DROP DATABASE IF EXISTS ${name} SYNC`);
  await database.command('rename restored database', `RENAME DATABASE ${restoredName(name)} TO ${name}`);
}

/**
 * Whether a crash interrupted a restore after `name` was dropped: `name` has no tables, and a restored
 * database exists.
 */
export async function isRestoreWaiting(database: Database, name: string): Promise<boolean> {
  const params = { name, restored: restoredName(name) };
  const [row] = await selectNamed(database, 'backup/find_restored', params, restoreWaitsShape);
  return row?.waits === 1;
}

export async function isBackingUp(database: Database): Promise<boolean> {
  const [row] = await selectNamed(database, 'backup/count_backups', {}, runningRow);
  return (row?.running ?? 0) > 0;
}

// Read as JSON, because this query runs before the check of the server's version (see migrate.ts).
const restoreWaitsShape = z.object({ waits: z.int() });
const runningRow = rowType({ running: u64 });
// Read as JSON, because the answer of BACKUP and RESTORE also has a status, whose type depends on the version.
const startedShape = z.object({ id: z.string() });
const backupRow = rowType({ status: text, error: text, files: u64, bytes: u64 });
type BackupRow = RowOf<typeof backupRow>;

async function runAndWait(
  database: Database,
  sql: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupProgress> {
  const [startedBackup] = await selectMade(database, 'begin a backup', sql, {}, startedShape).catch(
    (error: unknown) => Promise.reject(toBackupError(errorText(error), error)),
  );
  if (startedBackup === undefined)
    throw new AppError('internal', 'ClickHouse returned no id for the backup or restore');
  let answeredAt = performance.now();
  for (;;) {
    const row = await readRow(database, startedBackup.id).catch((error: unknown) => {
      if (performance.now() - answeredAt > SILENCE_MAX_MS) throw error;
      return null;
    });
    if (row === undefined)
      throw new AppError('unavailable', 'ClickHouse was restarted before the end: run the command again');
    if (row !== null) {
      answeredAt = performance.now();
      const progress = { files: row.files, bytes: row.bytes };
      onProgress(progress);
      if (row.status === 'BACKUP_CREATED' || row.status === 'RESTORED') return progress;
      if (!/^(CREATING_BACKUP|RESTORING)$/.test(row.status)) throw toBackupError(row.error);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function readRow(database: Database, id: string): Promise<BackupRow | undefined> {
  const [row] = await selectNamed(database, 'backup/find_backup', { id }, backupRow);
  return row;
}

const REASON_MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/BACKUP_ALREADY_EXISTS|already exists/, 'a backup of this name already exists'],
  [/BACKUP_NOT_FOUND|not found/, 'the backup does not exist'],
  [
    /allowed_path|allowed_disk/,
    'the configuration of ClickHouse does not allow this place: see backups.allowed_path and backups.allowed_disk',
  ],
  [/NOT_ENOUGH_SPACE|No space left/, 'the disk is full'],
  [/ACCESS_DENIED|Not enough privileges/, 'the user of CLICKHOUSE_URL lacks the rights for this statement'],
];

/** Returns ClickHouse's reason without its stack trace, with an explanation if we have one. */
function toBackupError(reason: string, cause?: unknown): AppError {
  const [first = ''] = reason.replace(/, Stack trace.*$/s, '').split('\n');
  const shortReason = first.replace(/^.*?DB::Exception: /, '').replace(/^ClickHouse, [\w ]+: /, '');
  const meaning = REASON_MEANINGS.find(([pattern]) => pattern.test(reason))?.[1];
  return new AppError('bad_config', meaning === undefined ? shortReason : `${meaning} (${shortReason})`, {
    cause,
  });
}
