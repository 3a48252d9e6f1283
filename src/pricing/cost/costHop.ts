/** Converts a hop to the input of the manipulation cost. Pure. */
import { knownSide, presentLiquidity } from '../depth';
import type { HopPrice } from '../hop';
import type { Leg } from '../leg';
import type { CostHop } from './manipulationCost';
import type { Market } from '../market';
import type { PriceRoute } from '../priceRoute';

interface CostContext<L extends Leg> {
  readonly market: Market<L>;
  /** USD per whole token of the known side of a leg. */
  usdOf(leg: L): number;
  /** Fee of the leg's pool, as a part of the amount paid in, 0–1. */
  feeOf(leg: L): number;
  /** Whether the liquidity of a leg has ranges (V3). */
  isRanged(leg: L): boolean;
  /** Active liquidity of a leg at its price, in whole tokens. */
  activeOf(leg: L): number;
  /** Fees of all pools that could price the hop. */
  readonly fees: readonly number[];
  /** Fees of all pools that could give the token of the hop another route. */
  readonly otherFees: readonly number[];
}

export function costHop<L extends Leg>(
  { token, pools }: Pick<PriceRoute<L>, 'token' | 'pools'>,
  hop: HopPrice,
  { market, usdOf, feeOf, isRanged, activeOf, fees, otherFees }: CostContext<L>,
): CostHop {
  const hopPoolByKey = new Map(hop.pools.map((pool) => [pool.key, pool]));
  const allFees = [...fees, ...pools.map(({ leg }) => feeOf(leg))];
  const revivable = pools.filter(({ leg }) => isRevivable(leg, hop, market));
  const dormant = revivable.find(({ leg }) => isRanged(leg)) ?? revivable[0];
  return {
    dormant: dormant === undefined ? null : { isRanged: isRanged(dormant.leg) },
    feeMax: Math.max(0, ...allFees),
    otherFeeMax: Math.max(0, ...otherFees),
    hasOthers: Math.max(fees.length, pools.length) > 1,
    hasUnused: fees.length > pools.length,
    pools: pools.flatMap(({ leg }) => {
      const hopPool = hopPoolByKey.get(leg.key);
      if (hopPool === undefined) return [];
      const state = market.stateOf(leg);
      const liquidity = presentLiquidity(market.recordOf(leg), state, market.epochTime);
      const [isToken0, usd] = [leg.token0 !== token, usdOf(leg)];
      const { depthUsd } = knownSide({ state, liquidity }, isToken0, usd);
      const sqrtPrice = Math.sqrt(state.price);
      const sideUsd = (isToken0 ? liquidity / sqrtPrice : liquidity * sqrtPrice) * usd;
      const log = Math.log(hopPool.price / hop.price);
      const concentration = isRanged(leg) && liquidity > 0 ? Math.max(1, activeOf(leg) / liquidity) : 1;
      const [share, fee] = [hopPool.weight, feeOf(leg)];
      const isVault = leg.isVault === true;
      return [{ sideUsd, depthUsd, share, log, fee, isRanged: isRanged(leg), concentration, isVault }];
    }),
  };
}

/**
 * Whether a pool of the route left the hop because it has no depth now. New liquidity gives the pool the weight that it
 * had when the route was made. A vault pool without a price cannot get one again.
 */
function isRevivable<L extends Leg>(leg: L, { excluded }: HopPrice, market: Market<L>): boolean {
  if (leg.isVault === true && !(market.stateOf(leg).price > 0)) return false;
  return excluded.some(({ key, reason }) => key === leg.key && reason === 'low_liquidity');
}
