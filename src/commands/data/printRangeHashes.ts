/** Prints the range hash of each complete range of final blocks for `verify`, so that the operators of two
 * deployments can compare their data. */
import type { Database } from '../../clickhouse/client/database';
import {
  HASH_BLOCKS,
  hashRanges,
  listDifferentTables,
  listWholeRanges,
  readRangeHashes,
} from '../../ingest/repair/rangeHash';

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
  const noted = await readRangeHashes(database, chainId, ranges[0] ?? 0, ranges.at(-1) ?? 0);
  let areEqual = true;
  for await (const now of hashRanges(database, chainId, ranges)) {
    const notedHash = noted.get(now.from);
    const tables = notedHash === undefined ? [] : listDifferentTables(notedHash, now);
    const isDifferent = notedHash !== undefined && notedHash.hash !== now.hash;
    if (isDifferent) areEqual = false;
    const range = `blocks ${now.from}-${now.from + HASH_BLOCKS - 1}`;
    const word = isDifferent
      ? `DIFFERENT in ${tables.join(', ')}: the recorded hash is ${notedHash.hash}`
      : notedHash === undefined
        ? 'the hash was not stored yet'
        : 'as recorded';
    print(`range hash of ${range}: ${now.hash}, ${now.rows} rows, ${word}\n`);
  }
  return areEqual;
}
