/** Random changes to an attack: its push, its moves and its length. */
import { EPOCH_BLOCKS, epochStart } from '../../../src/pricing/epoch';
import type { Random } from '../random';
import { DAI, NATIVE, poolAddress, token } from '../worlds/pools';
import { BLOCKS_MAX, type AttackMove, type AttackPlan } from './attackPlan';
import { directions } from './knownTricks';
import type { SimMarket } from './simMarket';

const MOVES = ['add', 'add', 'add', 'swap', 'swap', 'remove', 'donate', 'create', 'declare'] as const;
/** Most moves of a plan before and after its push. A further move replaces the oldest one. */
const MOVES_MAX = 6;
const MOVES_AFTER_PUSH_MAX = 4;
const MOVES_OF_WEIGHTED = [
  'add',
  'swap',
  'swap',
  'remove',
  'create',
  'join',
  'join',
  'exit',
  'exit',
] as const;

/** The plan with one random change. */
export function changeAtRandom(plan: AttackPlan, market: SimMarket, random: Random): AttackPlan {
  const size = (): number => 10 ** (1 + random.next() * 7);
  const kinds = ['push', 'push', 'push', 'prep', 'prep', 'after push', 'drop', 'time'] as const;
  const kind = random.pick(kinds);
  if (kind === 'push') {
    const signs = directions(market);
    const pushIndex = random.int(0, plan.push.length - 1);
    const chance = random.next();
    return {
      ...plan,
      push: plan.push.map((part, poolIndex) => {
        if (poolIndex !== pushIndex) return part;
        if (chance < 0.2) return 0;
        if (part === 0 || chance < 0.4) return (signs[poolIndex] ?? 0) * random.next() * 2;
        return part * Math.exp((random.next() - 0.5) * 1.2);
      }),
    };
  }
  if (kind === 'drop') {
    const moveIndex = random.int(0, Math.max(0, plan.moves.length + plan.afterPush.length - 1));
    return {
      ...plan,
      moves: plan.moves.filter((_, i) => i !== moveIndex),
      afterPush: plan.afterPush.filter((_, i) => i + plan.moves.length !== moveIndex),
    };
  }
  if (kind === 'time') return { ...plan, prepBlocks: prepBlocksOf(market, random) };
  const move = randomMove(market, plan, random, size);
  if (kind === 'after push')
    return {
      ...plan,
      afterPush: [...plan.afterPush, { ...move, at: BLOCKS_MAX }].slice(-MOVES_AFTER_PUSH_MAX),
    };
  const prepBlocks =
    plan.prepBlocks > 0 || random.chance(0.3) ? plan.prepBlocks : prepBlocksOf(market, random);
  return {
    ...plan,
    prepBlocks,
    moves: [...plan.moves, { ...move, at: random.int(0, prepBlocks) }].slice(-MOVES_MAX),
  };
}

/** Often the push is in the first block of an epoch, when the routes begin to use the depth of the preparation. */
function prepBlocksOf({ block }: SimMarket, random: Random): number {
  const blocksToEpoch = epochStart(block) + EPOCH_BLOCKS - block - 1;
  if (random.chance(0.5)) return blocksToEpoch;
  return random.int(0, BLOCKS_MAX - 1);
}

function randomMove(market: SimMarket, plan: AttackPlan, random: Random, size: () => number): AttackMove {
  const { books } = market;
  const pool = random.int(0, books.pools.length - 1);
  const at = 0;
  const side = random.chance(0.5) ? 0 : 1;
  const isWeighted = books.pools[pool]!.plan.kind === 'weighted';
  switch (random.pick(isWeighted ? MOVES_OF_WEIGHTED : MOVES)) {
    case 'add': {
      const width = random.pick([0.001, 0.01, 0.03, 0.1, 1]);
      const shift = random.pick([0, 0, 0, 0.2, -0.2, 1, -1]) * random.next();
      return { kind: 'add', at, pool, usd: size(), low: shift - width, high: shift + width };
    }
    case 'swap': {
      const { fee } = books.pools[pool]!.plan;
      // The attacker often swaps to the most extreme price that arbitrage leaves alone, otherwise to a random price.
      const log = random.chance(0.7)
        ? -Math.log(1 - fee) * random.pick([1, -1])
        : (random.next() - 0.5) * 0.4;
      return { kind: 'swap', at, pool, log };
    }
    case 'remove':
      return { kind: 'remove', at, pool };
    case 'donate':
      return { kind: 'donate', at, pool, side, usd: size() };
    case 'join':
      return { kind: 'join', at, pool, side, usd: size() };
    case 'exit':
      return { kind: 'exit', at, pool, side, part: random.pick([0.01, 0.1, 0.5, 0.9, 0.999]) };
    case 'declare':
      return { kind: 'declare', at, pool: declaredPool(market, random), side, usd: size() };
    case 'create':
      return createMove(market, plan, random, size());
  }
}

/** A pool that the attacker manages, if there is one: an old pool of the market, or the first pool that he creates. */
function declaredPool({ books: { pools } }: SimMarket, random: Random): number {
  const managed = pools.flatMap(({ plan }, i) => (plan.isManaged === true ? [i] : []));
  return managed.length > 0 && random.chance(0.8) ? random.pick(managed) : pools.length;
}

function createMove(
  { plan, books }: SimMarket,
  { moves }: AttackPlan,
  random: Random,
  usd: number,
): AttackMove {
  const target = plan.path[0]!;
  const ownToken = token(15);
  const otherToken = random.pick([DAI, NATIVE, ownToken, ...plan.path.slice(1)]);
  const [tokenA, tokenB] =
    otherToken === ownToken && random.chance(0.5) ? [ownToken, DAI] : [target, otherToken];
  const [token0, token1] = tokenA < tokenB ? [tokenA, tokenB] : [tokenB, tokenA];
  const fairPrice = (books.fairPrices.get(token0) ?? 1) / (books.fairPrices.get(token1) ?? 1);
  // Pools of the market have lower numbers.
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
      isManaged: random.chance(0.5),
      price: fairPrice * Math.exp(random.pick([0, 0.003, -0.003, 0.3, -0.3, 2, -2])),
    },
  };
}
