/**
 * Reads the prices of a stored bar. A bar has two kinds of prices: quote and USD for a pair, USD and native for a
 * token. Swaps with both kinds share one pair of columns `first` and `last`. Swaps with only the first kind have
 * their own columns.
 */
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { BarPart } from './barParts';

/** `lastOrd` is the position of the last swap with both prices; 0 if there is no such swap. */
type BarPrices = Pick<
  BarPart,
  'bucket' | 'openOrd' | 'open' | 'closeOrd' | 'close' | 'high' | 'low' | 'lastOrd'
>;

/**
 * Reads `bucket, first, last`, then the first and last of the swaps with one price (only for `single`), then `high,
 * low`. `single` selects the first of the two prices.
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

function readOne(row: RowReader, first: boolean): number {
  const one = row.f64();
  const other = row.f64();
  return first ? one : other;
}
