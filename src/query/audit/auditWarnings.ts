/** Warnings about an audited price: codes for programs, sentences for people. */
import type { HopWarning } from '../../pricing/hop';
import type { RouteWarning } from '../../pricing/priceRoute';
import { doubtCodes, type DoubtCode } from '../../domain/pools/doubts';
import type { Warning } from '../../wire/risks';

type HopCode = HopWarning | Exclude<RouteWarning, 'anchor_above_peg'> | 'v3_narrow_range' | 'one_sided_depth';
type WarningText = readonly [message: string, severity: Warning['severity']];

const HOP_TEXTS: Readonly<Record<HopCode, WarningText>> = {
  single_pool: ['uses a single pool', 'info'],
  pool_disagreement: [
    'has two pools whose prices differ by more than 5 %; the price uses the deeper pool alone',
    'warning',
  ],
  outlier_pools_excluded: ['excludes pools whose price is far from the weighted median', 'info'],
  price_deviates_from_twap: [
    'has a pool whose price differs by more than 20 % from its 30-minute mean and that has not traded its depth since; the price uses its mean',
    'warning',
  ],
  depth_fell: [
    'has less than half of the depth that it had when the epoch began, or less than another route had then',
    'warning',
  ],
  spot_held_to_mean: [
    'has a pool whose state changed without a swap; its price moves only as fast as its 30-minute mean',
    'warning',
  ],
  young_pool: [
    'uses a pool younger than 100 blocks or about 17 minutes, or one that fewer than two makers have traded in',
    'warning',
  ],
  private_route: ['goes through a token that has no other market than this token and the anchors', 'warning'],
  recent_pool: [
    'uses present liquidity, because no pool has the age, the makers and the mean liquidity for a trusted price',
    'warning',
  ],
  stale_price: ['uses pools that have not changed for a day', 'warning'],
  thin_anchor: ['has less than 1,000 USD on the side of its pools whose price is known', 'warning'],
  anchor_depeg: [
    'prices an anchor that lost its role, because it differs from the others by more than 2 %',
    'critical',
  ],
  v3_narrow_range: [
    'has a V3 pool whose balances are below what its liquidity suggests within 2 %; the depth uses its balances',
    'info',
  ],
  one_sided_depth: [
    'has a V3 pool that pays out on one side less than a tenth of the other side within ±50 % of its price',
    'warning',
  ],
};

const isHopCode = (code: string): code is HopCode => Object.hasOwn(HOP_TEXTS, code);

/** Warnings about one hop. Codes unknown to this version are left out. */
export function hopWarnings(codes: Iterable<string>, step: number, from: string, to: string): Warning[] {
  return [...new Set(codes)].sort().flatMap((code) => {
    if (!isHopCode(code)) return [];
    const [message, severity] = HOP_TEXTS[code];
    return [{ code, message: `Hop ${step} (${from} in ${to}) ${message}`, severity }];
  });
}

const DOUBT_TEXTS: Readonly<Record<DoubtCode, string>> = {
  managed_balance: 'has an asset manager, who may report any balance, so it backs no price',
  weights_in_doubt: 'made a swap that its weights do not explain, so it backs no price',
  extreme_terms: 'has a weight below 1 % or had a fee above 10 %, so it backs no price',
  price_not_followed:
    'has a price that depends on something that its events do not tell, so it backs no price',
};

/** Makes the warnings about pools that back no price. `doubts` is keyed by the address of the pool. */
export function poolWarnings(doubts: ReadonlyMap<string, number>): Warning[] {
  return [...doubts.keys()].sort().flatMap((address) =>
    doubtCodes(doubts.get(address) ?? 0).map((code): Warning => ({
      code,
      message: `Pool ${address} ${DOUBT_TEXTS[code]}`,
      severity: 'warning',
    })),
  );
}

export const LOW_LIQUIDITY: Warning = {
  code: 'low_liquidity',
  message: 'This price has little liquidity, so volume and liquidity leave out values by this price',
  severity: 'warning',
};

export const VALUE_CAPPED: Warning = {
  code: 'value_capped',
  message:
    'A pool holds more of this token than the narrowest hop of its price could pay; values in volume, liquidity and wallets are limited to that amount',
  severity: 'info',
};

export const ANCHOR_ABOVE_PEG: Warning = {
  code: 'anchor_above_peg',
  message:
    'The anchor trades more than 2 % above the other anchors; this price uses its configured price, and the prices of other tokens in its pools are in doubt',
  severity: 'warning',
};

export const UNKNOWN_DECIMALS: Warning = {
  code: 'unknown_decimals',
  message: 'decimals() of this token fails or exceeds 77, so it has no price and its amounts are raw units',
  severity: 'warning',
};

/**
 * Warning about a one-sided pool outside the route. Anyone can create such a pool, so the warning casts no doubt on the
 * price.
 */
export const ONE_SIDED_POOL: Warning = {
  code: 'one_sided_depth',
  message:
    'A V3 pool that this price leaves out pays out on one side less than a tenth of the other side within ±50 % of its price',
  severity: 'info',
};

export const NOT_FINALIZED: Warning = {
  code: 'not_finalized',
  message: 'A reorg may still remove this block',
  severity: 'info',
};

export const MAX_HOPS_REACHED: Warning = {
  code: 'max_hops_reached',
  message: 'The tokens in its pools have prices of 4 hops, and a price has at most 4 hops',
  severity: 'warning',
};

/**
 * Makes the warning that a token has no route. `reasons` has one reason per examined pool why it is in no
 * route.
 */
export function noRouteWarning(reasons: readonly string[]): Warning {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const text = [...counts].map(([reason, count]) => `${count} ${reason}`).join(', ');
  return {
    code: 'no_route',
    message: `No pool with 50 USD on a side with a known price connects this token to an anchor (excluded pools: ${text || 'none'})`,
    severity: 'warning',
  };
}
