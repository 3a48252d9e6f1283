/** Decides what the price of a swap counts in: `price_counts` of the table `swaps`. */
import type { SwapRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { isTrusted, type UsdPrice } from '../../pricing/confidence';
import { legKey, type LegKey } from '../../pricing/leg';
import type { Pricer } from '../../pricing/pricer';

/** Bars of a token. The bit of token1 is twice the bit of token0. */
const BARS = 1;
/** Highs and lows of a token, which also need a trusted price of the token, and a swap near that price. */
const HIGHS = 4;
/** Further from the price at the end of the block, a swap was undone within the block, perhaps with a flash loan. */
const HIGHS_LOG_MAX = Math.log(1.2);
/** An anchor is worth its given price. Swaps at other prices say that the other token is in doubt. */
const ANCHOR_LOG_MAX = Math.log(1.02);

type Prices = Pick<Pricer, 'keeps' | 'isAnchor' | 'ceilingOf'>;

/** A side of a swap: the token, its price at the end of the block, and its price by the swap, USD per whole token. */
interface SwapSide {
  readonly token: Hex;
  readonly price: UsdPrice | null;
  /** 0: none. */
  readonly usd: number;
}

/** The sum of the bits. */
export function priceCounts(
  prices: Prices,
  { pair, leg }: Pick<SwapRow, 'pair' | 'leg'>,
  side0: SwapSide,
  side1: SwapSide,
): number {
  const key = legKey(pair, leg);
  return bitsOf(prices, key, side0, side1) + 2 * bitsOf(prices, key, side1, side0);
}

/** Bits of one token. `other`: the other token of the swap. */
function bitsOf(prices: Prices, key: LegKey, { token, price, usd }: SwapSide, other: SwapSide): number {
  if (!(usd > 0) || price === null || usd > prices.ceilingOf(token)) return 0;
  const distance = Math.abs(Math.log(usd / price.usd));
  const counts = prices.isAnchor(token)
    ? distance <= ANCHOR_LOG_MAX && (prices.isAnchor(other.token) || prices.keeps(other.token, key))
    : prices.keeps(token, key);
  if (!counts) return 0;
  return isTrusted(price) && distance <= HIGHS_LOG_MAX ? BARS + HIGHS : BARS;
}
