/** Computes the cost of moving an audited price, and the age of the price. Pure. */
import { blockOfOrd } from '../../domain/ord';
import { shapeOf } from '../../domain/pools/poolShape';
import { costHop } from '../../pricing/cost/costHop';
import type { HopPrice } from '../../pricing/hop';
import type { Leg } from '../../pricing/leg';
import { manipulationCost, type ManipulationCost } from '../../pricing/cost/manipulationCost';
import type { AuditInputs, AuditRoute } from './auditInputs';

const PIPS = 1_000_000;

/** The price of a token that is derived from pools, with its hops from the token to the anchor. */
interface PricedPath {
  /** USD per whole token; null without a price. */
  readonly usd: number | null;
  readonly hops: readonly { readonly route: AuditRoute; readonly hop: HopPrice }[];
}

/**
 * Cost of moving the price of a token. Null if the token has no price, or is an anchor, whose price is
 * configured.
 */
export function costOfPrice({ usd, hops }: PricedPath, inputs: AuditInputs): ManipulationCost | null {
  const { anchor, anchors, market, legs, fees, block, tokens } = inputs;
  if (usd === null || anchor === null || hops.length === 0) return null;
  const poolOf = ({ key }: Leg) => legs.get(key)?.pool;
  const feeOf = (leg: Leg): number => (fees.get(leg.pair) ?? poolOf(leg)?.fee_pips ?? 0) / PIPS;
  const isRanged = (leg: Leg): boolean => {
    const pool = poolOf(leg);
    if (pool === undefined) return false;
    const { isWalked, liquidity } = shapeOf(pool.pool_type);
    // The liquidity of a stable pool of many tokens is that of a move by 2 %. Beyond, the pool may have much less.
    return isWalked || (pool.tokens.length > 0 && liquidity === null);
  };
  const activeOf = (leg: Leg): number => activeLiquidity(leg, inputs);
  // USD price of the token at the end of the current hop. The loop goes from the anchor back to the audited token.
  let nextUsd = anchors.get(anchor) ?? 0;
  // Tokens through which a hop's token could get another route: the anchors and the later tokens of the path.
  const tokensAhead = new Set<string>(anchors.keys());
  const costs = [...hops].reverse().map(({ route, hop }) => {
    const { token, next } = route;
    const usdOfNext = nextUsd;
    nextUsd *= hop.price;
    const usdOf = ({ token0, token1 }: Leg): number => {
      const otherToken = token0 === token ? token1 : token0;
      return otherToken === next ? usdOfNext : (anchors.get(otherToken) ?? 0);
    };
    tokensAhead.add(next);
    const poolFeesWith = (tokensOfPools: ReadonlySet<string>): number[] =>
      tokens.listFees(token, tokensOfPools, block.number).map((pips) => pips / PIPS);
    const feesToNext = poolFeesWith(new Set(anchors.has(next) ? [next, ...anchors.keys()] : [next]));
    const otherFees = poolFeesWith(tokensAhead);
    return costHop(route, hop, { market, usdOf, feeOf, isRanged, activeOf, fees: feesToNext, otherFees });
  });
  return manipulationCost(costs);
}

/** Liquidity of a V3 pool at its current price, in whole tokens. */
function activeLiquidity({ pair, token0, token1 }: Leg, { rawStates, tokens }: AuditInputs): number {
  const decimals0 = tokens.findToken(token0)?.decimals ?? 0;
  const decimals1 = tokens.findToken(token1)?.decimals ?? 0;
  return Number(rawStates.get(pair)?.liquidity ?? 0) / 10 ** ((decimals0 + decimals1) / 2);
}

/**
 * Number of blocks since one of the hops' pools last changed. Null for an anchor, and for a token without a price.
 */
export function ageOfPrice(
  { usd, hops }: PricedPath,
  { block, legs, rawStates }: AuditInputs,
): number | null {
  if (usd === null) return null;
  const changeBlocks = hops.flatMap(({ hop }) =>
    hop.pools.flatMap(({ key }) => {
      const pool = legs.get(key)?.pool;
      const state = pool === undefined ? undefined : rawStates.get(pool.address);
      return state === undefined ? [] : [blockOfOrd(state.ord)];
    }),
  );
  return changeBlocks.length === 0 ? null : Math.max(0, block.number - Math.max(...changeBlocks));
}
