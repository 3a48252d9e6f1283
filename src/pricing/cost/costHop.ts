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
}

export function costHop<L extends Leg>(
  { token, pools }: Pick<PriceRoute<L>, 'token' | 'pools'>,
  hop: HopPrice,
  { market, usdOf, feeOf, isRanged, activeOf, fees }: CostContext<L>,
): CostHop {
  const kept = new Map(hop.pools.map((pool) => [pool.key, pool]));
  const all = [...fees, ...pools.map(({ leg }) => feeOf(leg))];
  return {
    feeMax: Math.max(0, ...all),
    hasOthers: Math.max(fees.length, pools.length) > 1,
    pools: pools.flatMap(({ leg }) => {
      const found = kept.get(leg.key);
      if (found === undefined) return [];
      const state = market.stateOf(leg);
      const liquidity = presentLiquidity(market.recordOf(leg), state, market.epochTime);
      const [isToken0, usd] = [leg.token0 !== token, usdOf(leg)];
      const { depthUsd } = knownSide({ state, liquidity }, isToken0, usd);
      const root = Math.sqrt(state.price);
      const sideUsd = (isToken0 ? liquidity / root : liquidity * root) * usd;
      const log = Math.log(found.price / hop.price);
      const concentration = isRanged(leg) && liquidity > 0 ? Math.max(1, activeOf(leg) / liquidity) : 1;
      const [share, fee] = [found.weight, feeOf(leg)];
      const isVault = leg.isVault === true;
      return [{ sideUsd, depthUsd, share, log, fee, isRanged: isRanged(leg), concentration, isVault }];
    }),
  };
}
