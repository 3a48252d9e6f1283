/**
 * Keeps the log counts of all contracts in memory, up to some minutes old, to rank search results. Exact counts of a
 * hundred contracts would take longer than the other parts of a search.
 */
import { steadyNow } from '../../domain/steadyTime';
import type { LogSource } from './logFilter';

/** If the counts are older than this time in ms, a search starts a new read in the background. */
const FRESH_MS = 600_000;
/** Number of contracts, 28 bytes each. Further contracts count as 0 logs. */
const CONTRACTS_MAX = 1_000_000;
const ADDRESS_BYTES = 20;
/** A row of count_by_emitter: address and count. */
const ROW_BYTES = 28;

export interface Counts {
  /** Number of final logs. */
  logsOf(address: string): number;
}

export interface LogCounts {
  /** Counts that are at most ten minutes old, if searches are frequent. Only the first call waits for
   * them. */
  read(): Promise<Counts>;
}

export function createLogCounts(source: LogSource, now: () => number = steadyNow): LogCounts {
  let known: { readonly at: number; readonly counts: Counts } | null = null;
  let counting: Promise<Counts> | null = null;
  const count = async (): Promise<Counts> => {
    const at = now();
    const counts = await readCounts(source);
    known = { at, counts };
    return counts;
  };
  const renew = (): Promise<Counts> => {
    counting ??= count().finally(() => (counting = null));
    return counting;
  };
  return {
    async read() {
      if (known === null) return renew();
      // After a failure, the next search tries again.
      if (now() - known.at > FRESH_MS) renew().catch(() => undefined);
      return known.counts;
    },
  };
}

async function readCounts({ runner, chainId }: LogSource): Promise<Counts> {
  const params = { chain_id: chainId, limit: CONTRACTS_MAX };
  const rows = await runner.write('logs/count_by_emitter', params, 'RowBinary');
  return { logsOf: (address) => findCount(rows, address.slice(2)) };
}

/**
 * Finds the count of an address (hex without 0x) in `rows`, which ascend by address. Uses a binary search by
 * the first four bytes, because one search looks up thousands of tokens.
 */
function findCount(rows: Buffer, address: string): number {
  const prefix = parseInt(address.slice(0, 8), 16);
  let [low, high] = [0, rows.length / ROW_BYTES];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows.readUInt32BE(middle * ROW_BYTES) >= prefix) high = middle;
    else low = middle + 1;
  }
  for (let at = low * ROW_BYTES; at < rows.length; at += ROW_BYTES) {
    if (rows.readUInt32BE(at) !== prefix) return 0;
    const end = at + ADDRESS_BYTES;
    if (rows.toString('hex', at, end) === address) return Number(rows.readBigUInt64LE(end));
  }
  return 0;
}
