/**
 * The state of all pools at one moment, as pricing needs it: current states, records of earlier epochs, and trades
 * since the running epoch began. Derives the inputs of a route's hop.
 */
import type { Hex } from '../domain/hex';
import { decay, meanPrice, type LegRecord } from './epoch';
import { priceHop, type HopInput, type HopPrice } from './hop';
import { DEPTH_PART, type Leg, type LegState } from './leg';
import type { PriceAnchor, PriceRoute, RoutePool } from './priceRoute';

export interface Market<L extends Leg = Leg> {
  stateOf(leg: L): LegState;
  /** Undefined: the leg first moved within the running epoch. */
  recordOf(leg: L): LegRecord | undefined;
  /** Whole token1 traded since the running epoch began. */
  tradedIn(leg: L): number;
  /** Time of the last block before the running epoch, unix seconds. Means are taken at this time. */
  readonly epochTime: number;
}

/** USD per whole token of the anchors in force. */
export type AnchorPrices = ReadonlyMap<Hex, number>;

export function anchorPrices(anchors: readonly PriceAnchor[]): AnchorPrices {
  return new Map(anchors.map(({ address, priceUsd }) => [address, priceUsd]));
}

/**
 * The price of a token in the next token of its route, both in whole tokens. If the next token is an anchor, pools
 * with other anchors count too, converted by the anchors' given prices.
 */
export function priceRouteHop<L extends Leg>(
  route: Pick<PriceRoute<L>, 'token' | 'next' | 'pools'>,
  market: Market<L>,
  anchors: AnchorPrices,
): HopPrice {
  return priceHop(route.pools.map((pool) => hopInput(route, pool, market, anchors)));
}

function hopInput<L extends Leg>(
  { token, next }: Pick<PriceRoute, 'token' | 'next'>,
  { leg, weight }: RoutePool<L>,
  market: Market<L>,
  anchors: AnchorPrices,
): HopInput {
  const fromToken0 = leg.token0 === token;
  const other = fromToken0 ? leg.token1 : leg.token0;
  const ratio = other === next ? 1 : (anchors.get(other) ?? 0) / (anchors.get(next) ?? Infinity);
  const record = market.recordOf(leg);
  return {
    key: leg.key,
    weight,
    price: turned(market.stateOf(leg).price, fromToken0, ratio),
    meanPrice: record === undefined ? 0 : turned(meanPrice(record, market.epochTime), fromToken0, ratio),
    traded: record === undefined || tradedDepth(record, market.tradedIn(leg), market.epochTime),
  };
}

function turned(price: number, fromToken0: boolean, ratio: number): number {
  return price > 0 ? (fromToken0 ? price : 1 / price) * ratio : 0;
}

/** Whether the leg traded at least its own 2 % depth within the window. */
function tradedDepth(record: LegRecord, tradedSince: number, epochTime: number): boolean {
  const depth = DEPTH_PART * record.depthLiquidity * Math.sqrt(record.state.price);
  return decay(record, epochTime) + tradedSince >= depth;
}
