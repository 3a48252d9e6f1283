/**
 * The `verify` command: recomputes bars and aggregates from the stored events. The exit code is 1 if a stored value
 * differs.
 */
import { openDatabase, type Database } from '../../clickhouse/client/database';
import { createQueryRunner } from '../../clickhouse/client/namedQueries';
import type { Config } from '../../config';
import { AppError } from '../../errors';
import { readStoredState } from '../../ingest/store/storedState';
import { LogLedger, someLogsText } from '../../ingest/store/logLedger';
import { firstWholeDay, readFloors } from '../../ingest/store/retention';
import type { Logger } from '../../log';
import { verifyAggregates } from '../../query/verify/verifyAggregates';
import { openStorage } from '../storage';
import {
  HASH_BLOCKS,
  hashRanges,
  listDifferentTables,
  listWholeRanges,
  readRangeHashes,
} from '../../ingest/repair/rangeHash';

/** First or last block to verify; null means the first or last stored block. */
interface AskedRange {
  readonly from: number | null;
  readonly to: number | null;
}

interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Prints each difference. Resolves to exit code 0 without differences, otherwise to 1. @throws AppError
 * `bad_config` if no block of the requested range can be verified.
 */
export async function runVerify(config: Config, log: Logger, range: AskedRange): Promise<number> {
  if (range.from !== null && range.to !== null && range.from > range.to)
    throw new AppError(
      'bad_config',
      `--from ${range.from} is after --to ${range.to}; allowed: a block up to --to`,
    );
  const storage = await openStorage(config, log);
  const database = openDatabase({
    url: storage.url,
    distributed: config.clickhouseCluster !== null,
    requestTimeoutMs: 600_000,
  });
  try {
    const stored = await readStoredState(database, config.chainId);
    const isEmpty = stored === null || stored.cursor.number < stored.startBlock;
    if (isEmpty && hasBound(range))
      throw new AppError('bad_config', 'nothing to verify: no block is stored yet');
    if (isEmpty) {
      process.stdout.write('Nothing to verify: no block is stored yet.\n');
      return 0;
    }
    const finalTo = stored.cursor.number;
    const floors = await readFloors(database);
    const keptFrom = await firstWholeDay(database, config.chainId, Math.max(0, ...floors.values()));
    const { from, to } = cutRange(range, { from: stored.startBlock, to: finalTo }, keptFrom);
    const logs = new LogLedger(database);
    await logs.load();
    const logsFrom = logs.wholeFrom();
    if (logsFrom > from) process.stdout.write(someLogsText(logsFrom));
    const runner = createQueryRunner(database);
    const differences = await verifyAggregates(
      runner,
      {
        chainId: config.chainId,
        from,
        to,
        finalTo,
        wrappedNative: config.chain.wrappedNative,
        logsFrom,
        pruned: floors.has('swaps'),
      },
      (day, blocks) =>
        log.info(
          { day: new Date(day * 1000).toISOString().slice(0, 10), blocks },
          'verified the aggregates of one day',
        ),
    );
    for (const { item, only_in, value } of differences) {
      process.stdout.write(`DIFFERENT ${item}: only in ${only_in}: ${value}\n`);
    }
    process.stdout.write(
      differences.length === 0
        ? `Bars and aggregates agree with the stored events of ${from > to ? 'the days that were not pruned' : `final blocks ${from}-${to}`}.\n`
        : `${differences.length} differences in final blocks ${from}-${to}.\n`,
    );
    const sameHashes = await printRangeHashes(database, config.chainId, { from, to }, (line) =>
      process.stdout.write(line),
    );
    return differences.length === 0 && sameHashes ? 0 : 1;
  } finally {
    await database.close();
    await storage.close();
  }
}

function hasBound({ from, to }: AskedRange): boolean {
  return from !== null || to !== null;
}

/**
 * Returns the stored part of the requested range. The part may be empty only if no range was requested.
 * `keptFrom` is the first block whose rows were not pruned.
 */
function cutRange(range: AskedRange, stored: BlockRange, keptFrom: number): BlockRange {
  const from = Math.max(range.from ?? stored.from, stored.from);
  const to = Math.min(range.to ?? stored.to, stored.to);
  const storedText = `final blocks ${stored.from}-${stored.to} are stored`;
  if (from > to) throw new AppError('bad_config', `none of the requested blocks is stored: ${storedText}`);
  if (keptFrom > to && hasBound(range)) {
    const days =
      keptFrom > stored.to ? 'no complete day is left' : `complete days are left from block ${keptFrom} on`;
    throw new AppError('bad_config', `rows of the requested blocks were pruned: ${days}`);
  }
  const cutSpan = { from: Math.max(from, keptFrom), to };
  if ((range.from ?? cutSpan.from) < cutSpan.from || (range.to ?? to) > to)
    process.stdout.write(`Of the requested blocks, only ${cutSpan.from}-${cutSpan.to} can be verified.\n`);
  return cutSpan;
}

/**
 * Hashes the stored rows, and compares each hash with the hash that was stored when its range became final.
 * Returns true if all are equal.
 */
export async function printRangeHashes(
  database: Database,
  chainId: number,
  { from, to }: { readonly from: number; readonly to: number },
  print: (line: string) => void,
): Promise<boolean> {
  const ranges = listWholeRanges(from, to);
  const storedHashes = await readRangeHashes(database, chainId, ranges[0] ?? 0, ranges.at(-1) ?? 0);
  let areAllEqual = true;
  for await (const current of hashRanges(database, chainId, ranges)) {
    const stored = storedHashes.get(current.from);
    const tables = stored === undefined ? [] : listDifferentTables(stored, current);
    const isDifferent = stored !== undefined && stored.hash !== current.hash;
    if (isDifferent) areAllEqual = false;
    const range = `blocks ${current.from}-${current.from + HASH_BLOCKS - 1}`;
    const verdict = isDifferent
      ? `DIFFERENT in ${tables.join(', ')}: the recorded hash is ${stored.hash}`
      : stored === undefined
        ? 'the hash was not stored yet'
        : 'as recorded';
    print(`range hash of ${range}: ${current.hash}, ${current.rows} rows, ${verdict}\n`);
  }
  return areAllEqual;
}
