/**
 * Ingests one chain in different ways and expects the same bytes. The variants are batches of 1, 7 and 1,000
 * blocks, live or backfill, few or many restarts, good or bad nodes.
 */
import { checkOnModel } from '../../simulation/compare/checkSeed';
import { createEngineBackend } from '../../simulation/engineBackend';
import { HEALTHY, planOf, type SeedPlan } from '../../simulation/seedPlan';
import { runSeed } from '../../simulation/runSeed';
import { contentHash, engineContent } from '../../simulation/compare/storedContent';

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_DIFFERENTIAL_SEEDS'] ?? 8);
const ENGINE_SEEDS = Number(process.env['SIMULATION_DIFFERENTIAL_ENGINE_SEEDS'] ?? 1);

type Way = readonly [name: string, change: (plan: SeedPlan) => Partial<SeedPlan>];

const unharmed = { crashChance: 0, glitchChance: 0, lifeMs: 0, health: HEALTHY };
const inBatches =
  (batchBlocks: number) =>
  (plan: SeedPlan): Partial<SeedPlan> => ({
    ...unharmed,
    afterwards: true,
    limits: { ...plan.limits, batchBlocks, backfillMinBlocks: 1 },
  });

const WAYS: readonly Way[] = [
  ['backfilled in batches of 1 block', inBatches(1)],
  ['backfilled in batches of 7 blocks', inBatches(7)],
  ['backfilled in batches of 1,000 blocks', inBatches(1_000)],
  ['live', () => unharmed],
  ['live with frequent restarts', () => ({ ...unharmed, crashChance: 0.05, lifeMs: 2_000 })],
  [
    'live from bad nodes',
    (plan) => ({ ...unharmed, health: { ...plan.health, lag: 0.4, failure: 0.3, lying: 0.3 } }),
  ],
];

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
  'with seed %i every way of ingesting stores the same rows in the model of the store',
  async (seed) => {
    const hashes = new Map<string, string>();
    for (const [name, change] of WAYS) {
      const { wrong, contentHash: hash } = await checkOnModel(seed, change(planOf(seed)));
      expect(wrong.map((line) => `${name}: ${line}`)).toEqual([]);
      hashes.set(name, hash);
    }
    expect(new Set(hashes.values()).size).toBe(1);
  },
);

test.each(Array.from({ length: ENGINE_SEEDS }, (_, index) => FIRST_SEED + index))(
  'with seed %i every way of ingesting stores on the engine the rows of the model of the store',
  async (seed) => {
    const { contentHash: onModel } = await checkOnModel(seed);
    const backend = await createEngineBackend();
    try {
      for (const [name, change] of WAYS) {
        await backend.clear();
        const plan = planOf(seed);
        const run = await runSeed({ ...plan, ...change(plan) }, backend);
        expect([name, run.stuck]).toEqual([name, null]);
        expect([name, contentHash(await engineContent(backend.steady, run.tip!))]).toEqual([name, onModel]);
      }
    } finally {
      await backend.drop();
    }
  },
);
