/** `backfill`: stores final blocks up to a given one and ends. Resumable: what is stored already is not fetched again. */
import type { Config } from '../config';
import { AppError } from '../errors';
import type { Logger } from '../log';
import { createIngester } from './ingest';
import { openStorage } from './storage';

/** Ends when block `to` is stored. On an empty database it starts at `from`; else it goes on from the cursor. */
export async function runBackfill(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  if (from > to) throw new AppError('bad_config', `--from ${from} lies after --to ${to}`);
  const ingester = createIngester({ ...config, startBlock: { kind: 'absolute', block: from } }, log);
  try {
    const storage = await openStorage(config, log);
    try {
      await ingester.run(storage, signal, to);
      log.info({ finalTo: ingester.status.finalTo, swaps: ingester.status.swaps }, 'backfill ended');
    } finally {
      await storage.close();
    }
  } finally {
    await ingester.close();
  }
}
