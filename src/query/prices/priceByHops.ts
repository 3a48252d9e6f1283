/**
 * Computes token prices as products of hops. Each hop prices a token in the next token. The last next token is an
 * anchor with a USD price. Pure; tokenPrices.ts reads the hops.
 */
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { pricedAs } from '../../domain/pools/nativeCoin';
import { capAlong } from '../../pricing/cap';
import { isLessSure, pathConfidence } from '../../pricing/confidence';
import { HOPS_MAX } from '../../pricing/priceRoute';
import type { Window } from '../../wire/pairs';
import { changePercent } from '../pairs/rankings';

/** The price of one whole token in the next token. For an anchor, its price in USD. */
export interface Hop {
  /** The zero address marks an anchor, whose `price` is USD. */
  readonly nextToken: string;
  /** Price of the hop; 0 if the hop has no price. */
  readonly price: number;
  /** Confidence of the hop, 0 to 1. */
  readonly confidence: number;
  /**
   * Amount of the next token that the pools of the hop can pay out together, in whole tokens. Infinity means no
   * limit.
   */
  readonly cap: number;
}

export interface TokenPrice {
  /** USD per whole token; null if unknown. */
  readonly usd: number | null;
  /** Confidence, 0 to 1; 0 without a price. */
  readonly confidence: number;
  /** The token is an anchor, so its price is given and not derived. */
  readonly isAnchor: boolean;
  /** Number of hops to the anchor; 0 for an anchor and without a price. */
  readonly hops: number;
  /** The largest USD value that this price can give to an amount. Infinity for an anchor, 0 without a price. */
  readonly capUsd: number;
}

const NO_PRICE: TokenPrice = { usd: null, confidence: 0, isAnchor: false, hops: 0, capUsd: 0 };

export type Hops = ReadonlyMap<string, Hop>;

/**
 * The price of a token by the given hops. Multiplies from the anchor outwards, as the ingester does, so that both
 * results have identical bits.
 */
export function priceByHops(hops: Hops, token: string): TokenPrice {
  const path: Hop[] = [];
  let current = token;
  for (;;) {
    const hop = hops.get(current);
    if (hop === undefined || !(hop.price > 0)) return NO_PRICE;
    if (hop.nextToken === ZERO_ADDRESS) return multiplyHops(path, hop.price);
    // A path with more hops than this is a loop.
    if (path.length === HOPS_MAX) return NO_PRICE;
    path.push(hop);
    current = hop.nextToken;
  }
}

/** `path` leads from the token towards the anchor. */
function multiplyHops(path: readonly Hop[], anchorUsd: number): TokenPrice {
  const usd = path.reduceRight((price, hop) => hop.price * price, anchorUsd);
  // The product of finite prices may be Infinity or 0.
  if (!Number.isFinite(usd) || usd <= 0) return NO_PRICE;
  const confidence = pathConfidence(path.map((hop) => hop.confidence));
  return {
    usd,
    confidence,
    isAnchor: path.length === 0,
    hops: path.length,
    capUsd: capAlong(path, anchorUsd),
  };
}

/** Whether the earlier price has a lower confidence level. A change from that price is not shown. */
export function isDoubtful(earlierPrice: TokenPrice, currentPrice: TokenPrice): boolean {
  return isLessSure(earlierPrice.confidence, currentPrice.confidence);
}

/** Change in percent. Null if a price is missing, or if the earlier price had a lower confidence level. */
export function changeOfPrice(currentPrice: TokenPrice, earlierPrice: TokenPrice): number | null {
  return isDoubtful(earlierPrice, currentPrice) ? null : changePercent(currentPrice.usd, earlierPrice.usd);
}

/** Prices of all tokens as of a block, and at the starts of the windows that end there. */
export interface TokenPrices {
  now(token: string): TokenPrice;
  /** The price at the start of the window. */
  before(token: string, window: Window): TokenPrice;
  /** Price of one whole token in the native token. The wrapped native token is worth 1, even without a USD price. */
  nativeOf(token: string): number | null;
  /** USD price of one native token. */
  readonly nativeUsd: number | null;
  /** The wrapped native token, whose prices the native coin has. */
  readonly wrappedNative: Hex | null;
}

/** `pastHops` has, for the start of each window, the hops of every token at that time. */
export function makeTokenPrices(
  hops: Hops,
  pastHops: Readonly<Record<Window, Hops>>,
  wrappedNative: Hex | null,
): TokenPrices {
  const priceByToken = new Map<string, TokenPrice>();
  const priceNow = (coinOrToken: string): TokenPrice => {
    const token = pricedAs(coinOrToken, wrappedNative);
    const cached = priceByToken.get(token);
    if (cached !== undefined) return cached;
    const price = priceByHops(hops, token);
    priceByToken.set(token, price);
    return price;
  };
  const nativeUsd = wrappedNative === null ? null : priceNow(wrappedNative).usd;
  return {
    now: priceNow,
    before: (token, window) => priceByHops(pastHops[window], pricedAs(token, wrappedNative)),
    nativeOf(token) {
      if (pricedAs(token, wrappedNative) === wrappedNative) return 1;
      const { usd } = priceNow(token);
      return usd === null || nativeUsd === null ? null : usd / nativeUsd;
    },
    nativeUsd,
    wrappedNative,
  };
}
