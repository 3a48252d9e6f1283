/**
 * Runs seeds on the model of the store. Nodes lag, lose blocks, limit calls, fail and answer wrongly, the
 * chain forks and returns, and the ingester may die at any step. In the end all stored rows equal the
 * oracle's. More: npm run simulate -- --seed 1 --seeds 10000.
 */
import { checkOnModel } from './compare/checkSeed';
import { QUIRKS } from './fleet/simWorld';

// Nodes fail a hundred times per seed, so error stacks are switched off.
Error.stackTraceLimit = 3;

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 40);
const PROGRESS_EVERY_MS = 10_000;

const tell = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

test(
  `after reorgs, faults and crashes the stored rows of seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1} are correct for the chain`,
  async () => {
    const startedAt = performance.now();
    const cpuAtStart = process.cpuUsage();
    let toldAt = startedAt;
    let lives = 0;
    const wrong: string[] = [];
    const countByQuirk = new Map(QUIRKS.map((quirk) => [quirk, 0]));
    for (let done = 1; done <= SEEDS; done += 1) {
      const seed = FIRST_SEED + done - 1;
      const result = await checkOnModel(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      lives += result.run.lives;
      for (const [quirk, count] of result.run.quirksSeen)
        countByQuirk.set(quirk, (countByQuirk.get(quirk) ?? 0) + count);
      for (const line of result.wrong) {
        wrong.push(`seed ${seed}: ${line}`);
        tell(`seed ${seed}: ${line.slice(0, 500)}`);
      }
      const now = performance.now();
      if (now - toldAt > PROGRESS_EVERY_MS || done === SEEDS) {
        toldAt = now;
        const seedsPerMinute = Math.round((done / (now - startedAt)) * 60_000);
        const { user, system } = process.cpuUsage(cpuAtStart);
        const seedsPerCpuMinute = Math.round((done / (user + system)) * 60_000_000);
        tell(
          `model: seeds ${FIRST_SEED}-${seed}, ${lives} lives, ${seedsPerMinute} seeds per minute (${seedsPerCpuMinute} per minute of CPU time), ${wrong.length} mismatches`,
        );
      }
    }
    tell(`model: ${[...countByQuirk].map(([quirk, times]) => `${times} ${quirk}`).join(', ')}`);
    expect(wrong).toEqual([]);
    // Few seeds may lack a quirk.
    if (SEEDS >= 40) expect([...countByQuirk].filter(([, times]) => times === 0)).toEqual([]);
  },
  SEEDS * 20_000,
);

test('the same seed gives the same run, step by step', async () => {
  const first = await checkOnModel(FIRST_SEED);
  const second = await checkOnModel(FIRST_SEED);
  expect(second.traceHash).toBe(first.traceHash);
  expect(second.contentHash).toBe(first.contentHash);
});
