/**
 * The rows of queries that return parts of bars. A stored bar has two kinds of prices: quote and USD for a pair, USD and
 * native for a token. Swaps with both kinds share one pair of columns `first` and `last`. Swaps with only the first kind
 * have their own columns.
 */
import { f64, u256, u32, u64, usd } from '../../clickhouse/rows/columns';
import { rowType, tuple, type RowOf } from '../../clickhouse/rows/rowType';
import type { BarPart } from './barParts';

/** `first` and `last` are (ord, price of the first kind, price of the second kind). */
export const storedColumns = {
  bucket: u32,
  first: tuple<[number, number, number]>(u64, f64, f64),
  last: tuple<[number, number, number]>(u64, f64, f64),
  volume_usd: usd,
  trades: u64,
  buys: u64,
  other_ord: u64,
};
/** The position (`ord`) and the price of a swap with only the first kind of price. */
export const singleEnd = tuple<[number, number]>(u64, f64);

const storedRow = rowType(storedColumns);

/** The first and the last swap with only the first kind of price. */
interface SingleEnds {
  readonly first: readonly [ord: number, price: number];
  readonly last: readonly [ord: number, price: number];
}

/**
 * The bar of a stored row. `singleEnds` has the ends for prices of the first kind; it is null for prices of the second
 * kind, which no single swap has.
 */
export function storedPart(
  { bucket, first, last, volume_usd, trades, buys, other_ord }: RowOf<typeof storedRow>,
  { volume0, volume1, untracked }: Pick<BarPart, 'volume0' | 'volume1' | 'untracked'>,
  high: number,
  low: number,
  singleEnds: SingleEnds | null,
): BarPart {
  const [firstOrd, ...firstPrices] = first;
  const [lastOrd, ...lastPrices] = last;
  // Index of the price of the wanted kind.
  const kind = singleEnds === null ? 1 : 0;
  const [singleFirstOrd, singleFirstPrice] = singleEnds?.first ?? [Infinity, 0];
  const [singleLastOrd, singleLastPrice] = singleEnds?.last ?? [-Infinity, 0];
  const isOpenSingle = singleFirstOrd < firstOrd;
  const isCloseSingle = singleLastOrd > lastOrd;
  return {
    bucket,
    openOrd: isOpenSingle ? singleFirstOrd : firstOrd,
    open: isOpenSingle ? singleFirstPrice : firstPrices[kind],
    closeOrd: isCloseSingle ? singleLastOrd : lastOrd,
    close: isCloseSingle ? singleLastPrice : lastPrices[kind],
    high,
    low: low === Infinity ? 0 : low,
    volume0,
    volume1,
    volumeUsd: volume_usd,
    trades,
    untracked,
    buys,
    lastOrd: Math.max(lastOrd, other_ord),
  };
}

/** A part of a token's bar that a query makes of swaps. */
export const swapPartRow = rowType({
  bucket: u32,
  open_ord: u64,
  open: f64,
  close_ord: u64,
  close: f64,
  high: f64,
  low: f64,
  volume: u256,
  volume_usd: usd,
  trades: u64,
  untracked: u64,
  buys: u64,
  last_ord: u64,
});

/** The amounts of the bar's token stand in the fields of token0. */
export function swapPart(row: RowOf<typeof swapPartRow>): BarPart {
  return {
    bucket: row.bucket,
    openOrd: row.open_ord,
    open: row.open,
    closeOrd: row.close_ord,
    close: row.close,
    high: row.high,
    low: row.low,
    volume0: row.volume,
    volume1: 0n,
    volumeUsd: row.volume_usd,
    trades: row.trades,
    untracked: row.untracked,
    buys: row.buys,
    lastOrd: row.last_ord,
  };
}

/** The open time of a bar. */
export const bucketRow = rowType({ bucket: u32 });
