/** Plans of seeds that make one kind of fault likely, for the regression seeds in kept.test.ts. */
import { HEALTHY, planOf, type SeedPlan } from './seedPlan';

/** What plans had before they had these faults. */
export const WITHOUT_QUIRKS = {
  sealed: false,
  deposits: false,
  blockLogs: false,
  quirks: false,
  growingRates: false,
  stablePool: false,
} as const;

const inShort = (seed: number): Partial<SeedPlan> => ({
  ...WITHOUT_QUIRKS,
  moves: 15,
  strides: [1, 1, 2],
  wild: { ...planOf(seed).wild, emptyChance: 0.2, bigChance: 0 },
  crashChance: 0,
  glitchChance: 0,
  lifeMs: 0,
});

/** A plan in which several nodes at different blocks share one URL while the chain forks. */
export const forksSeenLate = (seed: number): Partial<SeedPlan> => ({
  ...inShort(seed),
  depth: 3,
  finality: seed % 2 === 0 ? 3 : 'tag',
  firstBlocks: 12,
  startBlock: 1,
  gapMs: 1_500,
  reorgChance: 0.6,
  nodes: 2,
  health: { ...HEALTHY, lag: 0.4, spread: 0.8, stuck: 0.2, failure: 0.1 },
  lifeMs: 3_000,
  limits: { ...planOf(seed).limits, backfillMinBlocks: 1, promoteMinBlocks: 1, batchBlocks: 5_000 },
});

/** A plan in which every block must be proven in full, and some logs belong to no transaction. */
export const blockLogsProven = (seed: number): Partial<SeedPlan> => ({
  ...inShort(seed),
  sealed: true,
  deposits: false,
  blockLogs: true,
  moves: 4,
  gapMs: 500,
});

/** A plan in which tokens are created in blocks that some nodes do not have yet. */
export const tokensSeenLate = (seed: number): Partial<SeedPlan> => ({
  ...inShort(seed),
  gapMs: 500,
  startBlock: 1,
  reorgChance: 0.1,
  wild: { ...planOf(seed).wild, emptyChance: 0, transactionsMax: 4, bigChance: 0 },
  nodes: 3,
  health: { ...HEALTHY, lag: 0.5, spread: 0.8, failure: 0.2 },
});

/** A plan in which statements take effect after their session has given them up. */
export const statementsLandLate = (seed: number): Partial<SeedPlan> => ({
  ...inShort(seed),
  gapMs: 2_000,
  reorgChance: 0.5,
  health: HEALTHY,
  crashChance: 0.05,
  glitchChance: 0.1,
});
