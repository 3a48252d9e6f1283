/**
 * `restore`: puts a backup in place. It is restored beside what is there and checked; only a whole one takes its place, so a
 * backup that is broken, or a restore that is broken off, harms nothing.
 */
import { readBackup, type BackedUp } from '../clickhouse/backup';
import { migrate } from '../clickhouse/migrate';
import type { Config } from '../config';
import { AppError, errorText } from '../errors';
import { checkWhole, describeContent } from '../ingest/snapshot';
import type { Logger } from '../log';
import { attach, type Attached } from './attach';
import { BACKUP_NAMES, describe, type CommandOutput } from './backup';
import { placeToRead, type BackupPlace } from './backupPlace';
import { lineProgress } from './lineProgress';
import { SECOND_CHAIN_ID } from './secondChain';

export interface RestoreOptions {
  /** Whether what is stored may be lost. */
  readonly replace: boolean;
}

export async function runRestore(
  config: Config,
  log: Logger,
  place: string,
  { replace }: RestoreOptions,
  output: CommandOutput = process.stdout,
): Promise<void> {
  const attached = await attach(config, log);
  try {
    if (attached.owner !== null) {
      throw new AppError(
        'bad_config',
        `process ${attached.owner} runs on ${config.dataDir}: stop it before restoring`,
      );
    }
    const targets = [
      { chainId: config.chainId, final: attached.name, name: BACKUP_NAMES.market },
      { chainId: SECOND_CHAIN_ID, final: `${attached.name}_${SECOND_CHAIN_ID}`, name: BACKUP_NAMES.second },
    ];
    if (!replace) for (const { final } of targets) await assertEmpty(attached, final);
    const read = await placeToRead(place, config.dataDir, attached.engineFolder);
    try {
      const restored = await restoreBeside(attached, targets, read);
      for (const { chainId, final, beside } of restored) {
        const database = attached.open(beside);
        await checkWhole(database, chainId);
        const content = await describeContent(database, chainId);
        await takePlace(attached, beside, final);
        await migrate(attached.open(final), log);
        output.write(`restored ${describe(chainId, content)}`);
      }
      output.write(`from ${read.shown}\n`);
    } finally {
      for (const { final } of targets) await drop(attached, besideOf(final));
      await read.cleanUp();
    }
  } finally {
    await attached.close();
  }
}

interface Target {
  readonly chainId: number;
  readonly final: string;
  readonly name: string;
}

interface Restored extends Target {
  readonly beside: string;
}

const besideOf = (name: string): string => `${name}_restoring`;

/** Throws `bad_config` that names a table with rows. The schema's own bookkeeping is no data. */
async function assertEmpty(attached: Attached, name: string): Promise<void> {
  const rows = await attached.open('system').select<{ name: string; rows: string }>(
    'find rows',
    `SELECT name, toString(total_rows) AS rows FROM system.tables
     WHERE database = {name:String} AND total_rows > 0 AND name NOT IN ('schema_migrations', 'operations')
     ORDER BY total_rows DESC LIMIT 1`,
    { name },
  );
  const [found] = rows;
  if (found === undefined) return;
  throw new AppError(
    'bad_config',
    `the database ${name} is not empty (${found.name} has ${found.rows} rows): --replace drops what it holds`,
  );
}

/** A backup of one chain has one database: then only that is restored. */
async function restoreBeside(
  attached: Attached,
  targets: readonly Target[],
  read: BackupPlace,
): Promise<Restored[]> {
  const system = attached.open('system');
  const wanted = targets.map((target) => ({ ...target, beside: besideOf(target.final) }));
  for (const { beside } of wanted) await drop(attached, beside);
  const run = async (some: readonly Restored[]): Promise<Restored[]> => {
    const progress = lineProgress('restored', null);
    const databases: BackedUp[] = some.map(({ beside, name }) => ({ database: beside, name }));
    await readBackup(system, databases, read.destination, progress.show);
    progress.end();
    return [...some];
  };
  try {
    return await run(wanted);
  } catch (error) {
    if (!new RegExp(`\\b${BACKUP_NAMES.second}\\b`).test(errorText(error))) throw error;
    for (const { beside } of wanted) await drop(attached, beside);
    return run(wanted.slice(0, 1));
  }
}

async function drop(attached: Attached, name: string): Promise<void> {
  await attached.open('system').command('drop database', `DROP DATABASE IF EXISTS ${name} SYNC`);
}

async function takePlace(attached: Attached, beside: string, final: string): Promise<void> {
  await drop(attached, final);
  await attached.open('system').command('put in place', `RENAME DATABASE ${beside} TO ${final}`);
}
