/**
 * The `backfill` command: stores final blocks up to a given block and ends. A repeated run continues after the stored
 * blocks. With `--parquet`, blocks come from files where files cover them.
 */
import type { Config } from '../config';
import { AppError } from '../errors';
import { readStoredState } from '../ingest/store/storedState';
import type { Logger } from '../log';
import { openParquet, type OpenBlocks } from './backfillFiles';
import { openService } from './backfillService';
import { openWorkers, runWorker } from './backfillWorkers';
import { openSnapshot } from './snapshot/openSnapshot';
import { createIngester, type Ingester } from './ingest';
import { openStorage, type Storage } from './storage';

interface Span {
  readonly from: number;
  readonly to: number;
}

export interface BackfillOptions {
  /** First and last block. May be absent with files: then the files decide. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Patterns of Parquet files. */
  readonly parquet?: readonly string[] | undefined;
  /** Folder, bucket or URL of a snapshot. Not with `parquet`. */
  readonly snapshot?: string | undefined;
  /** URL of a service. Not with `parquet`. */
  readonly source?: string | undefined;
  /** Number of worker processes to start. Not with `parquet` or `source`. */
  readonly workers?: number | undefined;
  /** Whether to stage blocks as one worker, for a backfill that runs elsewhere. */
  readonly worker?: boolean | undefined;
  /** Imports the package of the service's client. */
  readonly loadPackage?: ((name: string) => Promise<unknown>) | undefined;
}

/**
 * Resolves when block `to` is stored. Starts at `from` in an empty database, otherwise after the last stored
 * block. @throws AppError `bad_config` if `from` is below the first stored block.
 */
export async function runBackfill(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  options: BackfillOptions,
): Promise<void> {
  const { from, to, parquet, snapshot, source, workers, loadPackage } = options;
  if (from !== undefined && to !== undefined && from > to)
    throw new AppError('bad_config', `--from ${from} is after --to ${to}; allowed: a block up to --to`);
  checkTogether(options);
  const context = { config, log, signal };
  if (parquet !== undefined)
    return fillFrom(context, from, (storage) =>
      openParquet({ ...context, patterns: parquet }, storage, { from, to }),
    );
  if (snapshot !== undefined)
    return fillFrom(context, from, (storage) =>
      openSnapshot({ ...context, root: snapshot }, storage, { from, to }),
    );
  if (from === undefined || to === undefined)
    throw new AppError('bad_config', '--from and --to are needed; only with --parquet they may be left out');
  if (options.worker === true) return runWorker(context, { from, to });
  if (workers !== undefined)
    return fillFrom(context, from, (storage) => openWorkers({ ...context, workers }, storage, { from, to }));
  if (source !== undefined)
    return fillFrom(context, from, () => openService({ ...context, url: source, loadPackage }, { from, to }));
  return withIngester(config, log, from, (ingester) =>
    withStorage(config, log, async (storage) => {
      await compareWithStored(storage, config.chainId, { from, to });
      await fill(ingester, storage, log, signal, { to });
    }),
  );
}

/** At most one option says where the blocks come from. */
function checkTogether({ parquet, source, workers, worker }: BackfillOptions): void {
  const givenOptions = [
    ...(parquet === undefined ? [] : ['--parquet']),
    ...(source === undefined ? [] : ['--source']),
    ...(workers === undefined ? [] : ['--workers']),
    ...(worker === true ? ['--worker'] : []),
  ];
  if (givenOptions.length > 1)
    throw new AppError(
      'bad_config',
      `${givenOptions.join(' and ')} do not fit together; allowed: one of them`,
    );
}

interface BackfillContext {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Fills the database with blocks from files or from a service, which `open` opens. */
async function fillFrom(
  { config, log, signal }: BackfillContext,
  from: number | undefined,
  open: (storage: Storage) => Promise<OpenBlocks>,
): Promise<void> {
  await withStorage(config, log, async (storage) => {
    const blocks = await open(storage);
    try {
      await withIngester(config, log, blocks.from, async (ingester) => {
        const firstBlock = from ?? (await firstStored(storage, config.chainId)) ?? blocks.from;
        await compareWithStored(storage, config.chainId, { from: firstBlock, to: blocks.to });
        await fill(ingester, storage, log, signal, { to: blocks.to, blocks });
        if (!signal.aborted) await blocks.compare?.(storage);
      });
    } finally {
      await blocks.close();
    }
  }).catch((error: unknown) => {
    // A signal that comes while the source is opened ends the command like one that comes later.
    if (!signal.aborted) throw error;
  });
}

async function fill(
  ingester: Ingester,
  storage: Storage,
  log: Logger,
  signal: AbortSignal,
  { to, blocks }: { readonly to: number; readonly blocks?: OpenBlocks },
): Promise<void> {
  const sourceOptions = blocks === undefined ? {} : { wrapSource: blocks.wrapSource };
  await ingester.run(storage, signal, { stopAt: to, ...sourceOptions });
  log.info({ finalTo: ingester.status.finalTo, swaps: ingester.status.swaps }, 'backfill ended');
}

async function withIngester(
  config: Config,
  log: Logger,
  from: number,
  run: (ingester: Ingester) => Promise<void>,
): Promise<void> {
  const ingester = createIngester({ ...config, startBlock: { kind: 'absolute', block: from } }, log);
  try {
    await run(ingester);
  } finally {
    await ingester.close();
  }
}

async function withStorage(
  config: Config,
  log: Logger,
  run: (storage: Storage) => Promise<void>,
): Promise<void> {
  const storage = await openStorage(config, log);
  try {
    await run(storage);
  } finally {
    await storage.close();
  }
}

async function firstStored(storage: Storage, chainId: number): Promise<number | null> {
  return (await readStoredState(storage.writer, chainId))?.startBlock ?? null;
}

/**
 * Compares the requested range with the stored blocks, which have one start and no gaps. Throws or warns if
 * the range does not fit.
 */
async function compareWithStored(storage: Storage, chainId: number, { from, to }: Span): Promise<void> {
  const stored = await readStoredState(storage.writer, chainId);
  if (stored === null) return;
  const { startBlock, cursor } = stored;
  // Block 0 has no transactions, so starting at block 1 loses nothing.
  if (Math.max(1, from) < startBlock) {
    throw new AppError(
      'bad_config',
      `--from ${from}: the first block of this database is ${startBlock}. ` +
        'For earlier blocks, set DATA_DIR or CLICKHOUSE_URL to another database.',
    );
  }
  if (to <= cursor.number) {
    process.stdout.write(`Nothing to do: blocks ${startBlock}-${cursor.number} are already stored.\n`);
  } else if (from > cursor.number + 1) {
    const gapText = `Blocks ${cursor.number + 1}-${from - 1} are ingested first`;
    process.stdout.write(`${gapText}, because a database cannot have gaps.\n`);
  }
}
