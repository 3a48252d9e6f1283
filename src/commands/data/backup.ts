/**
 * The `backup` command: copies all data that cannot be rebuilt, as of one moment, with ClickHouse's statement
 * BACKUP. A running ingester waits only while the files of all tables are hard-linked, not while they are
 * copied.
 */
import { systemClock } from '../../node/rpc/clock';
import { isBackingUp, writeBackup } from '../../clickhouse/engine/backup';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { nameRow } from '../../clickhouse/rows/rowType';
import { readSchema } from '../../clickhouse/schema/schema';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import { endPause } from '../../ingest/store/pause';
import {
  checkWhole,
  describeContent,
  dropClone,
  cloneTables,
  type Content,
} from '../../ingest/store/cloneTables';
import type { Logger } from '../../log';
import { attach, showBytes, type Attached } from '../attach';
import { placeToWrite } from './backupPlace';
import { lineProgress } from './lineProgress';
import { listChains, type ChainConfig } from '../chains';

/**
 * The name of a chain's database inside every backup. It does not depend on the name of the source database or on
 * CHAINS, so a backup of one chain can be restored as the first of several.
 */
export const backupName = ({ isFirst, chainId }: ChainConfig): string =>
  `candlehouse${isFirst ? '' : `_${chainId}`}`;

interface Taken {
  readonly chainId: number;
  readonly target: string;
  readonly name: string;
}

export interface CommandOutput {
  write(text: string): unknown;
}

export async function runBackup(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  place: string,
  output: CommandOutput = process.stdout,
): Promise<void> {
  const attached = await attach(config, log);
  try {
    if (!(await isIngested(attached, attached.name)))
      throw new AppError('bad_config', `nothing to back up: the database ${attached.name} has no blocks yet`);
    const system = attached.open('system');
    if (await isBackingUp(system))
      throw new AppError('unavailable', 'another backup is running: wait for its end');
    const backupTarget = await placeToWrite(place, config.dataDir, attached.engineFolder);
    const takenSources: Taken[] = [];
    try {
      for (const { source, ...each } of await listSources(attached, config)) {
        takenSources.push(each);
        const database = attached.open(source);
        for (const statement of operationsTable()) await database.command('create operations', statement);
        await cloneTables({ database, source, target: each.target, clock: systemClock(), log, signal });
      }
      const contents = await checkAll(attached, takenSources);
      const totalBytes = contents.reduce((sum, { bytes }) => sum + bytes, 0);
      const progress = lineProgress('backed up', totalBytes);
      const backupNames = takenSources.map(({ target, name }) => ({ database: target, name }));
      const { bytes } = await writeBackup(system, backupNames, backupTarget.destination, progress.show);
      progress.end();
      await backupTarget.finish();
      for (const [index, { chainId }] of takenSources.entries())
        output.write(describeChain(chainId, contents[index]));
      output.write(`${showBytes(bytes)} written to ${backupTarget.shown}\n`);
    } finally {
      for (const { target } of takenSources) await dropClone(system, target);
      await backupTarget.cleanUp();
    }
  } finally {
    await attached.close();
  }
}

/** The statement that creates the table `operations`, which a database of an older version may lack. */
function operationsTable(): string[] {
  return readSchema().filter((statement) => statement.startsWith('CREATE TABLE IF NOT EXISTS operations\n'));
}

async function isIngested(attached: Attached, name: string): Promise<boolean> {
  if (!(await attached.exists(name))) return false;
  const system = attached.open('system');
  const rows = await selectNamed(system, 'engine/find_promotions', { name }, nameRow);
  return rows.length > 0;
}

/** The databases of the chains that are ingested. */
async function listSources(
  attached: Attached,
  config: Config,
): Promise<(Taken & { readonly source: string })[]> {
  const sources: (Taken & { readonly source: string })[] = [];
  for (const chain of listChains(config)) {
    const source = attached.nameOf(chain);
    if (!(await isIngested(attached, source))) continue;
    const { chainId } = chain;
    sources.push({ source, target: `${source}_snapshot`, name: backupName(chain), chainId });
  }
  return sources;
}

async function checkAll(attached: Attached, takenSources: readonly Taken[]): Promise<Content[]> {
  const contents: Content[] = [];
  for (const { target, chainId } of takenSources) {
    const database = attached.open(target);
    await endPause(database);
    await checkWhole(database, chainId);
    contents.push(await describeContent(database, chainId));
  }
  return contents;
}

/** Describes the content of a backup in one line. */
export function describeChain(chainId: number, content: Content | undefined): string {
  return content === undefined
    ? ''
    : `chain ${chainId}: final blocks ${content.startBlock}-${content.finalTo}\n`;
}
