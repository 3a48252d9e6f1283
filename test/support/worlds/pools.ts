/**
 * Small sets of pools for pricing tests: pools with given reserves, and the records
 * (`LegRecord`) of an epoch in which no pool changed.
 */
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { BORN_BEFORE, type LegRecord } from '../../../src/pricing/epoch';
import { makeLeg, type Leg, type LegState } from '../../../src/pricing/leg';
import { PoolIndex } from '../../../src/pricing/poolIndex';
import type { AnchorPrices } from '../../../src/pricing/market';
import type { PriceAnchor, PriceRoute } from '../../../src/pricing/priceRoute';
import { findEpochRoutes } from '../../../src/pricing/routes/findEpochRoutes';

export const token = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
export const poolAddress = (n: number): Hex => `0x${'b'.repeat(30)}${n.toString(16).padStart(10, '0')}`;

/** Anchors and the native token of these tests. */
export const DAI = token(1);
export const USDC = token(2);
export const USDT = token(3);
export const NATIVE = token(9);

export interface TestPool {
  readonly leg: Leg;
  readonly state: LegState;
}

/** A V2 pool with these amounts in whole tokens. */
export function v2(n: number, a: Hex, amountA: number, b: Hex, amountB: number): TestPool {
  const aFirst = a < b;
  const leg = makeLeg(poolAddress(n), 1, aFirst ? a : b, aFirst ? b : a);
  const [reserve0, reserve1] = aFirst ? [amountA, amountB] : [amountB, amountA];
  const price = reserve0 > 0 && reserve1 > 0 ? reserve1 / reserve0 : 0;
  return { leg, state: { price, liquidity: Math.sqrt(reserve0) * Math.sqrt(reserve1), reserve0, reserve1 } };
}

/** A V3 pool with a price of b in a, an active liquidity and real balances. */
export function v3(
  n: number,
  a: Hex,
  b: Hex,
  state: {
    readonly price: number;
    readonly liquidity: number;
    readonly balanceA: number;
    readonly balanceB: number;
  },
): TestPool {
  const { price, liquidity, balanceA, balanceB } = state;
  const aFirst = a < b;
  return {
    leg: makeLeg(poolAddress(n), 1, aFirst ? a : b, aFirst ? b : a),
    state: aFirst
      ? { price, liquidity, reserve0: balanceA, reserve1: balanceB }
      : { price: 1 / price, liquidity, reserve0: balanceB, reserve1: balanceA },
  };
}

interface Scene {
  readonly pools: readonly TestPool[];
  readonly anchors?: readonly PriceAnchor[];
  readonly wrappedNative?: Hex | null;
  /** Overrides of the pools' records. */
  readonly records?: Readonly<Record<number, Partial<LegRecord>>>;
}

export const ANCHORS: readonly PriceAnchor[] = [
  { address: DAI, priceUsd: 1 },
  { address: USDC, priceUsd: 1 },
];
/** The first block of an epoch. */
export const BLOCK = 3_200;
export const TIME = 1_700_000_000;

/** Records of an epoch in which every pool kept its current state. */
function recordsOf({ pools, records = {} }: Scene): Map<string, LegRecord> {
  return new Map(
    pools.map(({ leg, state }, i) => [
      leg.key,
      {
        leg,
        state,
        depthLiquidity: state.liquidity,
        depthWeight: 1,
        meanLog: state.price > 0 ? Math.log(state.price) : 0,
        traded: 0,
        at: TIME,
        movedAt: TIME,
        unswapped: 0,
        makers: [],
        bornBlock: BORN_BEFORE,
        ...records[i],
      },
    ]),
  );
}

interface RoutedToken {
  readonly route: PriceRoute;
  readonly usd: number;
}

interface FoundRoutes {
  readonly anchors: AnchorPrices;
  readonly routed: ReadonlyMap<Hex, RoutedToken>;
}

/** The routes of an epoch over legs with these records. */
export function findRoutesOver(
  config: { readonly anchors: readonly PriceAnchor[]; readonly wrappedNative: Hex | null },
  legs: readonly Leg[],
  records: ReadonlyMap<string, LegRecord>,
  { block, time }: { readonly block: number; readonly time: number },
): FoundRoutes {
  const index = new PoolIndex();
  for (const leg of legs) index.addLeg(leg, false);
  for (const leg of legs) {
    const record = records.get(leg.key);
    if (record !== undefined) index.loadRecord(record);
  }
  const { anchors, routed, changed } = findEpochRoutes({
    matureAge: 100,
    anchorsBefore: new Map(),
    depths: index.depths,
    ...config,
    block,
    time,
    tokenOf: ({ address }) => index.tokenOf(address),
    legsOf: (anchor) => index.tokenOf(anchor).legs,
  });
  // No token had a route before, so every route is a change.
  return {
    anchors,
    routed: new Map(
      changed.map(([token, route]) => [token.address, { route, usd: routed.get(token)?.usd ?? NaN }]),
    ),
  };
}

export function routesOf(scene: Scene): FoundRoutes {
  const config = {
    anchors: scene.anchors ?? ANCHORS,
    wrappedNative: scene.wrappedNative ?? NATIVE,
  };
  const legs = scene.pools.map(({ leg }) => leg);
  return findRoutesOver(config, legs, recordsOf(scene), { block: BLOCK, time: TIME });
}

export function routedOf(scene: Scene, token: Hex): RoutedToken | undefined {
  return routesOf(scene).routed.get(token);
}

/** More tokens than any path has. */
const PATH_MAX = 9;

/** The tokens on the path from one token to its anchor. */
export function pathOf(routes: FoundRoutes, token: Hex): Hex[] {
  const path: Hex[] = [];
  for (
    let current = token;
    current !== ZERO_ADDRESS;
    current = routes.routed.get(current)?.route.next ?? ZERO_ADDRESS
  ) {
    path.push(current);
    if (path.length > PATH_MAX) throw new Error('a route does not end at an anchor');
  }
  return path;
}
