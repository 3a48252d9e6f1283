/** Warnings about an audited price: codes for programs, sentences for people. */
import type { HopWarning } from '../../pricing/hop';
import type { RouteWarning } from '../../pricing/route';
import type { Warning } from '../../wire/tokens';

type HopCode = HopWarning | RouteWarning | 'v3_narrow_range';
type Text = readonly [message: string, severity: Warning['severity']];

const OF_HOP: Readonly<Record<HopCode, Text>> = {
  single_pool: ['rests on a single pool', 'info'],
  pool_disagreement: ['has two pools more than 5 % apart; only the deeper one is believed', 'warning'],
  outlier_pools_excluded: ['leaves out pools whose price lies far from the weighted median', 'info'],
  price_deviates_from_twap: [
    'has a pool more than 20 % from its 30-minute mean that has not traded its depth since: the mean counts',
    'warning',
  ],
  depth_fell: ['has less than half of the depth that it had when the epoch began', 'warning'],
  recent_pool: ['rests on liquidity that no epoch of 32 blocks has confirmed yet', 'warning'],
  stale_price: ['rests on pools that did not move for a day', 'warning'],
  thin_anchor: ['has less than 1,000 USD on the known side of its pools', 'warning'],
  anchor_depeg: ['prices an anchor that lost its role, being more than 2 % from the others', 'critical'],
  v3_narrow_range: [
    'has a V3 pool that holds less than its liquidity promises within 2 %: it counts by what it holds',
    'info',
  ],
};

const isKnown = (code: string): code is HopCode => Object.hasOwn(OF_HOP, code);

/** Warnings of one hop, without unknown codes. */
export function hopWarnings(codes: Iterable<string>, step: number, from: string, to: string): Warning[] {
  return [...new Set(codes)].sort().flatMap((code) => {
    if (!isKnown(code)) return [];
    const [message, severity] = OF_HOP[code];
    return [{ code, message: `Hop ${step} (${from} in ${to}) ${message}`, severity }];
  });
}

export const LOW_LIQUIDITY: Warning = {
  code: 'low_liquidity',
  message: 'Little liquidity stands behind this price: it does not count in volume and liquidity',
  severity: 'warning',
};

export const UNKNOWN_DECIMALS: Warning = {
  code: 'unknown_decimals',
  message: 'decimals() of this token fails or exceeds 77, so it has no price and its amounts are raw units',
  severity: 'warning',
};

export const NOT_FINALIZED: Warning = {
  code: 'not_finalized',
  message: 'The block may still be reorganised',
  severity: 'info',
};

export const MAX_HOPS_REACHED: Warning = {
  code: 'max_hops_reached',
  message: 'Its neighbours are priced over 4 hops, and no price has more',
  severity: 'warning',
};

/** `reasons`: why each examined pool of the token was excluded. */
export function noRoute(reasons: readonly string[]): Warning {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const text = [...counts].map(([reason, count]) => `${count} ${reason}`).join(', ');
  return {
    code: 'no_route',
    message: `No pool with 50 USD on a known side connects this token to an anchor (its pools: ${text || 'none'})`,
    severity: 'warning',
  };
}
