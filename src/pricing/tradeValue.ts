/** The value of a trade in USD (`amount_usd` in `/activity`). */
import { isTrusted, type UsdPrice } from './confidence';

/** Larger values are discarded, because they would not fit the store's Decimal(38, 12). */
const USD_MAX = 1e20;

export interface TradeValue {
  /** USD by trusted prices; 0 if not tracked. */
  readonly amountUsd: number;
  /** USD by untrusted prices; 0 if tracked or unknown. */
  readonly untrackedUsd: number;
  readonly tracked: boolean;
}

const NOTHING: TradeValue = { amountUsd: 0, untrackedUsd: 0, tracked: false };

/** Amounts in whole tokens, ≥ 0. Both sides trusted: the mean of both. One side trusted: that side. None: untracked. */
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
  const amountUsd = meanOf(trusted0 ? value0 : null, trusted1 ? value1 : null);
  return isSane(amountUsd) ? { amountUsd, untrackedUsd: 0, tracked: true } : NOTHING;
}

function meanOf(a: number | null, b: number | null): number {
  if (a === null) return b ?? 0;
  return b === null ? a : (a + b) / 2;
}

function isSane(usd: number): boolean {
  return usd >= 0 && usd < USD_MAX;
}
