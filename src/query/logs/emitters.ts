/**
 * Counts the logs of contracts, from the aggregates that each part of the table logs keeps (projection by_contract).
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { Hex } from '../../domain/hex';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { LogSource } from './logFilter';

export interface Emitted {
  readonly logs: number;
  readonly firstOrd: number;
  readonly lastOrd: number;
}

interface EmitterRow extends Emitted {
  readonly address: Hex;
}

/**
 * Counts at the snapshot. During a backfill they may include a batch of newer blocks. Contracts without logs
 * are missing. At most 1,000 different addresses.
 */
export async function readEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, Emitted>> {
  const rows = await source.runner.read('logs/list_emitters', paramsOf(source, head, addresses), readRow);
  return new Map(rows.map(({ address, ...emitted }) => [address, emitted]));
}

/** Like readEmitted, but summed over all addresses; null without logs. */
export async function sumEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Emitted | null> {
  const emitted = await readEmitted(source, head, addresses);
  return [...emitted.values()].reduce<Emitted | null>(plus, null);
}

function paramsOf({ chainId }: LogSource, head: HeadSnapshot, addresses: readonly Hex[]): QueryParams {
  const [only] = addresses;
  // A single address has its own parameter, because ClickHouse reads one key faster than a set of one key.
  const address = addresses.length === 1 && only !== undefined ? only.slice(2) : '';
  return {
    ...snapshotParams(head),
    chain_id: chainId,
    address,
    addresses: address === '' ? addresses.map((each) => each.slice(2)) : [],
    limit: addresses.length,
  };
}

function readRow(row: RowReader): EmitterRow {
  return { address: row.hex0x(20), logs: row.u64(), firstOrd: row.u64(), lastOrd: row.u64() };
}

function plus(sum: Emitted | null, { logs, firstOrd, lastOrd }: Emitted): Emitted {
  if (sum === null) return { logs, firstOrd, lastOrd };
  return {
    logs: sum.logs + logs,
    firstOrd: Math.min(sum.firstOrd, firstOrd),
    lastOrd: Math.max(sum.lastOrd, lastOrd),
  };
}
