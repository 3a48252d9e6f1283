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
  /** Value in USD; null without a price. */
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
  const valuedParts = {
    native: native === null ? [] : [{ trusted: native.trusted, usd: native.native.value_usd }],
    tokens: tokens.map(({ token, trusted }) => ({ trusted, usd: token.value_usd })),
    positions: positions.map(({ position, trusted }) => ({ trusted, usd: position.value_usd })),
    unclaimed: positions.map(({ position, trusted }) => ({ trusted, usd: position.unclaimed_usd ?? null })),
  };
  const [tokensUsd, positionsUsd] = [sumTrusted(valuedParts.tokens), sumTrusted(valuedParts.positions)];
  const [nativeUsd, unclaimedUsd] = [sumTrusted(valuedParts.native), sumTrusted(valuedParts.unclaimed)];
  // Amounts that were not claimed come only from the node, and it may not answer.
  const isUnclaimedUnknown = positions.some(({ position }) => position.unclaimed === null);
  const totalUsd = tokensUsd + positionsUsd;
  const percentOfTotal = (trusted: boolean, usd: number | null): number =>
    trusted && totalUsd > 0 ? ((usd ?? 0) / totalUsd) * 100 : 0;
  const untrustedValues = [...valuedParts.tokens, ...valuedParts.positions].map(({ trusted, usd }) => ({
    trusted: !trusted,
    usd,
  }));
  return {
    address,
    total_usd: totalUsd,
    net_worth_usd: totalUsd + nativeUsd + unclaimedUsd,
    native_usd: native === null ? null : nativeUsd,
    tokens_usd: tokensUsd,
    positions_usd: positionsUsd,
    unclaimed_usd: isUnclaimedUnknown ? null : unclaimedUsd,
    excluded_usd: sumTrusted(untrustedValues),
    block_number: head.number,
    native: native?.native ?? null,
    tokens: tokens
      .map(({ token, trusted }) => ({ ...token, portfolio_pct: percentOfTotal(trusted, token.value_usd) }))
      .sort(
        (a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.address, b.address, 'asc'),
      ),
    positions: positions
      .map(({ position, trusted }) => ({
        ...position,
        portfolio_pct: percentOfTotal(trusted, position.value_usd),
      }))
      .sort((a, b) => compareKeys(a.value_usd, b.value_usd, 'desc') || compareKeys(a.id, b.id, 'asc')),
    flags: warnings.map(({ code }) => code),
    warnings: [...warnings],
  };
}
