/** The pools of the simulated chain that make their own events: which families a seed has, and their logs. */
import type { Hex } from '../../../../src/domain/hex';
import type { Random } from '../../../support/random';
import type { Birth, Moment, Moved, MovingPool } from './movingPool';
import { BalancerV3Pool, V3_VAULT } from './simBalancerV3';
import { BufferPool } from './simBuffer';
import { BONDING_FACTORY, BondingPool } from './simBonding';
import { BOOK_FACTORY, BookPool } from './simBook';
import { CAMELOT_FACTORY, CamelotPool } from './simCamelot';
import { CRYPTO_FACTORY, CryptoPool } from './simCrypto';
import { CURVE_FACTORY, CurvePool } from './simCurve';
import { INFINITY_BIN_MANAGER, InfinityBinPool } from './simInfinityBin';
import { digest, type Draft } from '../../../support/plainLogs';
import { INFINITY_CL_MANAGER, V4_MANAGER, V4Pool } from './simV4';

type Create = (birth: Birth) => Moved;
const FAMILIES: readonly Create[] = [
  CamelotPool.create,
  BookPool.create,
  V4Pool.create,
  CurvePool.create,
  CryptoPool.create,
  (birth) => (birth.random.chance(0.4) ? BufferPool : BalancerV3Pool).create(birth),
  V4Pool.createInfinity,
  InfinityBinPool.create,
  BondingPool.create,
];
const FACTORIES = new Set<Hex>([
  ...[CAMELOT_FACTORY, BOOK_FACTORY, V4_MANAGER, CURVE_FACTORY, CRYPTO_FACTORY, V3_VAULT],
  ...[INFINITY_CL_MANAGER, INFINITY_BIN_MANAGER, BONDING_FACTORY],
]);

/** Probability that a transaction creates a pool of a lending token whose rate grows. */
const LENDING_CHANCE = 0.1;

/** The families of a seed. Some seeds have none. */
export function drawFamilies(random: Random): readonly Create[] {
  return FAMILIES.filter(() => random.chance(0.4));
}

/** The logs of one transaction. May add pools, and replaces pools that change. */
export function movingLogs(
  random: Random,
  families: readonly Create[],
  pools: MovingPool[],
  moment: Moment,
): Draft[] {
  if (families.length === 0 || random.chance(0.4)) return [];
  const { rateRandom } = moment;
  const drafts: Draft[] = [];
  const token = (index: number): Hex => digest(`token ${index}`, 20);
  if (pools.length === 0 || random.chance(0.15)) {
    const { drafts: logs, after } = random.pick(families)({ random, moment, token });
    // A factory creates each pool once.
    if (!pools.some(({ key }) => key === after.key)) {
      pools.push(after);
      drafts.push(...logs);
    }
  }
  if (rateRandom?.chance(LENDING_CHANCE) === true) {
    const { drafts: logs, after } = CurvePool.createLending({ random: rateRandom, moment, token });
    pools.push(after);
    drafts.push(...logs);
  }
  for (let i = random.int(1, 3); i > 0; i -= 1) {
    drafts.push(...moveAt(random, pools, random.int(0, pools.length - 1), moment));
  }
  return drafts;
}

function moveAt(random: Random, pools: MovingPool[], index: number, moment: Moment): readonly Draft[] {
  const before = pools[index]!;
  const base = pools.findIndex(({ address }) => address === before.base);
  const moved = pools[base];
  const drafts = moved === undefined ? [] : moveAt(random, pools, base, moment);
  if (moved !== undefined && moved === pools[base]) return drafts;
  const { drafts: logs, after } = before.move(random, moment);
  pools[index] = after;
  return [...drafts, ...logs];
}

/** The answer of a contract of these families. Null if the call is to another contract. */
export function answerMovingCall(pools: readonly MovingPool[], to: Hex, data: Hex): Hex | 'revert' | null {
  for (const pool of pools) {
    const answer = pool.answer(to, data);
    if (answer !== null) return answer;
  }
  return FACTORIES.has(to) ? 'revert' : null;
}
