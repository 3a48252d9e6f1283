/**
 * Where a stored bar begins and ends. Its swaps with both prices (of a pair: quote and USD; of a token: USD and native)
 * say so in one place, those with only the first of the two in another.
 */
import type { RowReader } from '../clickhouse/rowReader';

export interface BarEnds {
  /** ord of the first swap with the asked price; meaningless while `open` is 0. */
  readonly openOrd: number;
  /** 0: none. */
  readonly open: number;
  readonly closeOrd: number;
  readonly close: number;
  /** Largest ord among the swaps with both prices; 0: none. */
  readonly lastOrd: number;
}

/** Of the columns `first, last` and, for the first price (`single`), of those of swaps that have only it. */
export function readEnds(row: RowReader, single: boolean): BarEnds {
  const openOrd = row.u64();
  const open = readPrice(row, single);
  const lastOrd = row.u64();
  const close = readPrice(row, single);
  if (!single) return { openOrd, open, closeOrd: lastOrd, close, lastOrd };
  const singleOpenOrd = row.u64();
  const singleOpen = row.f64();
  const singleCloseOrd = row.u64();
  const singleClose = row.f64();
  const opensSingle = singleOpenOrd < openOrd;
  const closesSingle = singleCloseOrd > lastOrd;
  return {
    openOrd: opensSingle ? singleOpenOrd : openOrd,
    open: opensSingle ? singleOpen : open,
    closeOrd: closesSingle ? singleCloseOrd : lastOrd,
    close: closesSingle ? singleClose : close,
    lastOrd,
  };
}

/** The first of two, or the second. */
function readPrice(row: RowReader, first: boolean): number {
  const prices = [row.f64(), row.f64()] as const;
  return first ? prices[0] : prices[1];
}
