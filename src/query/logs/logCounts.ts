/**
 * Counts the logs of all contracts as of a snapshot, to rank search results. The counts of final blocks stay in memory
 * until the next range of blocks is final. So the rank depends on the indexed block alone, not on the time.
 */
import { LRUCache } from 'lru-cache';

import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from './logFilter';

/** Snapshots whose counts are kept: the newest one, and one that a slower request still uses. */
const SNAPSHOTS_KEPT = 2;
/** Number of contracts, 28 bytes each. Further contracts count as 0 logs. */
const CONTRACTS_MAX = 1_000_000;
const ADDRESS_BYTES = 20;
/** Size of a row in bytes: a contract's address of 20 bytes, and its count of logs. */
const ROW_BYTES = 28;

export interface Counts {
  /** Number of logs up to the snapshot's head. */
  logsOf(address: string): number;
}

type CountedHead = Pick<HeadSnapshot, 'version' | 'finalTo' | 'blocks'>;

export interface LogCounts {
  at(head: CountedHead): Promise<Counts>;
}

export function createLogCounts({ runner, chainId }: LogSource): LogCounts {
  const keptCounts = new LRUCache<string, Promise<Buffer>>({ max: 2 * SNAPSHOTS_KEPT });
  /** Parallel calls share one read. After a failure, the next call reads again. */
  const readCounts = (queryName: string, headKey: string, head: CountedHead): Promise<Buffer> => {
    const cached = keptCounts.get(`${queryName} ${headKey}`);
    if (cached !== undefined) return cached;
    const params = { ...snapshotParams(head), chain_id: chainId, limit: CONTRACTS_MAX };
    const rows = runner.write(queryName, params, 'RowBinary');
    keptCounts.set(`${queryName} ${headKey}`, rows);
    rows.catch(() => keptCounts.delete(`${queryName} ${headKey}`));
    return rows;
  };
  return {
    async at(head) {
      const [finalCounts, headCounts] = await Promise.all([
        readCounts('logs/count_by_emitter', String(head.finalTo), head),
        head.blocks.length === 0
          ? Buffer.alloc(0)
          : readCounts('logs/count_head_by_emitter', `${head.finalTo} ${head.version}`, head),
      ]);
      return {
        logsOf: (address) =>
          findCount(finalCounts, address.slice(2)) + findCount(headCounts, address.slice(2)),
      };
    },
  };
}

/**
 * Finds the count of an address (hex without 0x) in `rows`, which ascend by address. Uses a binary search by
 * the first four bytes, because one search looks up thousands of tokens.
 */
function findCount(rows: Buffer, address: string): number {
  const prefix = parseInt(address.slice(0, 8), 16);
  let [lowRow, highRow] = [0, rows.length / ROW_BYTES];
  while (lowRow < highRow) {
    const middleRow = (lowRow + highRow) >>> 1;
    if (rows.readUInt32BE(middleRow * ROW_BYTES) >= prefix) highRow = middleRow;
    else lowRow = middleRow + 1;
  }
  for (let rowStart = lowRow * ROW_BYTES; rowStart < rows.length; rowStart += ROW_BYTES) {
    if (rows.readUInt32BE(rowStart) !== prefix) return 0;
    const addressEnd = rowStart + ADDRESS_BYTES;
    if (rows.toString('hex', rowStart, addressEnd) === address)
      return Number(rows.readBigUInt64LE(addressEnd));
  }
  return 0;
}
