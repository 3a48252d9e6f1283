/**
 * Pools of Solidly, Slipstream and Algebra of the simulated chain: which pools there are, and the logs of one
 * transaction. simFamilyEvents.ts makes their events.
 */
import type { Hex } from '../../../src/domain/hex';
import type { Random } from '../../support/random';
import { familyEvent } from './simFamilyEvents';
import { FAMILY_FACTORIES, type Family, type FamilyPool, type SwapLayout } from './simFamilyPool';
import { dataOf, digest, topicOf, type Draft } from '../../support/plainLogs';

const TOPIC = {
  pairCreated: '0xc4805696c66d7cf352fc1d6bb633ad5ee82f6cb577c453024b6e0eb8306c6fc9',
  poolCreated: '0x2128d88d14c80cb081c1252a5acff7a264671bf199ce226b53788fb26065005e',
  rangeCreated: '0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2',
  pool: '0x91ccaa7a278130b65168c3a0c8d3bcae84cf5e43704342bd3ec0b59e59c036db',
  customPool: '0x8a5f030f5fc13b04a1e4ef7c47177e3d76b0e80e1d9be9843db37caa5b7b9b8f',
  initialize: '0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95',
} as const satisfies Record<string, Hex>;

/** The logs of one transaction. May add pools, and changes the states of others. */
export function familyLogs(
  random: Random,
  pools: FamilyPool[],
  id: string,
  simToken: (index: number) => Hex,
): Draft[] {
  if (random.chance(0.5)) return [];
  const drafts: Draft[] = [];
  if (pools.length === 0 || random.chance(0.15)) drafts.push(...create(random, pools, id, simToken));
  for (let i = random.int(1, 2); i > 0; i -= 1) {
    const index = random.int(0, pools.length - 1);
    const { drafts: logs, after } = familyEvent(random, pools[index]!);
    pools[index] = after;
    drafts.push(...logs);
  }
  return drafts;
}

function create(random: Random, pools: FamilyPool[], id: string, simToken: (index: number) => Hex): Draft[] {
  const family = random.pick<Family>(['solidly1', 'solidly2', 'slipstream', 'algebra', 'algebra']);
  const pool: FamilyPool = {
    address: digest(`family pool ${id}`, 20),
    family,
    token0: simToken(random.int(0, 5)),
    token1: simToken(random.int(6, 11)),
    isStable: random.chance(0.6),
    tellsDecimals: random.chance(0.85),
    isCustom: random.chance(0.15),
    layout: random.pick<SwapLayout>(['plain', 'own fees', 'fee event']),
    hasTwoFees: random.chance(0.3),
    spacing: random.pick([1, 50, 60, 200]),
    feePips: 100 * random.pick([1, 5, 30, 100, 5_000]),
    reserves: [0n, 0n],
    sqrtPrice: 0n,
    liquidity: 0n,
    tick: 0,
  };
  // A factory creates each pool once.
  if (pools.some((other) => keyOf(other) === keyOf(pool))) return [];
  const begin = random.chance(0.7) ? initialize(random, pool) : null;
  pools.push(begin?.after ?? pool);
  const creation = creationOf(pool);
  // Slipstream gives a pool its first price before it emits the creation event.
  if (family === 'slipstream') return [...(begin === null ? [] : [begin.draft]), creation];
  return family === 'algebra' && begin !== null ? [creation, begin.draft] : [creation];
}

/** What names a pool at its factory. */
function keyOf({ family, token0, token1, isStable, isCustom, spacing }: FamilyPool): string {
  const kind = family === 'slipstream' ? spacing : family === 'algebra' ? isCustom : isStable;
  return `${family} ${token0} ${token1} ${kind}`;
}

function initialize(random: Random, pool: FamilyPool): { draft: Draft; after: FamilyPool } | null {
  if (pool.family === 'solidly1' || pool.family === 'solidly2') return null;
  const [sqrtPrice, tick] = [random.big(140), random.int(-700, 700)];
  return {
    draft: { address: pool.address, topics: [TOPIC.initialize], data: dataOf(sqrtPrice, BigInt(tick)) },
    after: { ...pool, sqrtPrice, tick },
  };
}

function creationOf({ address, family, token0, token1, isStable, isCustom, spacing }: FamilyPool): Draft {
  const tokens = [topicOf(token0), topicOf(token1)];
  const stable = isStable ? 1n : 0n;
  const draft = (topics: readonly Hex[], ...values: (bigint | Hex)[]): Draft => ({
    address: FAMILY_FACTORIES[family],
    topics,
    data: dataOf(...values),
  });
  switch (family) {
    case 'solidly1':
      return draft([TOPIC.pairCreated, ...tokens], stable, address, 1n);
    case 'solidly2':
      return draft([TOPIC.poolCreated, ...tokens, topicOf(stable)], address, 1n);
    case 'slipstream':
      return draft([TOPIC.rangeCreated, ...tokens, topicOf(BigInt(spacing))], address);
    case 'algebra':
      return isCustom
        ? draft([TOPIC.customPool, topicOf(digest('deployer', 20)), ...tokens], address)
        : draft([TOPIC.pool, ...tokens], address);
  }
}
