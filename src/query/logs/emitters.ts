/**
 * Counts the logs of contracts, from the aggregates that each part of the table logs keeps (projection by_contract).
 */
import type { QueryParams } from '../../clickhouse/client/database';
import { address, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from './logFilter';

export interface Emitted {
  readonly logs: number;
  readonly firstOrd: number;
  readonly lastOrd: number;
}

const emitterRow = rowType({ address, logs: u64, first_ord: u64, last_ord: u64 });

/**
 * Counts at the snapshot. During a backfill they may include a batch of newer blocks. Contracts without logs
 * are missing. At most 1,000 different addresses.
 */
export async function readEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, Emitted>> {
  const rows = await source.runner.run(
    'logs/list_emitters',
    emitterParams(source, head, addresses),
    emitterRow,
  );
  return new Map(
    rows.map((row) => [row.address, { logs: row.logs, firstOrd: row.first_ord, lastOrd: row.last_ord }]),
  );
}

/** Like readEmitted, but summed over all addresses; null without logs. */
export async function sumEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Emitted | null> {
  const countsByAddress = await readEmitted(source, head, addresses);
  return [...countsByAddress.values()].reduce<Emitted | null>(addCounts, null);
}

function emitterParams({ chainId }: LogSource, head: HeadSnapshot, addresses: readonly Hex[]): QueryParams {
  const [firstAddress] = addresses;
  // A single address has its own parameter, because ClickHouse reads one key faster than a set of one key.
  const singleAddress = addresses.length === 1 && firstAddress !== undefined ? firstAddress.slice(2) : '';
  return {
    ...snapshotParams(head),
    chain_id: chainId,
    address: singleAddress,
    addresses: singleAddress === '' ? addresses.map((address) => address.slice(2)) : [],
    limit: addresses.length,
  };
}

function addCounts(sum: Emitted | null, { logs, firstOrd, lastOrd }: Emitted): Emitted {
  if (sum === null) return { logs, firstOrd, lastOrd };
  return {
    logs: sum.logs + logs,
    firstOrd: Math.min(sum.firstOrd, firstOrd),
    lastOrd: Math.max(sum.lastOrd, lastOrd),
  };
}
