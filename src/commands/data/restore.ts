/**
 * The `restore` command: restores a backup into a separate database, checks it, and only then exchanges the
 * databases. A broken backup changes nothing, and a crash leaves either the old or the restored database.
 */
import { placeRestored, readBackup, restoredName, type BackedUp } from '../../clickhouse/engine/backup';
import { migrate } from '../../clickhouse/schema/migrate';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { text, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Config } from '../../config';
import { AppError, errorText } from '../../errors';
import { checkWhole, describeContent, type Content } from '../../ingest/store/cloneTables';
import type { Logger } from '../../log';
import { attach, type Attached } from '../attach';
import { backupName, describeChain, type CommandOutput } from './backup';
import { placeToRead, type BackupPlace } from './backupPlace';
import { lineProgress } from './lineProgress';
import { listChains } from '../chains';

interface RestoreOptions {
  /** Whether the restore may replace existing data. */
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
    if (attached.ownerPid !== null) {
      throw new AppError(
        'bad_config',
        `process ${attached.ownerPid} uses ${config.dataDir}: stop this process before the restore`,
      );
    }
    const targets = listChains(config).map((chain) => ({
      chainId: chain.chainId,
      final: attached.nameOf(chain),
      name: backupName(chain),
    }));
    if (!replace) for (const { final } of targets) await assertEmpty(attached, final);
    const backupPlace = await placeToRead(place, config.dataDir, attached.engineFolder);
    try {
      const system = attached.open('system');
      const restored = await restoreBeside(attached, targets, backupPlace);
      const contents = new Map<number, Content>();
      for (const { chainId, restoringDatabase } of restored) {
        const database = attached.open(restoringDatabase);
        await checkWhole(database, chainId);
        contents.set(chainId, await describeContent(database, chainId));
      }
      // The name restoredName marks a checked database: if a crash follows the drop of the old database, the next start
      // finishes the restore. So all databases are checked before the first rename, and have this name before the first
      // drop.
      for (const { final, restoringDatabase } of restored) {
        await drop(attached, restoredName(final));
        await system.command(
          'rename restored database',
          `RENAME DATABASE ${restoringDatabase} TO ${restoredName(final)}`,
        );
      }
      for (const { chainId, final } of restored) {
        await placeRestored(system, final);
        await migrate(attached.open(final), log);
        output.write(`restored ${describeChain(chainId, contents.get(chainId))}`);
      }
      output.write(`from ${backupPlace.shown}\n`);
    } finally {
      for (const { final } of targets) await drop(attached, restoringName(final));
      await backupPlace.cleanUp();
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
  /** Name of the database until it is checked. */
  readonly restoringDatabase: string;
}

const filledRow = rowType({ name: text, rows: u64 });

const restoringName = (name: string): string => `${name}_restoring`;

/** Throws `bad_config` naming the table if a table has rows. Tables about the schema itself are ignored. */
async function assertEmpty(attached: Attached, name: string): Promise<void> {
  const system = attached.open('system');
  const [filledTable] = await selectNamed(system, 'schema/find_filled_table', { name }, filledRow);
  if (filledTable === undefined) return;
  throw new AppError(
    'bad_config',
    `the database ${name} is not empty (${filledTable.name} has ${filledTable.rows} rows): add --replace to replace its data`,
  );
}

/** Restores the databases of the wanted chains that the backup contains. */
async function restoreBeside(
  attached: Attached,
  targets: readonly Target[],
  backupPlace: BackupPlace,
): Promise<Restored[]> {
  const system = attached.open('system');
  const toRestore = targets.map((target) => ({ ...target, restoringDatabase: restoringName(target.final) }));
  for (const { restoringDatabase } of toRestore) await drop(attached, restoringDatabase);
  for (;;) {
    const progress = lineProgress('restored', null);
    const databases: BackedUp[] = toRestore.map(({ restoringDatabase, name }) => ({
      database: restoringDatabase,
      name,
    }));
    try {
      await readBackup(system, databases, backupPlace.destination, progress.show);
      progress.end();
      return toRestore;
    } catch (error) {
      // The error names a database that the backup does not contain. A backup always has the first chain's.
      const text = errorText(error);
      const missingIndex = toRestore.findIndex(
        ({ name }, i) => i > 0 && new RegExp(`\\b${name}\\b`).test(text),
      );
      if (missingIndex < 0) throw error;
      for (const { restoringDatabase } of toRestore) await drop(attached, restoringDatabase);
      toRestore.splice(missingIndex, 1);
    }
  }
}

async function drop(attached: Attached, name: string): Promise<void> {
  await attached.open('system').command('drop database', `DROP DATABASE IF EXISTS ${name} SYNC`);
}
