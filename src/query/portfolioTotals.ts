/** From valued holdings to the portfolio that answers show: what counts is summed, the largest values come first. Pure. */
import type { Portfolio } from '../wire/portfolio';
import type { Warning } from '../wire/tokens';
import type { HeadSnapshot } from './headSnapshot';
import type { ValuedPosition } from './portfolioPositions';
import type { ValuedNative, ValuedToken } from './portfolioTokens';
import { compareKeys } from './ranking';

export interface Holdings {
  readonly native: ValuedNative | null;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
}

export const NO_HOLDINGS: Holdings = { native: null, tokens: [], positions: [] };

interface Valued {
  readonly trusted: boolean;
  readonly usd: number | null;
}

/** USD of what counts. */
function sumTrusted(items: readonly Valued[]): number {
  return items.reduce((sum, { trusted, usd }) => (trusted ? sum + (usd ?? 0) : sum), 0);
}

export function toPortfolio(
  address: string,
  head: HeadSnapshot,
  { native, tokens, positions }: Holdings,
  warnings: readonly Warning[],
): Portfolio {
  const parts = {
    native: native === null ? [] : [{ trusted: native.trusted, usd: native.native.value_usd }],
    tokens: tokens.map(({ token, trusted }) => ({ trusted, usd: token.value_usd })),
    positions: positions.map(({ position, trusted }) => ({ trusted, usd: position.value_usd })),
    unclaimed: positions.map(({ position, trusted }) => ({ trusted, usd: position.unclaimed_usd ?? null })),
  };
  const sums = {
    native: sumTrusted(parts.native),
    tokens: sumTrusted(parts.tokens),
    positions: sumTrusted(parts.positions),
    unclaimed: sumTrusted(parts.unclaimed),
  };
  // What the node alone can tell, and did not.
  const silent = positions.some(({ position }) => position.unclaimed === null);
  const total = sums.native + sums.tokens + sums.positions + sums.unclaimed;
  const percent = (trusted: boolean, usd: number): number => (trusted && total > 0 ? (usd / total) * 100 : 0);
  const others = Object.values(parts).flatMap((items) =>
    items.map(({ trusted, usd }) => ({ trusted: !trusted, usd })),
  );
  return {
    address,
    total_usd: total,
    native_usd: native === null ? null : sums.native,
    tokens_usd: sums.tokens,
    positions_usd: sums.positions,
    unclaimed_usd: silent ? null : sums.unclaimed,
    excluded_usd: sumTrusted(others),
    block_number: head.number,
    native:
      native === null
        ? null
        : { ...native.native, portfolio_pct: percent(native.trusted, native.native.value_usd ?? 0) },
    tokens: tokens
      .map(({ token, trusted }) => ({ ...token, portfolio_pct: percent(trusted, token.value_usd ?? 0) }))
      .sort(
        (a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.address, b.address, 'asc'),
      ),
    positions: positions
      .map(({ position, trusted }) => ({
        ...position,
        portfolio_pct: percent(trusted, (position.value_usd ?? 0) + (position.unclaimed_usd ?? 0)),
      }))
      .sort((a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.id, b.id, 'asc')),
    flags: warnings.map(({ code }) => code),
    warnings: [...warnings],
  };
}
