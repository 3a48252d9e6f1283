/**
 * The prices of a stored bar. Its swaps with both prices (of a pair: quote and USD; of a token: USD and native) name their
 * first and last in one place, those with only the first of the two in another.
 */
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { BarPart } from './barParts';

/** `lastOrd`: of the swaps with both prices alone; 0: none. */
export type BarPrices = Pick<
  BarPart,
  'bucket' | 'openOrd' | 'open' | 'closeOrd' | 'close' | 'high' | 'low' | 'lastOrd'
>;

/**
 * Of the columns `bucket, first, last`, for the first of the two prices (`single`) those of the swaps that have only it,
 * and `high, low`.
 */
export function readPrices(row: RowReader, single: boolean): BarPrices {
  const bucket = row.u32();
  let openOrd = row.u64();
  let open = readOne(row, single);
  const lastOrd = row.u64();
  let closeOrd = lastOrd;
  let close = readOne(row, single);
  if (single) {
    const singleOpenOrd = row.u64();
    const singleOpen = row.f64();
    if (singleOpenOrd < openOrd) [openOrd, open] = [singleOpenOrd, singleOpen];
    const singleCloseOrd = row.u64();
    const singleClose = row.f64();
    if (singleCloseOrd > closeOrd) [closeOrd, close] = [singleCloseOrd, singleClose];
  }
  const high = row.f64();
  const low = row.f64();
  return { bucket, openOrd, open, closeOrd, close, high, low: low === Infinity ? 0 : low, lastOrd };
}

/** The first of two prices, or the second. */
function readOne(row: RowReader, first: boolean): number {
  const one = row.f64();
  const other = row.f64();
  return first ? one : other;
}
