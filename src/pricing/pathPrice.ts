/** Computes the USD price of a token from the hops of its path. Pure. */
import { capAlong } from './cap';
import { pathConfidence, type UsdPrice } from './confidence';
import type { TokenHop } from './priceRoute';

/**
 * Multiplies from the anchor to the token: price(T) = hop(T) · price(next). `path`: from the token to the anchor, whose
 * hop is in USD. Null: no price.
 */
export function priceOfPath(path: readonly TokenHop[]): UsdPrice | null {
  let usd = 1;
  for (let i = path.length - 1; i >= 0; i -= 1)
    usd = (path[i]?.price ?? 0) * (i === path.length - 1 ? 1 : usd);
  if (!(usd > 0) || !Number.isFinite(usd)) return null;
  const hops = path.slice(0, -1);
  const capUsd = capAlong(hops, path.at(-1)?.price ?? 0);
  return { usd, confidence: pathConfidence(hops.map((hop) => hop.confidence)), capUsd };
}
