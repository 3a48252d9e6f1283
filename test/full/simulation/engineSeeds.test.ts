/**
 * Runs seeds on the real engine and on the model of the store. Both end with the same bytes, and the bytes are correct
 * for the chain. More: npm run simulate -- --engine --seed 1 --seeds 300.
 */
import { checkOnEngine } from '../../simulation/compare/checkOnEngine';
import { createEngineBackend, type EngineBackend } from '../../simulation/engineBackend';

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_ENGINE_SEEDS'] ?? 4);
const PROGRESS_EVERY_MS = 10_000;

let backend: EngineBackend;
beforeAll(async () => {
  backend = await createEngineBackend();
});
afterAll(() => backend.drop());

test(
  `seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1} store the same rows on the engine and on the model, correct for the chain`,
  async () => {
    const began = performance.now();
    const cpu = process.cpuUsage();
    let toldAt = began;
    let lives = 0;
    let comparedEvents = 0;
    const wrong: string[] = [];
    for (let done = 1; done <= SEEDS; done += 1) {
      const seed = FIRST_SEED + done - 1;
      const result = await checkOnEngine(backend, seed);
      lives += result.lives;
      comparedEvents += result.comparedEvents;
      for (const line of result.wrong) {
        wrong.push(`seed ${seed}: ${line}`);
        process.stderr.write(`seed ${seed}: ${line.slice(0, 6000)}\n`);
      }
      const now = performance.now();
      if (now - toldAt > PROGRESS_EVERY_MS || done === SEEDS) {
        toldAt = now;
        const rate = Math.round((done / (now - began)) * 60_000);
        const { user, system } = process.cpuUsage(cpu);
        const perCpu = Math.round((done / (user + system)) * 60_000_000);
        process.stderr.write(
          `engine: seeds ${FIRST_SEED}-${seed}, ${lives} lives, ${comparedEvents} new events compared, ${rate} seeds per minute (${perCpu} per minute of CPU time), ${wrong.length} mismatches\n`,
        );
      }
    }
    expect(wrong).toEqual([]);
    expect(comparedEvents).toBeGreaterThan(0);
  },
  Math.max(600_000, SEEDS * 60_000),
);
