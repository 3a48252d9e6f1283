/** The value of a trade in USD (`amount_usd` in `/activity`). */
import { countSides } from './cap';
import { isTrusted, type UsdPrice } from './confidence';

/** Largest USD value that is stored. Larger values do not fit into Decimal(38, 12). */
const USD_MAX = 1e20;

export interface TradeValue {
  /** USD by trusted prices; 0 if not tracked. */
  readonly amountUsd: number;
  /** USD by untrusted prices; 0 if tracked or unknown. */
  readonly untrackedUsd: number;
  readonly tracked: boolean;
}

const NOTHING: TradeValue = { amountUsd: 0, untrackedUsd: 0, tracked: false };

/**
 * Values a swap in USD. Amounts are in whole tokens, ≥ 0. If both sides have a trusted price, the value is the mean
 * of both. If one side has, its value is used. Otherwise the swap is untracked. The value of a trusted side is at
 * most the cap of its token.
 */
export function valueTrade(
  price0: UsdPrice | null,
  price1: UsdPrice | null,
  amount0: number,
  amount1: number,
): TradeValue {
  const trusted0 = isTrusted(price0);
  const trusted1 = isTrusted(price1);
  const value0 = price0 === null ? null : amount0 * price0.usd;
  const value1 = price1 === null ? null : amount1 * price1.usd;
  if (!trusted0 && !trusted1) {
    const untrackedUsd = meanOf(value0, value1);
    return isSane(untrackedUsd) ? { ...NOTHING, untrackedUsd } : NOTHING;
  }
  const amountUsd = meanOf(
    trusted0 ? Math.min(amount0 * price0.usd, price0.capUsd) : null,
    trusted1 ? Math.min(amount1 * price1.usd, price1.capUsd) : null,
  );
  return isSane(amountUsd) ? { amountUsd, untrackedUsd: 0, tracked: true } : NOTHING;
}

/**
 * Values the two sides of a liquidity event in USD, by any price; null without a price. Amounts are in whole tokens,
 * ≥ 0. The value of a trusted side has a limit: the larger of its cap and the capped value of the other trusted
 * side.
 */
export function valueSides(
  prices: readonly (UsdPrice | null)[],
  amounts: readonly number[],
): (number | null)[] {
  const valueAt = (i: number): number => (amounts[i] ?? 0) * (prices[i]?.usd ?? 0);
  const counted = countSides(
    prices.map((price, i) =>
      isTrusted(price)
        ? { usd: valueAt(i), capUsd: price.capUsd, poolWorth: 1 }
        : { usd: 0, capUsd: 0, poolWorth: 1 },
    ),
  );
  return prices.map((price, i) => {
    const usd = isTrusted(price) ? (counted[i] ?? 0) : valueAt(i);
    return price === null || !isSane(usd) ? null : usd;
  });
}

function meanOf(a: number | null, b: number | null): number {
  if (a === null) return b ?? 0;
  return b === null ? a : (a + b) / 2;
}

function isSane(usd: number): boolean {
  return usd >= 0 && usd < USD_MAX;
}
