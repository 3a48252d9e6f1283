/** Runs one seed on the real engine and on the model of the store, and lists every difference at the end. */
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { verifyAggregates } from '../../../src/query/verify/verifyAggregates';
import type { HeadFlip } from '../../../src/ingest/store/store';
import { compareAnswers } from './compareAnswers';
import { compareFresh } from './compareFresh';
import { checkContent, checkOnModel } from './checkSeed';
import type { EngineBackend } from '../engineBackend';
import { runSeed } from '../runSeed';
import { planOf } from '../seedPlan';
import { SIM_CHAIN_ID } from '../chain/simChain';
import { contentHash, engineContent } from './storedContent';

/**
 * Clears the backend first. `lives` counts the starts of the process. `told` counts the streamed events that were
 * compared with stored ones.
 */
export async function checkOnEngine(
  backend: EngineBackend,
  seed: number,
): Promise<{ wrong: string[]; lives: number; told: number }> {
  await backend.clear();
  const plan = planOf(seed);
  const flips: HeadFlip[] = [];
  const run = await runSeed(plan, backend, { onFlip: (flip) => flips.push(flip) });
  const onModel = await checkOnModel(seed);
  const wrong = onModel.wrong.map((line) => `on the model: ${line}`);
  if (run.stuck !== null || run.tip === null)
    return { wrong: [...wrong, run.stuck ?? 'the store is empty'], lives: run.lives, told: 0 };
  const content = await engineContent(backend.steady, run.tip);
  wrong.push(...(await checkContent(run.chain, content)));
  if (content.beyond > 0) wrong.push(`${content.beyond} rows are above the cursor`);
  if (contentHash(content) !== onModel.contentHash)
    wrong.push('the content of the engine differs from the model');
  const { startBlock: from, finalTo } = run.tip;
  const differing = await verifyAggregates(
    createQueryRunner(backend.steady),
    { chainId: SIM_CHAIN_ID, from, to: finalTo, finalTo },
    () => undefined,
  );
  wrong.push(
    ...differing.map(({ item, only_in: place, value }) => `verify: ${item} only in ${place}: ${value}`),
  );
  wrong.push(...(await compareAnswers(backend.steady, run.chain)));
  const fresh = await compareFresh(backend.steady, flips);
  wrong.push(...fresh.wrong);
  return { wrong, lives: run.lives, told: fresh.compared };
}
