/** The cost of a false price that a simulated market publishes. */
import type { Hex } from '../../../src/domain/hex';
import { costHop } from '../../../src/pricing/cost/costHop';
import {
  manipulationCost,
  type CostHop,
  type ManipulationCost,
} from '../../../src/pricing/cost/manipulationCost';
import { epochStart, unswappedAt } from '../../../src/pricing/epoch';
import { anchorPrices, ceilingsOf, priceRouteHop, type Market } from '../../../src/pricing/market';
import type { IndexedLeg } from '../../../src/pricing/indexedToken';
import type { Pricer } from '../../../src/pricing/pricer';
import { isAnchorRoute, type PriceRoute } from '../../../src/pricing/priceRoute';
import { ANCHORS } from '../worlds/pools';
import { timeOf, type SimMarket } from './simMarket';

/** The published cost of the market's token at the end of its history; null: no price. */
export function publishedCost(market: SimMarket): ManipulationCost | null {
  const hops = costHops(market);
  return hops === null ? null : manipulationCost(hops);
}

function costHops(market: SimMarket): CostHop[] | null {
  const { pricer, plan } = market;
  const path = pathOf(pricer, plan.path[0]!);
  if (path === null) return null;
  const anchors = anchorPrices(ANCHORS);
  const marketView = marketAt(market);
  const { pools } = market.books;
  const plans = new Map(pools.map((pool) => [pool.leg.key, pool.plan]));
  const active = new Map(pools.map((pool) => [pool.leg.key, pool.active]));
  const isAnchor = (token: Hex): boolean => anchors.has(token);
  return path.map((route, step) => {
    const feesWith = (isOther: (token: Hex) => boolean): number[] =>
      pools.flatMap(({ leg: { token0, token1 }, plan: { fee } }) => {
        if (token0 !== route.token && token1 !== route.token) return [];
        return isOther(token0 === route.token ? token1 : token0) ? [fee] : [];
      });
    const isLater = (token: Hex): boolean => path.slice(step).some(({ next }) => next === token);
    return costHop(route, priceRouteHop(route, marketView, anchors), {
      market: marketView,
      usdOf: (leg) => pricer.priceOf(leg.token0 === route.token ? leg.token1 : leg.token0)?.usd ?? 0,
      feeOf: ({ key }) => plans.get(key)!.fee,
      activeOf: ({ key }) => active.get(key)!,
      fees: feesWith((token) => token === route.next || (isAnchor(token) && isAnchor(route.next))),
      otherFees: feesWith((token) => isAnchor(token) || isLater(token)),
      isRanged: ({ key }) => plans.get(key)!.kind === 'v3',
    });
  });
}

function pathOf(pricer: Pricer, target: Hex): PriceRoute<IndexedLeg>[] | null {
  const path: PriceRoute<IndexedLeg>[] = [];
  for (let token = target; path.length <= 4;) {
    const route = pricer.routeOf(token) as PriceRoute<IndexedLeg> | undefined;
    if (route === undefined) return null;
    if (isAnchorRoute(route)) return path;
    if (route.hops === 0) return null;
    path.push(route);
    token = route.next;
  }
  return null;
}

function marketAt({ block }: SimMarket): Market<IndexedLeg> {
  const epochTime = timeOf(epochStart(block) - 1);
  return {
    stateOf: ({ state }) => state,
    recordOf: ({ record }) => record,
    tradedIn: ({ moves }) => moves?.traded ?? 0,
    ceilingOf: ceilingsOf(ANCHORS),
    unswappedIn: ({ moves, record }) => moves?.unswapped ?? unswappedAt(record, epochTime),
    epochTime,
  };
}
