/**
 * What the pools were at one instant, as pricing asks for it: states, what they were over the epochs before, and what
 * was traded since the running epoch began. The inputs of a route's hop follow from it.
 */
import type { Hex } from '../domain/hex';
import { decay, meanPrice, type LegRecord } from './epoch';
import { priceHop, type HopInput, type HopPrice } from './hop';
import { DEPTH_PART, type LegKey, type LegState } from './leg';
import type { PriceAnchor, Route, RoutePool } from './route';

export interface Market {
  stateOf(key: LegKey): LegState;
  /** Undefined: the leg first moved within the running epoch. */
  recordOf(key: LegKey): LegRecord | undefined;
  /** Whole token1 traded since the running epoch began. */
  tradedIn(key: LegKey): number;
  /** Time of the last block before the running epoch, unix seconds: as of then means are taken. */
  readonly epochTime: number;
}

/** USD per whole token of the anchors in force. */
export type AnchorPrices = ReadonlyMap<Hex, number>;

export function anchorPrices(anchors: readonly PriceAnchor[]): AnchorPrices {
  return new Map(anchors.map(({ address, priceUsd }) => [address, priceUsd]));
}

/**
 * The price of a token in the next one of its route, both whole. Where that is an anchor, pools with other anchors count
 * too, at the ratio of the anchors' given prices.
 */
export function priceRouteHop(
  route: Pick<Route, 'token' | 'next' | 'pools'>,
  market: Market,
  anchors: AnchorPrices,
): HopPrice {
  return priceHop(route.pools.map((pool) => hopInput(route, pool, market, anchors)));
}

function hopInput(
  { token, next }: Pick<Route, 'token' | 'next'>,
  { leg, weight }: RoutePool,
  market: Market,
  anchors: AnchorPrices,
): HopInput {
  const fromToken0 = leg.token0 === token;
  const other = fromToken0 ? leg.token1 : leg.token0;
  const ratio = other === next ? 1 : (anchors.get(other) ?? 0) / (anchors.get(next) ?? Infinity);
  const turn = (price: number): number => (price > 0 ? (fromToken0 ? price : 1 / price) * ratio : 0);
  const record = market.recordOf(leg.key);
  return {
    key: leg.key,
    weight,
    price: turn(market.stateOf(leg.key).price),
    meanPrice: record === undefined ? 0 : turn(meanPrice(record, market.epochTime)),
    traded: record === undefined || tradedDepth(record, market),
  };
}

/** Whether the leg traded at least its own 2 % depth within the window. */
function tradedDepth(record: LegRecord, market: Market): boolean {
  const depth = DEPTH_PART * record.depthLiquidity * Math.sqrt(record.state.price);
  return decay(record, market.epochTime) + market.tradedIn(record.leg.key) >= depth;
}
