/** `verify`: recomputes bars and aggregates from the stored events; the exit code says whether they agree. */
import { openDatabase } from '../clickhouse/database';
import { createQueryRunner } from '../clickhouse/namedQueries';
import type { Config } from '../config';
import { readStoredState } from '../ingest/storedState';
import { firstWholeDay, readFloors } from '../ingest/retention';
import type { Logger } from '../log';
import { verifyAggregates } from '../query/verifyAggregates';
import { openStorage } from './storage';
import { printAudit } from './verifyAudit';

/** Prints each difference; resolves to 0 when there is none, else 1. */
export async function runVerify(
  config: Config,
  log: Logger,
  range: { readonly from: number | null; readonly to: number | null },
): Promise<number> {
  const storage = await openStorage(config, log);
  const database = openDatabase({
    url: storage.server?.writerUrl ?? config.clickhouseUrl ?? '',
    distributed: config.clickhouseCluster !== null,
    requestTimeoutMs: 600_000,
  });
  try {
    const stored = await readStoredState(database, config.chainId);
    if (stored === null) {
      process.stdout.write('Nothing is stored yet: nothing to verify.\n');
      return 0;
    }
    const finalTo = stored.cursor.number;
    const floors = await readFloors(database);
    const kept = await firstWholeDay(database, config.chainId, Math.max(0, ...floors.values()));
    const from = Math.max(range.from ?? stored.startBlock, kept);
    const to = Math.min(range.to ?? finalTo, finalTo);
    const runner = createQueryRunner(database, { checkRows: true });
    const differences = await verifyAggregates(
      runner,
      {
        chainId: config.chainId,
        from,
        to,
        finalTo,
        wrappedNative: config.chain.wrappedNative,
        pruned: floors.has('swaps'),
      },
      (day, blocks) =>
        log.info({ day: new Date(day * 1000).toISOString().slice(0, 10), blocks }, 'verified a day'),
    );
    for (const { item, only_in, value } of differences) {
      process.stdout.write(`DIFFERENT ${item}: only in ${only_in}: ${value}\n`);
    }
    process.stdout.write(
      differences.length === 0
        ? `Bars and aggregates agree with the stored events of ${from > to ? 'the days that were not pruned' : `final blocks ${from}-${to}`}.\n`
        : `${differences.length} differences in final blocks ${from}-${to}.\n`,
    );
    const audited = await printAudit(database, config.chainId, { from, to }, (line) =>
      process.stdout.write(line),
    );
    return differences.length === 0 && audited ? 0 : 1;
  } finally {
    await database.close();
    await storage.close();
  }
}
