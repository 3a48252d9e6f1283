/** Plain attacks on a simulated market, and known tricks that random changes rarely find. */
import { EPOCH_BLOCKS, epochStart } from '../../../src/pricing/epoch';
import { DEPTH_PART } from '../../../src/pricing/leg';
import type { Random } from '../random';
import { BLOCKS_MAX, type AttackMove, type AttackPlan } from './attackPlan';
import type { SimMarket } from './simMarket';

/**
 * Direction of each pool. 1: a higher pool price raises the price of the token. −1: a higher pool price lowers it. 0:
 * the pool is beside the path.
 */
export function directions({ plan, books }: SimMarket): number[] {
  return books.pools.map(({ leg }) => {
    const plannedPool = plan.pools.find(({ pool }) => pool.leg.key === leg.key)!;
    if (plannedPool.step === null) return 0;
    return leg.token0 === plan.path[plannedPool.step] ? 1 : -1;
  });
}

/** The hop of the path to which pool `i` belongs, 0 at the token; null beside the path. */
function stepOf({ plan, books }: SimMarket, i: number): number | null {
  return plan.pools.find(({ pool }) => pool.leg.key === books.pools[i]!.leg.key)!.step;
}

const NO_HOP_BIT = 30;

/** Plans that push all pools of some hops, a single pool of a hop, or all pools of a hop except the shallowest one. */
export function plainPlans(market: SimMarket): AttackPlan[] {
  const signs = directions(market);
  const hops = market.plan.path.length - 1;
  const plans: AttackPlan[] = [];
  const addPushPlan = (isPushed: (i: number) => boolean): void => {
    plans.push({
      prepBlocks: 0,
      moves: [],
      push: signs.map((sign, i) => (isPushed(i) ? sign : 0)),
      afterPush: [],
    });
  };
  for (let selectionBits = 1; selectionBits < 2 ** hops; selectionBits += 1)
    // Bit n selects hop n. Pools beside the path read a bit that is never set.
    addPushPlan((i) => ((selectionBits >> (stepOf(market, i) ?? NO_HOP_BIT)) & 1) === 1);
  for (let step = 0; step < hops; step += 1) {
    const pools = signs.flatMap((_, i) => (stepOf(market, i) === step ? [i] : []));
    const depth = (i: number): number => market.books.pools[i]!.state().liquidity;
    pools.sort((a, b) => depth(b) - depth(a));
    for (const poolIndex of pools) addPushPlan((i) => i === poolIndex);
    if (pools.length > 2) addPushPlan((i) => pools.slice(0, -1).includes(i));
  }
  return plans;
}

/** The known tricks in random order, so that a few tries use different tricks on each market. */
export function knownTricks(market: SimMarket, wantedLog: number, random: Random): AttackPlan[] {
  return listTricks(market, wantedLog)
    .map((plan) => ({ plan, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ plan }) => plan);
}

/**
 * Attacks that random changes rarely find. One trick adds liquidity at the most extreme price that arbitrage
 * leaves alone, and waits until the next epoch gives this liquidity weight. Another trick offers a little
 * liquidity at the false price, beyond the honest ranges.
 */
function listTricks(market: SimMarket, wantedLog: number): AttackPlan[] {
  const { books, block } = market;
  const signs = directions(market);
  const blocksToEpoch = epochStart(block) + EPOCH_BLOCKS - block - 1;
  const plans: AttackPlan[] = [];
  const waits = [blocksToEpoch, blocksToEpoch + EPOCH_BLOCKS].filter((blocks) => blocks < BLOCKS_MAX);
  for (const prepBlocks of waits)
    for (const toEdge of [true, false])
      for (const times of [1, 3, 30, 1_000]) {
        const favouritePools = favourites(market, wantedLog, toEdge);
        const movesOf = ({ pool, edge, usd }: Favourite): AttackMove[] => [
          ...(toEdge ? [{ kind: 'swap' as const, at: 0, pool, log: edge }] : []),
          { kind: 'add', at: 0, pool, usd: usd * times, low: -0.05, high: 0.05 },
        ];
        const moves = favouritePools.flatMap(movesOf);
        plans.push({ prepBlocks, moves, push: signs, afterPush: [] });
        // These plans push the pools of one hop only. In the other hops they add liquidity at a false price, so that
        // the false pools gain weight.
        if (favouritePools.length > 1)
          for (const { step } of favouritePools) {
            const movesElsewhere = favouritePools
              .filter((favourite) => favourite.step !== step)
              .flatMap(movesOf);
            const push = signs.map((sign, i) => (stepOf(market, i) === step ? sign : 0));
            plans.push({ prepBlocks, moves: movesElsewhere, push, afterPush: [] });
          }
      }
  plans.push(...rangeTricks(market), ...vaultTricks(market, wantedLog, waits));
  books.pools.forEach(({ plan: { fee } }, pool) => {
    const sign = signs[pool] ?? 0;
    if (sign === 0) return;
    for (const prepBlocks of waits) {
      for (const usd of [2.5e4, 1e5, 1e8]) {
        const edge = Math.sign(wantedLog) * sign * -Math.log(1 - fee);
        const moves: AttackMove[] = [
          { kind: 'swap', at: 0, pool, log: edge },
          { kind: 'add', at: 0, pool, usd, low: -0.05, high: 0.05 },
        ];
        plans.push({ prepBlocks, moves, push: signs, afterPush: [] });
        plans.push({
          prepBlocks,
          moves,
          push: signs.map((poolSign, i) => (i === pool ? 0 : poolSign)),
          afterPush: [],
        });
        plans.push({
          prepBlocks,
          moves,
          push: signs.map((poolSign, i) => (i === pool ? poolSign : 0)),
          afterPush: [],
        });
        // The route keeps the pool for the epoch, although the attacker removes the liquidity before the push.
        const heldMoves = [...moves.slice(1), { kind: 'remove' as const, at: prepBlocks, pool }];
        plans.push({
          prepBlocks,
          moves: heldMoves,
          push: signs.map((poolSign, i) => (i === pool ? poolSign : 0)),
          afterPush: [],
        });
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
    const rangedPools = pools.filter((i) => books.pools[i]!.plan.kind === 'v3');
    const depthOf = (i: number): number => {
      const pool = books.pools[i]!;
      const { price, liquidity } = pool.state();
      return liquidity * Math.sqrt(price) * (books.fairPrices.get(pool.plan.token1) ?? 0) * DEPTH_PART;
    };
    const depthOfOthers = pools
      .filter((i) => !rangedPools.includes(i))
      .reduce((sum, i) => sum + depthOf(i), 0);
    return rangedPools.flatMap((pool) =>
      [100, 1_000, depthOfOthers, depthOf(pool), depthOf(pool) + depthOfOthers].flatMap((depth) =>
        [rangedPools, pools, [pool]].map((pushedPools): AttackPlan => {
          const lateMove: AttackMove = {
            kind: 'add',
            at: BLOCKS_MAX,
            pool,
            usd: 2.2 * depth,
            low: -0.01,
            high: 0.01,
          };
          const push = signs.map((sign, i) => (pushedPools.includes(i) ? sign : 0));
          return { prepBlocks: 0, moves: [], push, afterPush: [lateMove] };
        }),
      ),
    );
  });
}

/**
 * The part of the attacker's share to exit with one token, per unit of the wanted ln(price). The attacker has nearly the
 * whole pool then. An exit of the part s of a pool moves ln(price) by about s / weight of the token: with equal weights
 * by 0.6 of the wanted move, and with smaller weights by more.
 */
const SHARE_TO_EXIT = 0.3;
/** The same for an exit with the other token after a push. With equal weights, it takes back 0.2 of the wanted move. */
const SHARE_TO_EXIT_BACK = 0.1;

/**
 * Attacks on weighted pools. The attacker joins or exits with one token, with or without a push, in the block of the
 * push or before the epoch begins. In a managed pool the attacker declares a balance instead. Amounts are multiples of
 * the USD that move the price of the pool by the requested percentage.
 */
function vaultTricks(market: SimMarket, wantedLog: number, waits: readonly number[]): AttackPlan[] {
  const { books } = market;
  const signs = directions(market);
  const noPush = signs.map(() => 0);
  return books.pools.flatMap(({ plan }, pool) => {
    const sign = signs[pool]! * Math.sign(wantedLog);
    if (sign === 0 || plan.kind !== 'weighted') return [];
    const { amount0, amount1 } = books.pools[pool]!.heldAmounts;
    const usd0 = amount0 * (books.fairPrices.get(plan.token0) ?? 0);
    const usd1 = amount1 * (books.fairPrices.get(plan.token1) ?? 0);
    if (plan.isManaged === true)
      return [0, ...waits].flatMap((prepBlocks) =>
        ([0, 1] as const).map((side): AttackPlan => {
          const declaration: AttackMove = { kind: 'declare', at: 0, pool, side, usd: 100 * (usd0 + usd1) };
          return { prepBlocks, moves: [declaration], push: prepBlocks === 0 ? noPush : signs, afterPush: [] };
        }),
      );
    // A deposit of token1 or a withdrawal of token0 raises the price of the pool.
    const [sideIn, sideOut] = sign > 0 ? ([1, 0] as const) : ([0, 1] as const);
    const usd = (sideIn === 0 ? usd0 : usd1) * Math.expm1(Math.abs(wantedLog));
    const addedLiquidity: AttackMove = {
      kind: 'add',
      at: 0,
      pool,
      usd: 1_000 * (usd0 + usd1),
      low: 0,
      high: 0,
    };
    const join: AttackMove = { kind: 'join', at: 0, pool, side: sideIn, usd };
    const joinBack: AttackMove = { kind: 'join', at: BLOCKS_MAX, pool, side: sideOut, usd: usd / 2 };
    const exitMove: AttackMove = {
      kind: 'exit',
      at: 0,
      pool,
      side: sideOut,
      part: SHARE_TO_EXIT * Math.abs(wantedLog),
    };
    const exitBack: AttackMove = {
      kind: 'exit',
      at: BLOCKS_MAX,
      pool,
      side: sideIn,
      part: SHARE_TO_EXIT_BACK * Math.abs(wantedLog),
    };
    return [0, ...waits].flatMap((prepBlocks): AttackPlan[] => [
      { prepBlocks, moves: [join], push: signs, afterPush: [] },
      { prepBlocks, moves: [join], push: noPush, afterPush: [] },
      { prepBlocks, moves: [addedLiquidity, exitMove], push: signs, afterPush: [] },
      { prepBlocks, moves: [addedLiquidity, exitMove], push: noPush, afterPush: [] },
      { prepBlocks, moves: [addedLiquidity], push: signs, afterPush: [exitBack] },
      { prepBlocks, moves: [], push: signs, afterPush: [joinBack] },
    ]);
  });
}

interface Favourite {
  /** Index of the pool in the market's books. */
  readonly pool: number;
  readonly step: number;
  /** Largest distance from the fair price at which arbitrage does not pay, as ln. */
  readonly edge: number;
  /** Twice the value of one side of the hop's deepest pool, in USD. The unit of the amounts that the attacker adds. */
  readonly usd: number;
}

/**
 * Finds the pool of each hop that helps the attack most. With `toEdge`, compares pools by the most extreme
 * price that arbitrage leaves alone, otherwise by the present price.
 */
function favourites(market: SimMarket, wantedLog: number, toEdge: boolean): Favourite[] {
  const { books, plan } = market;
  const signs = directions(market);
  const sideUsd = (i: number): number => {
    const { price, liquidity } = books.pools[i]!.state();
    return liquidity * Math.sqrt(price) * (books.fairPrices.get(books.pools[i]!.plan.token1) ?? 0);
  };
  return plan.path.slice(1).flatMap((_, step) => {
    const indexes = signs.flatMap((_sign, i) => (stepOf(market, i) === step ? [i] : []));
    const helpOf = (i: number): number => {
      const simPool = books.pools[i]!;
      const distance = Math.log(simPool.price / books.fairOf(simPool)!) * signs[i]! * Math.sign(wantedLog);
      return toEdge ? -Math.log(1 - simPool.plan.fee) : distance;
    };
    indexes.sort((a, b) => helpOf(b) - helpOf(a));
    const [bestIndex] = indexes;
    // Liquidity in the only pool of a hop shifts no weight between pools.
    if (bestIndex === undefined || indexes.length < 2) return [];
    const edge = Math.sign(wantedLog) * signs[bestIndex]! * -Math.log(1 - books.pools[bestIndex]!.plan.fee);
    return [{ pool: bestIndex, step, edge, usd: 2 * Math.max(...indexes.map(sideUsd)) }];
  });
}
