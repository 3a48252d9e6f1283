/** The plan of one seed, drawn from the seed alone: shape of the chain, health of the nodes, deaths of the ingester. */
import type { FleetHealth } from './fleet/nodeTraits';
import { SESSION_LIMITS, type SessionLimits } from '../../src/ingest/session/sessionLimits';
import { Random } from '../support/random';
import type { WildSize } from './chain/simWild';

export interface SeedPlan {
  readonly seed: number;
  /** Maximum depth of a reorg below the highest head. */
  readonly depth: number;
  readonly finality: 'tag' | number;
  /** Number of blocks before the ingester starts. */
  readonly firstBlocks: number;
  /** First block to ingest. */
  readonly startBlock: number;
  /** Number of steps of the chain: it grows, forks or returns to an abandoned branch. */
  readonly moves: number;
  /** Longest virtual time in ms between two steps of the chain. */
  readonly gapMs: number;
  /** Possible numbers of blocks that one step of the simulated chain adds. */
  readonly strides: readonly number[];
  readonly reorgChance: number;
  readonly wild: WildSize;
  /** Whether blocks have real hashes, and every block must be proven. */
  readonly sealed: boolean;
  /** Whether the first transaction of each sealed block is a deposit, as on OP chains: only receipts can be proven. */
  readonly deposits: boolean;
  /** Whether some logs belong to no transaction. */
  readonly blockLogs: boolean;
  /** Whether the chain has pools of lending tokens whose rates grow. */
  readonly growingRates: boolean;
  /** Whether the chain has a stable pool of the vault whose price is known. */
  readonly stablePool: boolean;
  readonly nodes: number;
  /** Whether nodes have quirks, such as ids as text. */
  readonly quirks: boolean;
  readonly health: FleetHealth;
  /** Probability of a crash at each possible point. */
  readonly crashChance: number;
  /** Probability that a statement fails without a crash, at each possible point. */
  readonly glitchChance: number;
  readonly limits: SessionLimits;
  /** Whether the ingester starts after the chain has stopped. It then backfills all final blocks. */
  readonly afterwards: boolean;
  /** Longest time of one run of the process, in virtual ms. The run then ends. 0 means no limit. */
  readonly lifeMs: number;
}

const LARGE_EVERY = 8;

export const HEALTHY: FleetHealth = { lag: 0, stuck: 0, spread: 0, amnesia: 0, failure: 0, lying: 0 };

export function planOf(seed: number): SeedPlan {
  const random = new Random(seed * 2_654_435_761);
  // Seeds that are a multiple of LARGE_EVERY use a large chain. All other seeds use a small chain.
  const isLargeChain = seed % LARGE_EVERY === 0;
  const depth = random.pick(isLargeChain ? [3, 8, 20, 40, 64] : [1, 2, 3, 5, 8, 16]);
  const firstBlocks = random.pick(isLargeChain ? [10, 20, 40, 80, 120] : [2, 3, 5, 10, 10, 20, 30]);
  // An ingester that starts at a later block needs a final block before its first block, because the start of the
  // index is never undone.
  const startsLate = random.chance(0.25) && firstBlocks > depth + 2;
  const isLongChain = isLargeChain && random.chance(0.08);
  const areNodesFaulty = random.chance(0.85);
  // A generator of its own keeps the other values of older seeds.
  const laterRandom = new Random(seed * 40_503 + 1);
  /** The probability of a fault: 0 for healthy nodes, and for some faults of the others. */
  const faultChance = (value: number): number => (areNodesFaulty && random.chance(0.6) ? value : 0);
  return {
    seed,
    depth,
    // Without the finalized tag, the product assumes finality at depth 64, so a reorg must not be deeper.
    finality: depth <= 64 && random.chance(0.5) ? 'tag' : depth,
    firstBlocks,
    startBlock: startsLate ? random.int(2, firstBlocks - depth) : 1,
    moves: isLongChain ? 60 : random.pick(isLargeChain ? [8, 15, 25] : [2, 4, 8, 12]),
    gapMs: random.pick([50, 500, 3_000, 20_000]),
    strides: isLongChain
      ? [1, 5, 20, 60]
      : random.pick([[1], [1, 1, 2, 5], isLargeChain ? [1, 1, 2, 5, 30] : [1, 2, 8]]),
    reorgChance: random.pick([0.1, 0.35, 0.6]),
    wild: {
      emptyChance: isLongChain ? 0.97 : random.pick(isLargeChain ? [0.1, 0.4, 0.7] : [0.2, 0.5, 0.8]),
      transactionsMax: random.pick(isLargeChain ? [1, 2, 4] : [1, 1, 2]),
      bigChance: isLargeChain && random.chance(0.2) ? 0.01 : 0,
      logsMax: random.chance(0.1) ? 5_000 : 300,
    },
    sealed: !isLongChain && laterRandom.chance(0.25),
    deposits: new Random(seed * 69_069 + 1).chance(0.4),
    blockLogs: laterRandom.chance(0.4),
    quirks: laterRandom.chance(0.6),
    growingRates: true,
    stablePool: true,
    nodes: random.pick([1, 1, 2, 3]),
    health: areNodesFaulty
      ? {
          lag: faultChance(0.3),
          stuck: faultChance(0.15),
          spread: faultChance(0.2),
          amnesia: faultChance(0.2),
          failure: faultChance(0.6),
          lying: faultChance(0.2),
        }
      : HEALTHY,
    crashChance: random.pick([0, 0.005, 0.02, 0.08]),
    glitchChance: random.pick([0, 0, 0.01]),
    lifeMs: random.pick([0, 0, 2_000, 30_000, 200_000]),
    afterwards: false,
    limits: {
      ...SESSION_LIMITS,
      promoteMinBlocks: random.pick([1, 2, 5, 32]),
      promoteMaxBlocks: random.pick([1, 7, 256]),
      headKeptBlocks: random.pick([1, 16, 1_024]),
      batchBlocks: random.pick([1, 7, 1_000, 5_000]),
      backfillMinBlocks: random.pick([1, 5, 32]),
    },
  };
}
