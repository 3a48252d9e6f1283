/**
 * Computes the published price of a token after each block of a range, from the changes of hops. Pure; hopPages.ts reads
 * the changes.
 */
import { createSlices } from '../../domain/time/slices';
import { priceByHops, type Hop } from '../prices/priceByHops';

/** A block in which the hop of a token changed: its price, its next token or its confidence. */
export interface PathChange {
  readonly token: string;
  /** The largest possible position (`ord`) of the block. */
  readonly ord: number;
  /** Block time, unix seconds. */
  readonly timestamp: number;
  readonly hop: Hop;
  /** The hop before this block. A price of 0 means that there was none. */
  readonly previous: Hop;
}

/** A block in which the published price changed, with the new price. */
export interface PricePoint {
  readonly ord: number;
  readonly timestamp: number;
  readonly price: number;
}

/** Gives the price from the hops of a moment; null without a price. */
type PriceOf = (hops: ReadonlyMap<string, Hop>) => number | null;

/** The USD price of a token. With `native`, its price in the wrapped native token. */
export function priceOfToken(token: string, native: string | null): PriceOf {
  if (native === token) return () => 1;
  if (native === null) return (hops) => priceByHops(hops, token).usd;
  return (hops) => {
    const { usd } = priceByHops(hops, token);
    const { usd: nativeUsd } = priceByHops(hops, native);
    return usd === null || nativeUsd === null ? null : usd / nativeUsd;
  };
}

/** A block without a change of hops in which the price may still appear: the first block of a token. */
interface FirstBlock {
  readonly ord: number;
  readonly timestamp: number;
}

interface PathRange {
  /** Changes in ascending order. All changes of one block share one `ord`. */
  readonly changes: readonly PathChange[];
  /** The hops before the range. The function updates them, block by block. */
  readonly hops: Map<string, Hop>;
  readonly priceOf: PriceOf;
  /** The token's first block, if the range begins with it; before this block, the token has no price. */
  readonly firstBlock: FirstBlock | null;
}

/**
 * The blocks in which the price differs from the price after the block before. A block in which the price is lost is no
 * point, but a later price is one, even if it equals the lost price.
 */
export async function findPricePoints({
  changes,
  hops,
  priceOf,
  firstBlock,
}: PathRange): Promise<PricePoint[]> {
  const slices = createSlices();
  const points: PricePoint[] = [];
  let lastPrice = firstBlock === null ? priceOf(hops) : null;
  const closeBlock = (ord: number, timestamp: number): void => {
    const price = priceOf(hops);
    if (price !== null && price !== lastPrice) points.push({ ord, timestamp, price });
    lastPrice = price;
  };
  if (firstBlock !== null && changes[0]?.ord !== firstBlock.ord)
    closeBlock(firstBlock.ord, firstBlock.timestamp);
  for (let i = 0; i < changes.length; i += 1) {
    const change = changes[i];
    if (change === undefined) break;
    hops.set(change.token, change.hop);
    if (changes[i + 1]?.ord !== change.ord) closeBlock(change.ord, change.timestamp);
    if (slices.isOver()) await slices.giveWay();
  }
  return points;
}
