/** Says why a token has no price: names the rule of the route search that left out its pools. Pure. */
import { knownSide } from '../../pricing/depth';
import type { LegState } from '../../pricing/leg';
import { HOPS_MAX } from '../../pricing/priceRoute';
import { BACKING_MIN_USD } from '../../pricing/routes/legDepths';
import type { PriceReason } from '../../wire/priceReason';
import type { TokenRef } from '../../wire/primitives';
import { labelOf } from '../pairs/poolTokens';
import type { TokenPrice } from './priceByHops';

/** A leg between a token and another token, as the route search sees it. */
export interface ReasonLeg {
  readonly state: LegState;
  /** Whether the token is token0 of the leg. */
  readonly isToken0: boolean;
  /** The price of the other token. */
  readonly otherPrice: Pick<TokenPrice, 'usd' | 'hops'>;
  /** False for vault pools without fixed weights or with doubts. */
  readonly isFollowed: boolean;
  /** Whether the leg has no state, or did not change for 30 days. */
  readonly isQuiet: boolean;
}

/** USD on the side of the other token; 0 if this token has no price. */
export function backingOf({ state, isToken0, otherPrice }: ReasonLeg): number {
  return otherPrice.usd === null
    ? 0
    : knownSide({ state, liquidity: state.liquidity }, !isToken0, otherPrice.usd).backingUsd;
}

/** Whether the other token already has the largest number of hops, so it can price no further token. */
export function isAtLimit({ otherPrice }: ReasonLeg): boolean {
  return otherPrice.usd !== null && otherPrice.hops >= HOPS_MAX;
}

/**
 * The reason why a token has no price. `legs` are all its legs. A young pool and an outlier are no reasons: a young
 * pool gives a price of low confidence, and a hop never drops all its pools as outliers.
 */
export function priceReason(token: TokenRef, legs: readonly ReasonLeg[]): PriceReason {
  const name = labelOf(token);
  if (token.decimals === null)
    return makeReason('unknown_decimals', `No price: the decimals of ${name} are unknown`);
  const connectedLegs = legs.filter(({ otherPrice }) => otherPrice.usd !== null);
  const liveLegs = connectedLegs.filter(({ isFollowed, isQuiet }) => isFollowed && !isQuiet);
  const legsWithinHops = liveLegs.filter((leg) => !isAtLimit(leg));
  if (legsWithinHops.length > 0) {
    const bestBackingUsd = legsWithinHops.reduce((best, leg) => Math.max(best, backingOf(leg)), 0);
    if (bestBackingUsd < BACKING_MIN_USD) return lowLiquidity(name, bestBackingUsd);
    return makeReason('no_route', `No price yet: ${name} gets a route with the next epoch or trade`);
  }
  if (liveLegs.length > 0)
    return makeReason('no_route', `No price: ${name} is more than ${HOPS_MAX} hops away from an anchor`);
  if (connectedLegs.some(({ isFollowed }) => !isFollowed))
    return makeReason(
      'price_not_followed',
      `No price: the only pools of ${name} with a priced token are stable pools, have bins or are in doubt`,
    );
  return makeReason(
    'no_route',
    `No price: no pool with liquidity and a change within 30 days connects ${name} to a token with a price`,
  );
}

function lowLiquidity(name: string, bestBackingUsd: number): PriceReason {
  // Rounded down, so that 49.999 USD are not shown as the 50 USD needed.
  const shownUsd = (Math.floor(bestBackingUsd * 100) / 100).toFixed(2);
  return {
    code: 'low_liquidity',
    text: `No price: the best pool of ${name} has $${shownUsd} on the side with a known price, $${BACKING_MIN_USD} needed`,
    have_usd: bestBackingUsd,
    need_usd: BACKING_MIN_USD,
  };
}

/** A reason without amounts. */
export function makeReason(code: PriceReason['code'], text: string): PriceReason {
  return { code, text, have_usd: null, need_usd: null };
}
