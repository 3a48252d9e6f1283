/** The rows that one block makes, table by table: what decoding hands to pricing and pricing to the store. */
import {
  EVENT_TABLE_NAMES,
  forEventTables,
  type EventRow,
  type EventTableName,
} from '../clickhouse/eventTables';
import type { LiquidityEventRow } from '../clickhouse/tables';
import type { BlockRef } from '../domain/block';
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';

/** A mint or burn as it is decoded: `others` is what it moved of tokens that its row does not name, raw, for who prices it. */
export type DecodedLiquidity = LiquidityEventRow & {
  readonly others?: readonly { readonly token: Hex; readonly amount: bigint }[];
};

type RowsByTable = { readonly [Name in EventTableName]: EventRow<Name>[] };

export interface BlockRows extends RowsByTable {
  readonly ref: BlockRef;
  readonly liquidity_events: DecodedLiquidity[];
}

export function emptyRows(ref: BlockRef): BlockRows {
  return { ref, ...forEventTables(() => []) };
}

export function noCounts(): Record<EventTableName, number> {
  return forEventTables(() => 0);
}

/** Rows by table over several blocks. */
export function countRows(all: readonly BlockRows[]): Record<EventTableName, number> {
  const counts = noCounts();
  for (const rows of all) for (const name of EVENT_TABLE_NAMES) counts[name] += rows[name].length;
  return counts;
}

/** Rows by table over blocks of which each was counted before. */
export function sumCounts(
  all: readonly (Readonly<Record<string, number>> | undefined)[],
): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    if (counts === undefined) throw new AppError('broken_invariant', 'a final block was never decoded');
    for (const [table, count] of Object.entries(counts)) sums[table] = (sums[table] ?? 0) + count;
  }
  return sums;
}
