/**
 * The `backfill` command: stores final blocks up to a given block and ends. A repeated run continues after the stored
 * blocks.
 */
import type { Config } from '../config';
import { AppError } from '../errors';
import { readStoredState } from '../ingest/store/storedState';
import type { Logger } from '../log';
import { createIngester } from './ingest';
import { openStorage, type Storage } from './storage';

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Resolves when block `to` is stored. Starts at `from` in an empty database, otherwise after the last stored
 * block. @throws AppError `bad_config` if `from` is below the first stored block.
 */
export async function runBackfill(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  { from, to }: Span,
): Promise<void> {
  if (from > to)
    throw new AppError('bad_config', `--from ${from} is after --to ${to}; allowed: a block up to --to`);
  const ingester = createIngester({ ...config, startBlock: { kind: 'absolute', block: from } }, log);
  try {
    const storage = await openStorage(config, log);
    try {
      await compareWithStored(storage, config.chainId, { from, to });
      await ingester.run(storage, signal, { stopAt: to });
      log.info({ finalTo: ingester.status.finalTo, swaps: ingester.status.swaps }, 'backfill ended');
    } finally {
      await storage.close();
    }
  } finally {
    await ingester.close();
  }
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
    const between = `Blocks ${cursor.number + 1}-${from - 1} are ingested first`;
    process.stdout.write(`${between}, because a database cannot have gaps.\n`);
  }
}
