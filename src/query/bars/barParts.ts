/**
 * Merges the parts of a bar: stored rows of the same bucket, and head swaps that the final tables do not have yet.
 * Pure. Prices and amounts are raw. Swaps are ordered by `ord` only.
 */

/** Some of the swaps of one bar. A price of 0 means that there is no price. */
export interface BarPart {
  /** Open time, unix seconds. */
  readonly bucket: number;
  /** Position (`ord`) of the first swap with a price; meaningless while `open` is 0. */
  readonly openOrd: number;
  readonly open: number;
  readonly closeOrd: number;
  readonly close: number;
  readonly high: number;
  readonly low: number;
  /** Sum of |net amount| of token0, raw. */
  readonly volume0: bigint;
  readonly volume1: bigint;
  /** Sum of the tracked USD values, times 10^12. */
  readonly volumeUsd: bigint;
  readonly trades: number;
  /** Swaps without a tracked USD value. */
  readonly untracked: number;
  readonly buys: number;
  /** Position (`ord`) of the newest swap in this part. */
  readonly lastOrd: number;
}

/** A swap of a block that is not in the final tables. */
export interface HeadSwap {
  readonly ord: number;
  readonly timestamp: number;
  /** Price of the swap; 0 if there is no price. */
  readonly price: number;
  readonly volume0: bigint;
  readonly volume1: bigint;
  readonly volumeUsd: bigint;
  readonly tracked: boolean;
  readonly isBuy: boolean;
}

/** Merges two parts of one bar that have no swap in common. */
export function mergeParts(a: BarPart, b: BarPart): BarPart {
  const opensWithA = b.open === 0 || (a.open !== 0 && a.openOrd < b.openOrd);
  const closesWithA = b.close === 0 || (a.close !== 0 && a.closeOrd > b.closeOrd);
  return {
    bucket: a.bucket,
    openOrd: opensWithA ? a.openOrd : b.openOrd,
    open: opensWithA ? a.open : b.open,
    closeOrd: closesWithA ? a.closeOrd : b.closeOrd,
    close: closesWithA ? a.close : b.close,
    high: Math.max(a.high, b.high),
    low: a.low === 0 ? b.low : b.low === 0 ? a.low : Math.min(a.low, b.low),
    volume0: a.volume0 + b.volume0,
    volume1: a.volume1 + b.volume1,
    volumeUsd: a.volumeUsd + b.volumeUsd,
    trades: a.trades + b.trades,
    untracked: a.untracked + b.untracked,
    buys: a.buys + b.buys,
    lastOrd: Math.max(a.lastOrd, b.lastOrd),
  };
}

/** `barSeconds` is the length of the bar. */
export function partOfSwap(swap: HeadSwap, barSeconds: number): BarPart {
  return {
    bucket: swap.timestamp - (swap.timestamp % barSeconds),
    openOrd: swap.ord,
    open: swap.price,
    closeOrd: swap.ord,
    close: swap.price,
    high: swap.price,
    low: swap.price,
    volume0: swap.volume0,
    volume1: swap.volume1,
    volumeUsd: swap.tracked ? swap.volumeUsd : 0n,
    trades: 1,
    untracked: swap.tracked ? 0 : 1,
    buys: swap.isBuy ? 1 : 0,
    lastOrd: swap.ord,
  };
}

export function foldParts(
  parts: Iterable<BarPart>,
  barByBucket: Map<number, BarPart> = new Map(),
): Map<number, BarPart> {
  for (const part of parts) {
    const earlierPart = barByBucket.get(part.bucket);
    barByBucket.set(part.bucket, earlierPart === undefined ? part : mergeParts(earlierPart, part));
  }
  return barByBucket;
}

/**
 * Adds head parts to the bars that open in [from, to). Skips a part whose swaps are already in the stored bar, because
 * a promotion stores swaps before the snapshot's final cursor moves.
 */
export function addHeadParts(
  bars: Map<number, BarPart>,
  headParts: readonly BarPart[],
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const lastStoredOrds = new Map([...bars].map(([bucket, { lastOrd }]) => [bucket, lastOrd]));
  const unstoredParts = headParts.filter(
    ({ bucket, lastOrd }) => bucket >= from && bucket < to && lastOrd > (lastStoredOrds.get(bucket) ?? -1),
  );
  foldParts(unstoredParts, bars);
}
