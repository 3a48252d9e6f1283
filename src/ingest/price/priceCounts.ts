/**
 * Decides whether bars, highs and lows of a token use the price of a swap. The result is the column `price_counts` of
 * the table `swaps`.
 */
import type { SwapRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { isTrusted, type UsdPrice } from '../../pricing/confidence';
import { legKey, type LegKey } from '../../pricing/leg';
import type { Pricer } from '../../pricing/pricer';

/** Bit that means: the bars of token0 use the price. The bit for token1 is twice this bit. */
const BARS = 1;
/**
 * Bit that means: the highs and lows of token0 use the price. This also requires a trusted token price near the price
 * of the swap.
 */
const HIGHS = 4;
/**
 * Largest distance (as a logarithm) between a high and the price at the end of the block. A price beyond it did not
 * last until the end of the block, perhaps because of a flash loan.
 */
const HIGHS_LOG_MAX = Math.log(1.2);
/**
 * Largest distance (as a logarithm) between an anchor's given price and its price that follows from a swap. Bars do
 * not use a price beyond it.
 */
const ANCHOR_LOG_MAX = Math.log(1.02);

type Prices = Pick<Pricer, 'usesSpotPriceOf' | 'isAnchor' | 'ceilingOf'>;

/**
 * One side of a swap: the token, its price at the end of the block, and its price that follows from this swap. Prices
 * are USD per whole token.
 */
interface SwapSide {
  readonly token: Hex;
  readonly price: UsdPrice | null;
  /** Price of the token that follows from the swap; 0 if the swap gives no price. */
  readonly usd: number;
}

/** The value of `price_counts` for a swap: the bits of both tokens. */
export function priceCounts(
  prices: Prices,
  { pair, leg }: Pick<SwapRow, 'pair' | 'leg'>,
  side0: SwapSide,
  side1: SwapSide,
): number {
  const key = legKey(pair, leg);
  return bitsOf(prices, key, side0, side1) + 2 * bitsOf(prices, key, side1, side0);
}

/** The bits of one token, as for token0. `other` is the other side of the swap. */
function bitsOf(prices: Prices, key: LegKey, { token, price, usd }: SwapSide, other: SwapSide): number {
  if (!(usd > 0) || price === null || usd > prices.ceilingOf(token)) return 0;
  const distance = Math.abs(Math.log(usd / price.usd));
  const counts = prices.isAnchor(token)
    ? distance <= ANCHOR_LOG_MAX && (prices.isAnchor(other.token) || prices.usesSpotPriceOf(other.token, key))
    : prices.usesSpotPriceOf(token, key);
  if (!counts) return 0;
  return isTrusted(price) && distance <= HIGHS_LOG_MAX ? BARS + HIGHS : BARS;
}
