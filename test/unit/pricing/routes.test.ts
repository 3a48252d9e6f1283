/**
 * Compares the routes of an epoch (depth, trust, order, anchors) with sums done by hand, and tests known ways
 * to fake a price.
 */
import { ZERO_ADDRESS } from '../../../src/domain/hex';
import { levelOf } from '../../../src/pricing/confidence';
import { weightedLiquidity } from '../../../src/domain/pools/weightedLiquidity';
import {
  DAI,
  BLOCK,
  NATIVE,
  pathOf,
  poolAddress,
  routesOf,
  routedOf,
  TIME,
  token,
  USDC,
  USDT,
  v2,
  type TestPool,
  v3,
} from '../../support/worlds/pools';

const DAY = 86_400;
const T = token(50);
const PART = Math.sqrt(1.02) - 1;
const steps = (usd: number): number => 2 ** (Math.round(Math.log2(usd) * 8) / 8);
const THREE = [DAI, USDC, USDT].map((address) => ({ address, priceUsd: 1 }));

test('the depth of a V2 pool is r · (√1.02 − 1), the USD on its known side r that move the price by 2 %', () => {
  const found = routedOf({ pools: [v2(1, T, 500, DAI, 10_000)] }, T)!;
  // 10,000 · 0.00995049 = 99.5 USD, rounded to a power of 2^(1/8): 2^(53/8).
  expect(found.route.depthUsd).toBe(2 ** (53 / 8));
  expect(found.usd).toBe(20);
  expect(found.route).toMatchObject({ next: DAI, hops: 1, confidence: 0.5, recent: false, stale: false });
});

test('the depth of a V3 pool follows from its active liquidity, but is at most its real balance of either token', () => {
  const of = (balanceB: number, balanceA = 1e6) =>
    routedOf({ pools: [v3(1, T, DAI, { price: 4, liquidity: 1e6, balanceA, balanceB })] }, T)!;
  // The pool has 10^6 · √4 = 2,000,000 virtual DAI. Moving the price by 2 % takes 19,901 of them.
  expect(of(5e6).route.depthUsd).toBe(steps(2e6 * PART));
  expect(of(5e6).route.confidence).toBe(1);
  expect(of(1_000).route.depthUsd).toBe(steps(1_000));
  // The confidence is 1,000 / (1,000 + 10,000) = 0.09.
  expect(of(1_000).route.confidence).toBe(0.09);
  expect(of(5e6).usd).toBe(4);
  // 90 T at 4 DAI give a depth of 360 DAI, which is the 2 % depth of a V2 pool with 360 / (√1.02 − 1) = 36,179 DAI.
  expect(of(5e6, 90).route).toMatchObject({ depthUsd: steps(360), confidence: 0.78 });
});

test('a weighted pool has the liquidity of a V2 pool with the same depth, to first order', () => {
  // In an 80/20 pool, 0.02 · 0.8 of the balance B1 moves the price by 2 %. A V2 pool of r1 takes 0.01 of r1,
  // so r1 = 1.6 · B1.
  const liquidity = weightedLiquidity(300, 1_000, 0.8, 0.2);
  const spot = 1_000 / 0.2 / (300 / 0.8);
  expect(liquidity * Math.sqrt(spot)).toBeCloseTo(1_600, 9);
  expect(weightedLiquidity(300, 1_000, 0, 0)).toBe(0);
});

test('confidence grows with the USD on the known side: 0.09 for 1k, 0.5 for 10k, 0.91 for 100k', () => {
  const trust = (usd: number): number => routedOf({ pools: [v2(1, T, 7, DAI, usd)] }, T)!.route.confidence;
  expect([1_000, 10_000, 100_000, 1e9].map(trust)).toEqual([0.09, 0.5, 0.91, 1]);
  expect([0.9, 0.89, 0.5, 0.49, 0.01, 0].map(levelOf)).toEqual([
    'high',
    'medium',
    'medium',
    'low',
    'low',
    'none',
  ]);
});

test('the confidence of a price is at least 0.01, so 0 always means that there is no price', () => {
  const found = routedOf({ pools: [v2(1, T, 7, DAI, 51)], records: { 0: { movedAt: TIME - 2 * DAY } } }, T)!;
  expect(found.route.confidence).toBe(0.01);
  expect(found.route).toMatchObject({ stale: true, warnings: ['stale_price', 'thin_anchor'] });
});

test('confidence falls with the age of the last move: 1 up to an hour, 0.5 at a day, then 0.2', () => {
  const trust = (age: number): number | undefined =>
    routedOf({ pools: [v2(1, T, 7, DAI, 1e9)], records: { 0: { movedAt: TIME - age } } }, T)?.route
      .confidence;
  expect([3_600, 3_600 + (DAY - 3_600) / 2, DAY, DAY + 1, 30 * DAY].map(trust)).toEqual([
    1, 0.75, 0.5, 0.2, 0.2,
  ]);
  expect(trust(30 * DAY + 1)).toBeUndefined();
});

test('confidence falls with the disagreement of the pools', () => {
  // Two pools of 10^9 USD differ by 4 %. Each differs from the middle by half of ln(1.04), so the agreement is 1 −
  // 0.0196 / 0.1.
  const pools = [v2(1, T, 1e9, DAI, 1e9), v2(2, T, 1e9, DAI, 1.04e9)];
  expect(routedOf({ pools }, T)!.route.confidence).toBe(0.8);
});

test('a pool with less than 50 USD on the known side is ignored', () => {
  expect(routedOf({ pools: [v2(1, T, 1e9, DAI, 49.9)] }, T)).toBeUndefined();
  expect(routedOf({ pools: [v2(1, T, 1e-9, DAI, 50.1)] }, T)?.usd).toBeCloseTo(50.1e9, 3);
});

test('the native token is priced over all its pools with all anchors', () => {
  const pools = [
    v2(1, NATIVE, 1e6, DAI, 50_000),
    v2(2, NATIVE, 1e6, USDC, 50_400),
    v2(3, NATIVE, 1e6, USDC, 50_800),
  ];
  const found = routedOf({ pools }, NATIVE)!;
  const weights = [50_000, 50_400, 50_800].map((usd) => steps(usd * PART));
  const sum = weights.reduce((a, b) => a + b, 0);
  const mean = [0.05, 0.0504, 0.0508].reduce((price, value, i) => price + (value * weights[i]!) / sum, 0);
  expect(found.usd).toBeCloseTo(mean, 15);
  expect(found.route).toMatchObject({ next: USDC, hops: 1 });
  expect(found.route.pools.map(({ leg }) => leg.key)).toEqual([1, 2, 3].map(poolAddress));
});

test('an anchor with a configured price other than 1 USD gives this price to the tokens that it prices', () => {
  const anchors = [
    { address: DAI, priceUsd: 1 },
    { address: USDC, priceUsd: 2 },
  ];
  const pools = [v2(1, T, 100, DAI, 10_000), v2(2, T, 100, USDC, 5_000)];
  const found = routedOf({ pools, anchors }, T)!;
  expect(found.usd).toBeCloseTo(100, 12);
});

test('a token four hops from an anchor has a price, and a token five hops away has none', () => {
  const chain = [1, 2, 3, 4, 5].map((n) => token(100 + n));
  const pools = chain.map((of, i) => v2(i + 1, of, 1e6, chain[i - 1] ?? DAI, 1e6));
  const routes = routesOf({ pools });
  expect(chain.map((of) => routes.routed.get(of)?.route.hops)).toEqual([1, 2, 3, 4, undefined]);
  expect(pathOf(routes, chain[3]!)).toEqual([chain[3], chain[2], chain[1], chain[0], DAI]);
});

test('the deepest path is chosen, not the shortest', () => {
  const pools = [v2(1, T, 1e6, DAI, 100), v2(2, NATIVE, 1e6, DAI, 1e6), v2(3, T, 2e6, NATIVE, 1e6)];
  const found = routedOf({ pools }, T)!;
  expect(found.route).toMatchObject({ next: NATIVE, hops: 2 });
  expect(found.usd).toBe(0.5);
});

test('of equally deep paths, the path with the smaller next address is chosen, in any input order', () => {
  const [a, b] = [token(20), token(30)];
  const pools = [
    v2(1, a, 1e6, DAI, 1e6),
    v2(2, b, 1e6, DAI, 1e6),
    v2(3, T, 1e6, b, 1e6),
    v2(4, T, 1e6, a, 1e6),
  ];
  expect(routedOf({ pools }, T)!.route.next).toBe(a);
  expect(routedOf({ pools: [...pools].reverse() }, T)!.route.next).toBe(a);
});

test('of two anchors that disagree, the cheaper anchor loses its role and is priced like any token', () => {
  const pools = [
    v2(1, DAI, 1e6, USDC, 0.9e6),
    v2(2, T, 1e6, USDC, 1e6),
    v2(3, NATIVE, 1e6, USDC, 1e6),
    v2(4, T, 1e5, DAI, 1e5),
  ];
  const routes = routesOf({ pools });
  expect([...routes.anchors]).toEqual([[USDC, 1]]);
  expect(routes.routed.get(DAI)).toMatchObject({
    usd: 0.9,
    route: { next: USDC, warnings: ['anchor_depeg'] },
  });
  expect(routes.routed.get(USDC)!.route).toMatchObject({ next: ZERO_ADDRESS, hops: 0 });
});

test('of three anchors, an anchor more than 2 % below the other two loses its role', () => {
  const triangle = (usdt: number) => [
    v2(1, DAI, 1e6, USDC, 1e6),
    v2(2, DAI, 1e6, USDT, 1e6 / usdt),
    v2(3, USDC, 1e6, USDT, 1e6 / usdt),
  ];
  const sound = (usdt: number) => [...routesOf({ pools: triangle(usdt), anchors: THREE }).anchors.keys()];
  expect(sound(0.5)).toEqual([DAI, USDC]);
  expect(sound(0.985)).toEqual([DAI, USDC, USDT]);
  expect(routesOf({ pools: triangle(0.5), anchors: THREE }).routed.get(USDT)!.usd).toBeCloseTo(0.5, 12);
});

test('an anchor that trades above the other anchors keeps its configured price, and the other anchors keep their role', () => {
  for (const usdt of [1.03, 1.5, 40]) {
    const pools = [
      v2(1, DAI, 1e6, USDC, 1e6),
      v2(2, DAI, 1e6, USDT, 1e6 / usdt),
      v2(3, USDC, 1e6, USDT, 1e6 / usdt),
    ];
    const { anchors, routed } = routesOf({ pools, anchors: THREE });
    expect([...anchors]).toEqual([
      [DAI, 1],
      [USDC, 1],
      [USDT, 1],
    ]);
    expect(routed.get(USDT)!.route.warnings).toEqual(['anchor_above_peg']);
    expect(routed.get(DAI)!.route.warnings).toEqual([]);
  }
});

test('an anchor with deep native pools keeps its role when a shallow pool trades it at a false price', () => {
  const native = [v2(1, NATIVE, 1e9, DAI, 8e4), v2(2, NATIVE, 1e9, USDC, 8e4)];
  const sound = (pools: readonly TestPool[]) => [
    ...routesOf({ pools: [...native, ...pools] }).anchors.keys(),
  ];
  expect(sound([v2(3, USDC, 1_200, DAI, 240)])).toEqual([DAI, USDC]);
  expect(sound([v2(3, USDC, 12_000, DAI, 2_400)])).toEqual([DAI, USDC]);
  // Ten shallow pools together have less depth than the native pools.
  const many = Array.from({ length: 10 }, (_, i) => v2(10 + i, USDC, 12_000, DAI, 2_400));
  expect(sound(many)).toEqual([DAI, USDC]);
  // A pool with more depth than the native pools decides the price.
  expect(sound([v2(3, USDC, 2e6, DAI, 4e5)])).toEqual([DAI]);
});

test('anchors without a common pool are compared through the native token', () => {
  const pools = [v2(1, NATIVE, 1e6, DAI, 1e6), v2(2, NATIVE, 1e6, USDC, 0.9e6)];
  // One native coin costs 1 DAI or 0.9 USDC, so one DAI is worth less than one USDC.
  expect([...routesOf({ pools }).anchors.keys()]).toEqual([USDC]);
  const dust = [v2(1, NATIVE, 900, DAI, 900), v2(2, NATIVE, 1e6, USDC, 0.9e6)];
  expect([...routesOf({ pools: dust }).anchors.keys()]).toEqual([DAI, USDC]);
});

test('a direct pool between two anchors outranks a false comparison through the native token', () => {
  // The native pools of USDC say 0.50 USD, the direct pool says 1 USD.
  const native = [v2(1, NATIVE, 1e9, DAI, 50_000), v2(2, NATIVE, 1e9, USDC, 100_000)];
  const sound = (pools: readonly TestPool[]) => [...routesOf({ pools }).anchors.keys()];
  expect(sound(native)).toHaveLength(1);
  expect(sound([...native, v2(3, USDC, 40_000, DAI, 40_000)])).toEqual([DAI, USDC]);
});

test('direct pools beat a deeper path through a token without another market', () => {
  const mine = token(60);
  const pools = [
    v2(1, T, 350_000, DAI, 350_000),
    // Ten million USD, held by the attacker, give T a price of 1000 USD through a token of the attacker.
    v2(2, mine, 1e7, DAI, 1e7),
    v2(3, T, 1e4, mine, 1e7),
  ];
  expect(routedOf({ pools }, T)).toMatchObject({ usd: 1, route: { next: DAI } });
  const byNative = [v2(4, NATIVE, 1e10, DAI, 5e5), v2(5, T, 350_000, NATIVE, 7e9), ...pools.slice(1)];
  expect(routedOf({ pools: byNative }, T)!.usd).toBeCloseTo(1, 9);
  // Pools between two tokens of the attacker do not make another market.
  const [second, third] = [token(61), token(62)];
  const own = [v2(6, second, 1e6, mine, 1e6), v2(7, third, 1e6, second, 1e6), v2(8, third, 1e6, mine, 1e6)];
  expect(routedOf({ pools: [...pools, ...own] }, T)).toMatchObject({ usd: 1, route: { next: DAI } });
});

test('a direct pool of 25,000 USD does not replace a path of ten million', () => {
  const hub = token(60);
  const pools = [
    v2(1, T, 1e7, hub, 1e7),
    v2(2, hub, 1e7, DAI, 1e7),
    v2(3, NATIVE, 1e10, DAI, 5e5),
    v2(4, hub, 5e4, NATIVE, 1e9),
    v2(5, T, 25_000 / 1.5, USDC, 25_000),
  ];
  expect(routedOf({ pools }, T)).toMatchObject({ usd: 1, route: { next: hub } });
});

test('two deep paths through a token do not make each other private when each has a direct pool', () => {
  const [hub, other] = [token(60), token(61)];
  const pools = [
    v2(1, hub, 3e6, DAI, 3e6),
    v2(2, T, 8e5, hub, 8e5),
    v2(3, other, 15_000, hub, 15_000),
    v2(4, other, 5_000, USDC, 5_000),
    // The attacker adds 100,000 USD to a direct pool of T at twice the price, and removes them later.
    v2(5, T, 5e4, USDC, 1e5),
  ];
  expect(routedOf({ pools }, T)).toMatchObject({ usd: 1, route: { next: hub, warnings: [] } });
});

test('a route through a token without another market is not trusted', () => {
  const mine = token(60);
  const path = [v2(2, mine, 1e7, DAI, 1e7), v2(3, T, 1e4, mine, 1e7)];
  expect(routedOf({ pools: path }, T)!.route).toMatchObject({ confidence: 0.4, warnings: ['private_route'] });
  // A market with another token shows that not only the owner can trade the next token.
  const market = [v2(4, NATIVE, 1e10, DAI, 5e5), v2(5, mine, 2_000, NATIVE, 4e7)];
  expect(routedOf({ pools: [...path, ...market] }, T)!.route).toMatchObject({
    confidence: 1,
    warnings: [],
  });
});

test('a peg is judged by mean prices and depths, so a short price push does not change it', () => {
  const pools = [v2(1, DAI, 1e6, USDC, 0.5e6)];
  const pushed = routesOf({ pools, records: { 0: { meanLog: 0 } } });
  expect([...pushed.anchors.keys()]).toEqual([DAI, USDC]);
});

test('thin pools that quote a thousand times the price change nothing, alone or several together', () => {
  const deep = v2(1, T, 1e6, DAI, 1e6);
  for (const count of [1, 2, 3, 9]) {
    const fakes = Array.from({ length: count }, (_, i) => v2(10 + i, T, 0.1, DAI, 100));
    expect(routedOf({ pools: [deep, ...fakes] }, T)!.usd).toBe(1);
  }
});

test('a pool whose 30-minute mean liquidity is 0 sets a price only if no other pool exists', () => {
  const pools = [v2(1, T, 1e6, DAI, 1e6), v2(2, T, 1e6, DAI, 1e9)];
  const records = { 1: { depthLiquidity: 0 } };
  expect(routedOf({ pools, records }, T)!.usd).toBe(1);
  const alone = routedOf({ pools: pools.slice(1), records: { 0: { depthLiquidity: 0 } } }, T)!;
  expect(alone.route).toMatchObject({ recent: true, confidence: 0.4 });
  expect(alone.route.warnings).toContain('recent_pool');
});

test.each([
  ['younger than 100 blocks', { bornBlock: BLOCK - 99, makers: [token(1), token(2)] }],
  ['traded by one maker', { bornBlock: BLOCK - 100, makers: [token(1)] }],
])('a pool %s sets no price while another pool exists, and alone a price of confidence 0.4', (_, young) => {
  const pools = [v2(1, T, 1e6, DAI, 1e6), v2(2, T, 1e6, DAI, 1e9)];
  expect(routedOf({ pools, records: { 1: young } }, T)!.usd).toBe(1);
  const alone = routedOf({ pools: pools.slice(1), records: { 0: young } }, T)!;
  expect(alone.route).toMatchObject({ confidence: 0.4 });
  expect(alone.route.warnings).toEqual(['recent_pool', 'young_pool']);
});

test('a pool that is 100 blocks old and has two makers carries a price of high confidence', () => {
  const grown = { bornBlock: BLOCK - 100, makers: [token(1), token(2)] };
  const found = routedOf({ pools: [v2(1, T, 1e6, DAI, 1e6)], records: { 0: grown } }, T)!;
  expect(found.route).toMatchObject({ recent: false, confidence: 0.99, warnings: [] });
});

test('a self-issued token with huge reserves on both sides gives no other token a trusted price', () => {
  const [mine, friend] = [token(60), token(61)];
  const pools = [
    v2(1, T, 1e6, DAI, 1e5),
    // 60 USD set the price of the token. The other pools hold 10^12 of these tokens, which seem to be worth far more.
    v2(2, mine, 6e-5, DAI, 60),
    v2(3, mine, 1e12, T, 1e3),
    v2(4, mine, 1e12, friend, 1e12),
  ];
  const routes = routesOf({ pools });
  expect(routes.routed.get(T)).toMatchObject({ usd: 0.1, route: { next: DAI, confidence: 0.91 } });
  expect(routes.routed.get(mine)!.route.confidence).toBe(0.01);
  const path = pathOf(routes, friend).slice(0, -1);
  const trust = path.reduce((product, of) => product * routes.routed.get(of)!.route.confidence, 1);
  expect(levelOf(trust)).toBe('low');
});

test('a forked stablecoin that is not an anchor is priced by its pools', () => {
  const forked = token(70);
  const pools = [v2(1, NATIVE, 1e9, DAI, 1e5), v2(2, forked, 1e9, NATIVE, 1e8), v2(3, T, 1e9, forked, 1e9)];
  const routes = routesOf({ pools });
  expect(routes.routed.get(forked)!.usd).toBeCloseTo(1e-5, 18);
  expect(routes.routed.get(T)!.usd).toBeCloseTo(1e-5, 18);
});
