/**
 * How many logs contracts emitted, as of some minutes ago, for lists that are sorted by it and show no count: of a hundred
 * contracts the exact numbers lie all over the table's parts, which took longer than everything else that a search does.
 */
import type { Hex } from '../domain/hex';
import { steadyNow } from '../domain/steadyTime';
import { readEmitted } from './emitters';
import type { HeadSnapshot } from './headSnapshot';
import type { LogSource } from './logFilter';
import { findRow, type SortedRows } from './sortedRows';

/** Counts that are older are read again, by whoever asks next and does not wait for it. */
const FRESH_MS = 600_000;
/** 44 bytes each. Others are taken to have emitted nothing. */
const CONTRACTS_MAX = 1_000_000;
const ADDRESS_BYTES = 20;
const ROW_BYTES = 44;

interface Counted {
  /** As count_by_emitter has them. */
  readonly rows: SortedRows;
  readonly at: number;
}

export interface LogCounts {
  /** In the order asked; 0: none. Exact as of the snapshot until all were counted for the first time. At most 1,000. */
  list(source: LogSource, head: HeadSnapshot, addresses: readonly Hex[]): Promise<number[]>;
}

export function createLogCounts(now: () => number = steadyNow): LogCounts {
  const counted = new Map<number, Counted>();
  const underWay = new Set<number>();
  const count = async ({ runner, chainId }: LogSource): Promise<void> => {
    if (underWay.has(chainId)) return;
    underWay.add(chainId);
    try {
      const at = now();
      const params = { chain_id: chainId, limit: CONTRACTS_MAX };
      const bytes = await runner.write('explorer/count_by_emitter', params, 'RowBinary');
      counted.set(chainId, { rows: { bytes, rowBytes: ROW_BYTES }, at });
    } finally {
      underWay.delete(chainId);
    }
  };
  const newest = (source: LogSource): SortedRows | null => {
    const known = counted.get(source.chainId);
    // Whoever asks next tries again.
    if (known === undefined || now() - known.at > FRESH_MS) count(source).catch(() => undefined);
    return known?.rows ?? null;
  };
  return {
    async list(source, head, addresses) {
      const rows = newest(source);
      if (rows !== null) return addresses.map((address) => countOf(rows, address));
      const emitted = await readEmitted(source, head, addresses);
      return addresses.map((address) => emitted.get(address)?.logs ?? 0);
    },
  };
}

function countOf(rows: SortedRows, address: Hex): number {
  const at = findRow(rows, Buffer.from(address.slice(2), 'hex'));
  return at === null ? 0 : Number(rows.bytes.readBigUInt64LE(at + ADDRESS_BYTES));
}
