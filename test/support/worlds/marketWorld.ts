/**
 * Random seeded markets for property tests of pricing: extreme token scales, short-lived pools, dust, cycles, price
 * pushes, and liquidity for one block. Includes swaps without a state, full and empty reserves, and days without a
 * trade.
 */
import type { Hex } from '../../../src/domain/hex';
import { epochOf } from '../../../src/pricing/epoch';
import { makeLeg, type Leg, type LegState } from '../../../src/pricing/leg';
import type { MarketBlock } from '../../../src/pricing/priceBlock';
import type { PricerConfig } from '../../../src/pricing/pricerConfig';
import { Random } from '../random';

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const FULL_RESERVE = 2 ** 112 - 1;
const STEPS_SECONDS = [0, 1, 3, 10, 10, 10, 12, 60, 400, 4_000];

interface WorldPool {
  readonly leg: Leg;
  readonly isV3: boolean;
  /** Typical value in USD on each side of a pool. */
  readonly sizeUsd: number;
  state: LegState;
  /**
   * The state of the pool before liquidity was added for one block, or before a price push. The next block
   * restores this state.
   */
  calm: LegState | null;
}

export interface MarketWorld {
  readonly config: PricerConfig;
  readonly tokens: readonly Hex[];
  readonly blocks: readonly MarketBlock[];
}

export function makeMarketWorld(seed: number, blockCount: number): MarketWorld {
  const random = new Random(seed);
  const anchorCount = random.int(1, 3);
  const tokens = Array.from({ length: random.int(4, 12) }, (_, i) => address(i + 1));
  // USD prices per whole token are from 10^-30 to 10^30 in some markets, and realistic in the other markets.
  const wild = random.chance(0.4);
  const usdOf = new Map(
    tokens.map((token, i) => [
      token,
      i < anchorCount ? 1 : 10 ** (wild ? random.int(-30, 30) : random.int(-4, 4)),
    ]),
  );
  const config: PricerConfig = {
    anchors: tokens.slice(0, anchorCount).map((anchor) => ({ address: anchor, priceUsd: 1 })),
    wrappedNative: random.chance(0.9) ? tokens[anchorCount]! : null,
  };
  const pools: WorldPool[] = [];
  const blocks: MarketBlock[] = [];
  let timestamp = 1_700_000_000;
  const start = random.int(1, 100);
  for (let number = start; number < start + blockCount; number += 1) {
    timestamp += random.chance(0.01) ? 86_400 * random.pick([1, 2, 31]) : random.pick(STEPS_SECONDS);
    blocks.push(makeBlock(random, { number, timestamp, first: number === start }, pools, tokens, usdOf));
  }
  return { config, tokens, blocks };
}

function makeBlock(
  random: Random,
  { number, timestamp, first }: { number: number; timestamp: number; first: boolean },
  pools: WorldPool[],
  tokens: readonly Hex[],
  usdOf: Map<Hex, number>,
): MarketBlock {
  const legs: { leg: Leg; older: boolean }[] = [];
  const fresh = new Set<WorldPool>();
  for (let n = first ? random.int(1, 8) : random.chance(0.15) ? random.int(1, 2) : 0; n > 0; n -= 1) {
    const pool = makePool(random, pools.length, tokens, usdOf);
    pools.push(pool);
    fresh.add(pool);
    legs.push({ leg: pool.leg, older: first && random.chance(0.5) });
  }
  const moves: MarketBlock['moves'][number][] = [];
  const traded: MarketBlock['traded'][number][] = [];
  for (const pool of pools) {
    const moved = (fresh.has(pool) && random.chance(0.9)) || pool.calm !== null || random.chance(0.12);
    if (moved) {
      const steps = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => {
        movePool(random, pool, usdOf);
        return { state: pool.state, cause: random.pick(['swap', 'swap', 'reserve_swap', 'other'] as const) };
      });
      moves.push({ key: pool.leg.key, steps });
    }
    if (random.chance(moved ? 0.5 : 0.02)) {
      const usd = pool.sizeUsd * random.pick([1e-6, 0.001, 0.1, 3]);
      const makers = [random.chance(0.05) ? null : address(0xa0000 + random.int(0, 3))];
      traded.push({ key: pool.leg.key, amount: usd / usdOf.get(pool.leg.token1)!, makers });
    }
  }
  return { number, timestamp, legs, moves, traded };
}

function makePool(
  random: Random,
  index: number,
  tokens: readonly Hex[],
  usdOf: ReadonlyMap<Hex, number>,
): WorldPool {
  // Few tokens in many pools give cycles and competing routes.
  const a = random.int(0, tokens.length - 1);
  const b = (a + random.int(1, tokens.length - 1)) % tokens.length;
  const [token0, token1] = [tokens[Math.min(a, b)]!, tokens[Math.max(a, b)]!];
  const pool: WorldPool = {
    leg: makeLeg(address(0xb0000 + index), random.chance(0.9) ? 1 : 1 + random.int(1, 3), token0, token1),
    isV3: random.chance(0.3),
    sizeUsd: random.pick([0.01, 60, 60, 900, 20_000, 1e6, 1e12]),
    state: { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 },
    calm: null,
  };
  pool.state = stateAt(random, pool, 1, usdOf);
  return pool;
}

/** A price near the token's worth, multiplied by `push`. */
function stateAt(
  random: Random,
  { leg, isV3, sizeUsd }: WorldPool,
  push: number,
  usdOf: ReadonlyMap<Hex, number>,
  growth = 1,
): LegState {
  const price = (usdOf.get(leg.token0)! / usdOf.get(leg.token1)!) * push * (1 + (random.next() - 0.5) * 0.06);
  const side = sizeUsd * growth * (0.5 + random.next());
  const reserve1 = (side / usdOf.get(leg.token1)!) * Math.sqrt(push);
  const reserve0 = reserve1 / price;
  const liquidity = Math.sqrt(reserve0) * Math.sqrt(reserve1);
  if (!isV3) return { price: reserve1 / reserve0, liquidity, reserve0, reserve1 };
  const concentration = random.pick([1, 20, 1_000]);
  const left = random.next();
  return {
    price,
    liquidity: liquidity * concentration,
    reserve0: reserve0 * left,
    reserve1: reserve1 * (1 - left),
  };
}

function movePool(random: Random, pool: WorldPool, usdOf: Map<Hex, number>): void {
  if (pool.calm !== null) {
    pool.state = pool.calm;
    pool.calm = null;
    return;
  }
  const what = random.next();
  if (what < 0.04) pool.state = { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  else if (what < 0.06) {
    const [reserve0, reserve1] = random.pick([
      [FULL_RESERVE, FULL_RESERVE],
      [FULL_RESERVE, 1],
      [1, FULL_RESERVE],
      [FULL_RESERVE, 0],
    ]) as [number, number];
    const price = reserve1 === 0 ? 0 : reserve1 / reserve0;
    pool.state = { price, liquidity: Math.sqrt(reserve0) * Math.sqrt(reserve1), reserve0, reserve1 };
  } else if (what < 0.16) {
    if (random.chance(0.6)) pool.calm = pool.state;
    pool.state = stateAt(random, pool, random.pick([1e-3, 0.5, 1.25, 2, 1_000]), usdOf);
  } else if (what < 0.26) {
    pool.calm = pool.state;
    pool.state = stateAt(random, pool, 1, usdOf, 1e6);
  } else pool.state = stateAt(random, pool, 1, usdOf);
}

/** The same block with its events in another order. */
export function shuffled(block: MarketBlock, random: Random): MarketBlock {
  const mix = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  return { ...block, legs: mix(block.legs), moves: mix(block.moves), traded: mix(block.traded) };
}

/**
 * The same blocks ten seconds apart, in which most pools rest in most epochs. A pool that rests for several epochs shows
 * what the pricer keeps between them.
 */
export function calmed(blocks: readonly MarketBlock[], random: Random): MarketBlock[] {
  const rests = new Map<string, boolean>();
  const isAwake = ({ number, legs }: MarketBlock, key: string): boolean => {
    const name = `${epochOf(number)} ${key}`;
    if (!rests.has(name)) rests.set(name, random.chance(0.75));
    return rests.get(name) === false || legs.some(({ leg }) => leg.key === key);
  };
  return blocks.map((block, i) => ({
    ...block,
    timestamp: blocks[0]!.timestamp + 10 * i,
    moves: block.moves.filter(({ key }) => isAwake(block, key)),
    traded: block.traded.filter(({ key }) => isAwake(block, key)),
  }));
}
