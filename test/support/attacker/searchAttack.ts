/**
 * Searches the cheapest attack on a market. Tries plain attacks first, then random changes to the best attacks.
 * Compares the loss with the cost that was published in the block before the attack.
 */
import type { Hex } from '../../../src/domain/hex';
import { costHop } from '../../../src/pricing/cost/costHop';
import {
  manipulationCost,
  type CostHop,
  type ManipulationCost,
  type MoveCosts,
} from '../../../src/pricing/cost/manipulationCost';
import { EPOCH_BLOCKS, epochStart, unswappedAt } from '../../../src/pricing/epoch';
import { DEPTH_PART } from '../../../src/pricing/leg';
import { anchorPrices, ceilingsOf, priceRouteHop, type Market } from '../../../src/pricing/market';
import type { IndexedLeg } from '../../../src/pricing/poolIndex';
import type { Pricer } from '../../../src/pricing/pricer';
import { isAnchorRoute, type PriceRoute } from '../../../src/pricing/priceRoute';
import { Random } from '../random';
import { ANCHORS, DAI, NATIVE, poolAddress, token } from '../worlds/pools';
import type { AttackMove, AttackPlan, AttackResult, AttackRunner } from './attackPlan';
import { timeOf, type SimMarket } from './simMarket';

export const BLOCKS_MAX = 40;
/** Smallest allowed loss of an attack, as a fraction of the published cost. */
export const RATIO_MIN = 0.5;
/** Share of tries with plain attacks and known tricks, 0–1. The other tries change the best attacks at random. */
const PLAIN_PART = 0.6;
const PARTS = { p2: 0.02, p10: 0.1, p50: 0.5 } as const;
type Part = keyof MoveCosts;

interface Aim {
  readonly part: Part;
  readonly isUp: boolean;
}

export const AIMS: readonly Aim[] = (['p2', 'p10', 'p50'] as const).flatMap((part) => [
  { part, isUp: true },
  { part, isUp: false },
]);

export interface Closest {
  readonly aim: Aim;
  readonly plan: AttackPlan;
  readonly result: AttackResult;
  readonly published: number;
  /** Loss of the attack divided by the published cost. */
  readonly ratio: number;
}

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
  const view = marketAt(market);
  const { pools } = market.books;
  const plans = new Map(pools.map((pool) => [pool.leg.key, pool.plan]));
  const active = new Map(pools.map((pool) => [pool.leg.key, pool.active]));
  const isAnchor = (token: Hex): boolean => anchors.has(token);
  return path.map((route) =>
    costHop(route, priceRouteHop(route, view, anchors), {
      market: view,
      usdOf: (leg) => pricer.priceOf(leg.token0 === route.token ? leg.token1 : leg.token0)?.usd ?? 0,
      feeOf: ({ key }) => plans.get(key)!.fee,
      activeOf: ({ key }) => active.get(key)!,
      fees: pools.flatMap(({ leg: { token0, token1 }, plan: { fee } }) => {
        if (token0 !== route.token && token1 !== route.token) return [];
        const other = token0 === route.token ? token1 : token0;
        return other === route.next || (isAnchor(other) && isAnchor(route.next)) ? [fee] : [];
      }),
      isRanged: ({ key }) => plans.get(key)!.kind === 'v3',
    }),
  );
}

function pathOf(pricer: Pricer, target: Hex): PriceRoute<IndexedLeg>[] | null {
  const path: PriceRoute<IndexedLeg>[] = [];
  for (let at = target; path.length <= 4;) {
    const route = pricer.routeOf(at) as PriceRoute<IndexedLeg> | undefined;
    if (route === undefined) return null;
    if (isAnchorRoute(route)) return path;
    if (route.hops === 0) return null;
    path.push(route);
    at = route.next;
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

/** Finds the attack with the smallest ratio for an aim. Null if no attack reaches the aim. */
export function searchAttack(
  market: SimMarket,
  runner: AttackRunner,
  aim: Aim,
  published: number,
  tries: number,
): Closest | null {
  const random = new Random(
    market.plan.seed * 7 + AIMS.indexOf(AIMS.find((a) => a.part === aim.part && a.isUp === aim.isUp)!),
  );
  const part = PARTS[aim.part];
  const log = Math.log(aim.isUp ? 1 + part : 1 - part);
  const best: Closest[] = [];
  const attempt = (plan: AttackPlan): void => {
    const result = runner.run(plan, log);
    if (result === null) return;
    best.push({ aim, plan, result, published, ratio: result.loss / published });
    best.sort((a, b) => a.ratio - b.ratio);
    best.splice(6);
  };
  const tricks = knownTricks(market, log, random);
  const plain = [...plainPlans(market), ...tricks].slice(0, Math.ceil(tries * PLAIN_PART));
  for (const plan of plain) attempt(plan);
  for (let i = plain.length; i < tries; i += 1) {
    const base = best.length > 0 && random.chance(0.85) ? random.pick(best).plan : random.pick(plain);
    let plan = base;
    for (let changes = random.int(1, 3); changes > 0; changes -= 1) plan = changed(plan, market, random);
    attempt(plan);
  }
  return best[0] ?? null;
}

/**
 * Direction of each pool. 1: a higher pool price raises the price of the token. −1: a higher pool price lowers it. 0:
 * the pool is beside the path.
 */
function directions({ plan, books }: SimMarket): number[] {
  return books.pools.map(({ leg }) => {
    const planned = plan.pools.find(({ pool }) => pool.leg.key === leg.key)!;
    if (planned.step === null) return 0;
    return leg.token0 === plan.path[planned.step] ? 1 : -1;
  });
}

function stepOf({ plan, books }: SimMarket, i: number): number | null {
  return plan.pools.find(({ pool }) => pool.leg.key === books.pools[i]!.leg.key)!.step;
}

/** Plans that push all pools of some hops, a single pool of a hop, or all pools of a hop except the shallowest one. */
function plainPlans(market: SimMarket): AttackPlan[] {
  const signs = directions(market);
  const hops = market.plan.path.length - 1;
  const plans: AttackPlan[] = [];
  const add = (counts: (i: number) => boolean): void => {
    plans.push({ prepBlocks: 0, moves: [], push: signs.map((sign, i) => (counts(i) ? sign : 0)), late: [] });
  };
  for (let chosen = 1; chosen < 2 ** hops; chosen += 1)
    add((i) => ((chosen >> (stepOf(market, i) ?? 30)) & 1) === 1);
  for (let step = 0; step < hops; step += 1) {
    const pools = signs.flatMap((_, i) => (stepOf(market, i) === step ? [i] : []));
    const depth = (i: number): number => market.books.pools[i]!.state().liquidity;
    pools.sort((a, b) => depth(b) - depth(a));
    for (const one of pools) add((i) => i === one);
    if (pools.length > 2) add((i) => pools.slice(0, -1).includes(i));
  }
  return plans;
}

/** The known tricks in random order, so that a few tries use different tricks on each market. */
function knownTricks(market: SimMarket, log: number, random: Random): AttackPlan[] {
  return listTricks(market, log)
    .map((plan) => ({ plan, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ plan }) => plan);
}

/**
 * Attacks that random changes rarely find. One trick adds liquidity at the most extreme price that arbitrage
 * leaves alone, and waits until the next epoch gives this liquidity weight. Another trick offers a little
 * liquidity at the false price, beyond the honest ranges.
 */
function listTricks(market: SimMarket, log: number): AttackPlan[] {
  const { books, block } = market;
  const signs = directions(market);
  const toEpoch = epochStart(block) + EPOCH_BLOCKS - block - 1;
  const plans: AttackPlan[] = [];
  const waits = [toEpoch, toEpoch + EPOCH_BLOCKS].filter((blocks) => blocks < BLOCKS_MAX);
  for (const prepBlocks of waits)
    for (const toEdge of [true, false])
      for (const times of [1, 3, 30, 1_000]) {
        const chosen = favourites(market, log, toEdge);
        const movesOf = ({ pool, edge, usd }: Favourite): AttackMove[] => [
          ...(toEdge ? [{ kind: 'swap' as const, at: 0, pool, log: edge }] : []),
          { kind: 'add', at: 0, pool, usd: usd * times, low: -0.05, high: 0.05 },
        ];
        const moves = chosen.flatMap(movesOf);
        plans.push({ prepBlocks, moves, push: signs, late: [] });
        // These plans push one hop only and shift weight in the other hops.
        if (chosen.length > 1)
          for (const { step } of chosen) {
            const elsewhere = chosen.filter((favourite) => favourite.step !== step).flatMap(movesOf);
            const push = signs.map((sign, i) => (stepOf(market, i) === step ? sign : 0));
            plans.push({ prepBlocks, moves: elsewhere, push, late: [] });
          }
      }
  plans.push(...rangeTricks(market));
  books.pools.forEach(({ plan: { fee } }, pool) => {
    const sign = signs[pool] ?? 0;
    if (sign === 0) return;
    for (const prepBlocks of waits) {
      for (const usd of [2.5e4, 1e5, 1e8]) {
        const edge = Math.sign(log) * sign * -Math.log(1 - fee);
        const moves: AttackMove[] = [
          { kind: 'swap', at: 0, pool, log: edge },
          { kind: 'add', at: 0, pool, usd, low: -0.05, high: 0.05 },
        ];
        plans.push({ prepBlocks, moves, push: signs, late: [] });
        plans.push({ prepBlocks, moves, push: signs.map((of, i) => (i === pool ? 0 : of)), late: [] });
        plans.push({ prepBlocks, moves, push: signs.map((of, i) => (i === pool ? of : 0)), late: [] });
      }
    }
  });
  return plans;
}

/** Plans that push the ranged pools of a hop past their ranges, then offer depth at the false price. */
function rangeTricks(market: SimMarket): AttackPlan[] {
  const { books, plan } = market;
  const signs = directions(market);
  return plan.path.slice(1).flatMap((_, step) => {
    const pools = signs.flatMap((_sign, i) => (stepOf(market, i) === step ? [i] : []));
    const ranged = pools.filter((i) => books.pools[i]!.plan.kind === 'v3');
    const depthOf = (i: number): number => {
      const pool = books.pools[i]!;
      const { price, liquidity } = pool.state();
      return liquidity * Math.sqrt(price) * (books.fair.get(pool.plan.token1) ?? 0) * DEPTH_PART;
    };
    const others = pools.filter((i) => !ranged.includes(i)).reduce((sum, i) => sum + depthOf(i), 0);
    return ranged.flatMap((pool) =>
      [100, 1_000, others, depthOf(pool), depthOf(pool) + others].flatMap((depth) =>
        [ranged, pools, [pool]].map((pushed): AttackPlan => {
          const late: AttackMove = {
            kind: 'add',
            at: BLOCKS_MAX,
            pool,
            usd: 2.2 * depth,
            low: -0.01,
            high: 0.01,
          };
          const push = signs.map((sign, i) => (pushed.includes(i) ? sign : 0));
          return { prepBlocks: 0, moves: [], push, late: [late] };
        }),
      ),
    );
  });
}

interface Favourite {
  readonly pool: number;
  readonly step: number;
  /** Largest distance from the fair price at which arbitrage does not pay, as ln. */
  readonly edge: number;
  /** Twice the known side of the hop's deepest pool, USD. */
  readonly usd: number;
}

/**
 * Finds the pool of each hop that helps the attack most. With `toEdge`, compares pools by the most extreme
 * price that arbitrage leaves alone, otherwise by the present price.
 */
function favourites(market: SimMarket, log: number, toEdge: boolean): Favourite[] {
  const { books, plan } = market;
  const signs = directions(market);
  const sideUsd = (i: number): number => {
    const { price, liquidity } = books.pools[i]!.state();
    return liquidity * Math.sqrt(price) * (books.fair.get(books.pools[i]!.plan.token1) ?? 0);
  };
  return plan.path.slice(1).flatMap((_, step) => {
    const pools = signs.flatMap((_sign, i) => (stepOf(market, i) === step ? [i] : []));
    const help = (i: number): number => {
      const pool = books.pools[i]!;
      const off = Math.log(pool.price / books.fairOf(pool)!) * signs[i]! * Math.sign(log);
      return toEdge ? -Math.log(1 - pool.plan.fee) : off;
    };
    pools.sort((a, b) => help(b) - help(a));
    const [pool] = pools;
    if (pool === undefined || pools.length < 2) return [];
    const edge = Math.sign(log) * signs[pool]! * -Math.log(1 - books.pools[pool]!.plan.fee);
    return [{ pool, step, edge, usd: 2 * Math.max(...pools.map(sideUsd)) }];
  });
}

function changed(plan: AttackPlan, market: SimMarket, random: Random): AttackPlan {
  const size = (): number => 10 ** (1 + random.next() * 7);
  const kinds = ['push', 'push', 'push', 'prep', 'prep', 'late', 'drop', 'time'] as const;
  const kind = random.pick(kinds);
  if (kind === 'push') {
    const signs = directions(market);
    const at = random.int(0, plan.push.length - 1);
    const how = random.next();
    return {
      ...plan,
      push: plan.push.map((part, i) => {
        if (i !== at) return part;
        if (how < 0.2) return 0;
        if (part === 0 || how < 0.4) return (signs[i] ?? 0) * random.next() * 2;
        return part * Math.exp((random.next() - 0.5) * 1.2);
      }),
    };
  }
  if (kind === 'drop') {
    const at = random.int(0, Math.max(0, plan.moves.length + plan.late.length - 1));
    return {
      ...plan,
      moves: plan.moves.filter((_, i) => i !== at),
      late: plan.late.filter((_, i) => i + plan.moves.length !== at),
    };
  }
  if (kind === 'time') return { ...plan, prepBlocks: prepBlocksOf(market, random) };
  const move = randomMove(market, plan, random, size);
  if (kind === 'late') return { ...plan, late: [...plan.late, { ...move, at: BLOCKS_MAX }].slice(-4) };
  const prepBlocks =
    plan.prepBlocks > 0 || random.chance(0.3) ? plan.prepBlocks : prepBlocksOf(market, random);
  return {
    ...plan,
    prepBlocks,
    moves: [...plan.moves, { ...move, at: random.int(0, prepBlocks) }].slice(-6),
  };
}

/** Often the push is in the first block of an epoch, when the routes begin to use the depth of the preparation. */
function prepBlocksOf({ block }: SimMarket, random: Random): number {
  const toEpoch = epochStart(block) + EPOCH_BLOCKS - block - 1;
  if (random.chance(0.5)) return toEpoch;
  return random.int(0, BLOCKS_MAX - 1);
}

function randomMove(market: SimMarket, plan: AttackPlan, random: Random, size: () => number): AttackMove {
  const { books } = market;
  const pool = random.int(0, books.pools.length - 1);
  const at = 0;
  switch (random.pick(['add', 'add', 'add', 'swap', 'swap', 'remove', 'donate', 'create'] as const)) {
    case 'add': {
      const width = random.pick([0.001, 0.01, 0.03, 0.1, 1]);
      const shift = random.pick([0, 0, 0, 0.2, -0.2, 1, -1]) * random.next();
      return { kind: 'add', at, pool, usd: size(), low: shift - width, high: shift + width };
    }
    case 'swap': {
      const { fee } = books.pools[pool]!.plan;
      // The price is often the most extreme one that arbitrage leaves alone, otherwise a random one.
      const log = random.chance(0.7)
        ? -Math.log(1 - fee) * random.pick([1, -1])
        : (random.next() - 0.5) * 0.4;
      return { kind: 'swap', at, pool, log };
    }
    case 'remove':
      return { kind: 'remove', at, pool };
    case 'donate':
      return { kind: 'donate', at, pool, side: random.chance(0.5) ? 0 : 1, usd: size() };
    case 'create':
      return createMove(market, plan, random, size());
  }
}

function createMove(
  { plan, books }: SimMarket,
  { moves }: AttackPlan,
  random: Random,
  usd: number,
): AttackMove {
  const target = plan.path[0]!;
  const own = token(15);
  const other = random.pick([DAI, NATIVE, own, ...plan.path.slice(1)]);
  const [a, b] = other === own && random.chance(0.5) ? [own, DAI] : [target, other];
  const [token0, token1] = a < b ? [a, b] : [b, a];
  const fair = (books.fair.get(token0) ?? 1) / (books.fair.get(token1) ?? 1);
  const number = 500 + moves.length;
  return {
    kind: 'create',
    at: 0,
    usd,
    plan: {
      address: poolAddress(number),
      kind: random.pick(['v2', 'v3', 'weighted'] as const),
      token0: token0,
      token1: token1,
      fee: 0.003,
      weight0: 0.5,
      price: fair * Math.exp(random.pick([0, 0.003, -0.003, 0.3, -0.3, 2, -2])),
    },
  };
}
