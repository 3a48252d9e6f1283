/** Sums valued holdings into the portfolio answer, largest values first. Pure. */
import type { Portfolio } from '../../wire/portfolio';
import type { Warning } from '../../wire/risks';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { ValuedPosition } from './portfolioPositions';
import type { ValuedNative, ValuedToken } from './portfolioTokens';
import { compareKeys } from '../pairs/rankings';

export interface ValuedHoldings {
  readonly native: ValuedNative | null;
  readonly tokens: readonly ValuedToken[];
  readonly positions: readonly ValuedPosition[];
}

export const NO_HOLDINGS: ValuedHoldings = { native: null, tokens: [], positions: [] };

interface Valued {
  readonly trusted: boolean;
  readonly usd: number | null;
}

/** Sum in USD of the trusted items. */
function sumTrusted(items: readonly Valued[]): number {
  return items.reduce((sum, { trusted, usd }) => (trusted ? sum + (usd ?? 0) : sum), 0);
}

export function toPortfolio(
  address: string,
  head: HeadSnapshot,
  { native, tokens, positions }: ValuedHoldings,
  warnings: readonly Warning[],
): Portfolio {
  const parts = {
    native: native === null ? [] : [{ trusted: native.trusted, usd: native.native.value_usd }],
    tokens: tokens.map(({ token, trusted }) => ({ trusted, usd: token.value_usd })),
    positions: positions.map(({ position, trusted }) => ({ trusted, usd: position.value_usd })),
    unclaimed: positions.map(({ position, trusted }) => ({ trusted, usd: position.unclaimed_usd ?? null })),
  };
  const [ofTokens, ofPositions] = [sumTrusted(parts.tokens), sumTrusted(parts.positions)];
  const [ofNative, unclaimed] = [sumTrusted(parts.native), sumTrusted(parts.unclaimed)];
  // Amounts that were not claimed come only from the node, and it may not answer.
  const silent = positions.some(({ position }) => position.unclaimed === null);
  const total = ofTokens + ofPositions;
  const percent = (trusted: boolean, usd: number | null): number =>
    trusted && total > 0 ? ((usd ?? 0) / total) * 100 : 0;
  const untrustedValues = [...parts.tokens, ...parts.positions].map(({ trusted, usd }) => ({
    trusted: !trusted,
    usd,
  }));
  return {
    address,
    total_usd: total,
    net_worth_usd: total + ofNative + unclaimed,
    native_usd: native === null ? null : ofNative,
    tokens_usd: ofTokens,
    positions_usd: ofPositions,
    unclaimed_usd: silent ? null : unclaimed,
    excluded_usd: sumTrusted(untrustedValues),
    block_number: head.number,
    native: native?.native ?? null,
    tokens: tokens
      .map(({ token, trusted }) => ({ ...token, portfolio_pct: percent(trusted, token.value_usd) }))
      .sort(
        (a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.address, b.address, 'asc'),
      ),
    positions: positions
      .map(({ position, trusted }) => ({
        ...position,
        portfolio_pct: percent(trusted, position.value_usd),
      }))
      .sort((a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.id, b.id, 'asc')),
    flags: warnings.map(({ code }) => code),
    warnings: [...warnings],
  };
}
