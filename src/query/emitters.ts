/** How much contracts emitted, from the sums that each part of the table of logs keeps of its own. */
import type { QueryParams } from '../clickhouse/database';
import type { RowReader } from '../clickhouse/rowReader';
import type { Hex } from '../domain/hex';
import { lastOrdOfBlock } from '../domain/ord';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import type { LogSource } from './logFilter';

export interface Emitted {
  readonly logs: number;
  readonly firstOrd: number;
  readonly lastOrd: number;
}

interface EmitterRow extends Emitted {
  readonly address: Hex;
  /** Or of the head. */
  readonly isFinal: boolean;
}

/** As of the snapshot; who emitted nothing is missing. At most 1,000 different addresses. */
export async function readEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Map<Hex, Emitted>> {
  const params = paramsOf(source, head, addresses);
  const rows = await source.runner.read('explorer/list_emitters', params, readRow);
  const finalOrd = lastOrdOfBlock(head.finalTo);
  const ahead = new Set(
    rows.flatMap(({ address, isFinal, lastOrd }) => (isFinal && lastOrd > finalOrd ? [address] : [])),
  );
  const exact = rows.filter(({ address }) => !ahead.has(address));
  if (ahead.size === 0) return sumUp(exact);
  const again = { ...params, address: '', addresses: bareOf([...ahead]) };
  return sumUp([...exact, ...(await source.runner.read('explorer/recount_emitters', again, readRow))]);
}

/** All of them together, maybe with a few logs beyond the snapshot; null: they emitted nothing. At most 1,000 different addresses. */
export async function estimateEmitted(
  source: LogSource,
  head: HeadSnapshot,
  addresses: readonly Hex[],
): Promise<Emitted | null> {
  const rows = await source.runner.read('explorer/list_emitters', paramsOf(source, head, addresses), readRow);
  return rows.reduce<Emitted | null>(plus, null);
}

function paramsOf({ chainId }: LogSource, head: HeadSnapshot, addresses: readonly Hex[]): QueryParams {
  const [only] = addresses;
  // One address is found by its key without making a set of it first.
  const address = addresses.length === 1 && only !== undefined ? only.slice(2) : '';
  return {
    ...snapshotParams(head),
    chain_id: chainId,
    address,
    addresses: address === '' ? bareOf(addresses) : [],
    limit: addresses.length,
  };
}

const bareOf = (addresses: readonly Hex[]): string[] => addresses.map((address) => address.slice(2));

function readRow(row: RowReader): EmitterRow {
  return {
    address: row.hex0x(20),
    isFinal: row.bool(),
    logs: row.u64(),
    firstOrd: row.u64(),
    lastOrd: row.u64(),
  };
}

function sumUp(rows: readonly EmitterRow[]): Map<Hex, Emitted> {
  const sums = new Map<Hex, Emitted>();
  for (const row of rows) sums.set(row.address, plus(sums.get(row.address) ?? null, row));
  return sums;
}

function plus(sum: Emitted | null, { logs, firstOrd, lastOrd }: Emitted): Emitted {
  if (sum === null) return { logs, firstOrd, lastOrd };
  return {
    logs: sum.logs + logs,
    firstOrd: Math.min(sum.firstOrd, firstOrd),
    lastOrd: Math.max(sum.lastOrd, lastOrd),
  };
}
