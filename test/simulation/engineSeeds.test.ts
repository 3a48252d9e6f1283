/**
 * Seeds on the real engine, each of them also on the model of the store: both end with the same bytes, and those are the
 * chain's. More: npm run simulate -- --engine --seed 1 --seeds 300.
 */
import { createQueryRunner } from '../../src/clickhouse/namedQueries';
import { verifyAggregates } from '../../src/query/verifyAggregates';
import { compareAnswers } from './compareAnswers';
import { checkContent, checkOnModel } from './checkSeed';
import { createEngineBackend, type EngineBackend } from './engineBackend';
import { runSeed } from './runSeed';
import { planOf } from './seedPlan';
import { SIM_CHAIN_ID } from './simChain';
import { contentHash, engineContent } from './storedContent';

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_ENGINE_SEEDS'] ?? 4);
const PROGRESS_EVERY_MS = 10_000;

let backend: EngineBackend;
beforeAll(async () => {
  backend = await createEngineBackend();
});
afterAll(() => backend.drop());

async function checkOnEngine(seed: number): Promise<{ wrong: string[]; lives: number }> {
  await backend.clear();
  const plan = planOf(seed);
  const run = await runSeed(plan, backend);
  const onModel = await checkOnModel(seed);
  const wrong = onModel.wrong.map((line) => `on the model: ${line}`);
  if (run.stuck !== null || run.tip === null)
    return { wrong: [...wrong, run.stuck ?? 'nothing is stored'], lives: run.lives };
  const content = await engineContent(backend.steady, run.tip);
  wrong.push(...(await checkContent(run.chain, content)));
  if (content.beyond > 0) wrong.push(`${content.beyond} rows lie beyond the cursor`);
  if (contentHash(content) !== onModel.contentHash) wrong.push('the model ends with another content');
  const { startBlock: from, finalTo } = run.tip;
  const differing = await verifyAggregates(
    createQueryRunner(backend.steady, { checkRows: true }),
    { chainId: SIM_CHAIN_ID, from, to: finalTo, finalTo },
    () => undefined,
  );
  wrong.push(
    ...differing.map(({ item, only_in: place, value }) => `verify: ${item} only in ${place}: ${value}`),
  );
  wrong.push(...(await compareAnswers(backend.steady, run.chain)));
  return { wrong, lives: run.lives };
}

test(
  `seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1} end on the engine as on the model, and both with the chain’s content`,
  async () => {
    const began = performance.now();
    const cpu = process.cpuUsage();
    let toldAt = began;
    let lives = 0;
    const wrong: string[] = [];
    for (let done = 1; done <= SEEDS; done += 1) {
      const seed = FIRST_SEED + done - 1;
      const result = await checkOnEngine(seed);
      lives += result.lives;
      for (const line of result.wrong) {
        wrong.push(`seed ${seed}: ${line}`);
        process.stderr.write(`seed ${seed}: ${line.slice(0, 500)}\n`);
      }
      const now = performance.now();
      if (now - toldAt > PROGRESS_EVERY_MS || done === SEEDS) {
        toldAt = now;
        const rate = Math.round((done / (now - began)) * 60_000);
        const { user, system } = process.cpuUsage(cpu);
        const perCpu = Math.round((done / (user + system)) * 60_000_000);
        process.stderr.write(
          `engine: seeds ${FIRST_SEED}-${seed}, ${lives} lives, ${rate} seeds a minute (${perCpu} in a minute of one core), ${wrong.length} mismatches\n`,
        );
      }
    }
    expect(wrong).toEqual([]);
  },
  SEEDS * 60_000,
);
