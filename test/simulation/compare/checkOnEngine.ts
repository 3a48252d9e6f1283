/** Runs one seed on the real engine and on the model of the store, and lists every difference at the end. */
import { createQueryRunner } from '../../../src/clickhouse/client/namedQueries';
import { verifyAggregates } from '../../../src/query/verify/verifyAggregates';
import type { StoredFlip } from '../../../src/ingest/store/store';
import { compareAnswers } from './compareAnswers';
import { compareFresh } from './compareFresh';
import { checkContent, checkOnModel } from './checkSeed';
import type { EngineBackend } from '../engineBackend';
import { runSeed } from '../runSeed';
import { planOf } from '../seedPlan';
import { SIM_CHAIN_ID, type SimChain } from '../chain/simChain';
import { contentHash, engineContent, type StoredTip } from './storedContent';
import type { Database } from '../../../src/clickhouse/client/database';

/**
 * Clears the backend first. `lives` is the number of starts of the process. `comparedEvents` is the number of streamed
 * events that were compared with stored events.
 */
export async function checkOnEngine(
  backend: EngineBackend,
  seed: number,
): Promise<{ wrong: string[]; lives: number; comparedEvents: number }> {
  await backend.clear();
  const plan = planOf(seed);
  const flips: StoredFlip[] = [];
  const run = await runSeed(plan, backend, { onFlip: (flip) => flips.push(flip) });
  const onModel = await checkOnModel(seed);
  const wrong = onModel.wrong.map((line) => `on the model: ${line}`);
  if (run.stuck !== null || run.tip === null)
    return { wrong: [...wrong, run.stuck ?? 'the store is empty'], lives: run.lives, comparedEvents: 0 };
  const storedResult = await checkStored(backend.steady, run.chain, run.tip);
  wrong.push(...storedResult.wrong);
  if (storedResult.contentHash !== onModel.contentHash)
    wrong.push('the content of the engine differs from the model');
  wrong.push(...(await compareAnswers(backend.steady, run.chain)));
  const freshDifferences = await compareFresh(backend.steady, flips);
  wrong.push(...freshDifferences.wrong);
  return { wrong, lives: run.lives, comparedEvents: freshDifferences.compared };
}

/** Compares the rows up to the newest block with the chain, and the aggregates with the rows. */
export async function checkStored(
  database: Database,
  chain: SimChain,
  tip: StoredTip,
): Promise<{ readonly wrong: string[]; readonly contentHash: string }> {
  const content = await engineContent(database, tip);
  const { startBlock: from, finalTo } = tip;
  const aggregateDifferences = await verifyAggregates(
    createQueryRunner(database),
    { chainId: SIM_CHAIN_ID, from, to: finalTo, finalTo },
    () => undefined,
  );
  const wrong = [
    ...(await checkContent(chain, content)),
    ...(content.beyond > 0 ? [`${content.beyond} rows lie beyond the cursor`] : []),
    ...aggregateDifferences.map(({ item, only_in, value }) => `verify: ${item} only in ${only_in}: ${value}`),
  ];
  return { wrong, contentHash: contentHash(content) };
}
