/** Runs one simulation seed and lists every error in the stored data. */
import { EVENT_TABLE_NAMES } from '../../../src/clickhouse/schema/eventTables';
import { isWeaker, weakerOf, type ProofLevel } from '../../../src/domain/block';
import type { HeadBlock } from '../../../src/domain/head/foldHead';
import { toReading } from '../../../src/query/head/headState';
import { compareOracle, compareViews, oracleTruth } from './compareOracle';
import { compareRows } from './compareContent';
import { createModelBackend, type ModelBackend } from '../modelBackend';
import type { ModelEngine } from '../model/modelEngine';
import { headRowOf } from '../model/modelReader';
import { blockOf } from '../model/modelTables';
import { runSeed, type SeedRun } from '../runSeed';
import { planOf, type SeedPlan } from '../seedPlan';
import type { SimChain } from '../chain/simChain';
import { contentHash, modelContent, readTip, type StoredContent, type StoredTip } from './storedContent';
import { straightRows } from './straightRun';
import { oracleUnread } from './transferRows';

interface SeedResult {
  readonly seed: number;
  /** The errors, one line each. */
  readonly wrong: readonly string[];
  readonly traceHash: string;
  readonly contentHash: string;
  readonly run: SeedRun;
}

/**
 * One seed in six also checks, after each crash, what readers of the database see. The check after a crash
 * takes as long as the final check.
 */
const CRASH_CHECK_EVERY_SEEDS = 6;

/** Runs one seed on the model of the store. */
export async function checkOnModel(seed: number, change: Partial<SeedPlan> = {}): Promise<SeedResult> {
  const plan = { ...planOf(seed), ...change };
  const backend = createModelBackend();
  const wrong: string[] = [];
  const run = await runSeed(plan, backend, {
    onLife: (level) => {
      backend.engine.level = level;
    },
    afterLife: async (chain) => {
      if (wrong.length === 0 && seed % CRASH_CHECK_EVERY_SEEDS === 0)
        wrong.push(...(await checkAfterCrash(backend, chain)).map((line) => `after a crash: ${line}`));
    },
  });
  if (run.stuck !== null) wrong.push(run.stuck);
  if (run.tip === null || run.stuck !== null)
    return { seed, wrong, traceHash: run.traceHash, contentHash: '', run };
  const content = modelContent(backend.engine, run.tip);
  wrong.push(...checkReader(backend, run.tip));
  wrong.push(...(await checkContent(run.chain, content)), ...checkMarks(backend, run.chain, content));
  const truth = oracleTruth(run.chain, run.chain.canonical(), plan.startBlock);
  wrong.push(...compareViews(backend.engine.views, content, truth));
  if (content.beyond > 0) wrong.push(`${content.beyond} rows are above the cursor`);
  return { seed, wrong, traceHash: run.traceHash, contentHash: contentHash(content), run };
}

/** Compares the rows with one undisturbed run of the product, byte by byte, and with the oracle, field by
 * field. */
export async function checkContent(chain: SimChain, content: StoredContent): Promise<string[]> {
  const blocks = branchOf(chain, content.hash);
  if (blocks === null) return [`block ${content.number} ${content.hash} was never mined`];
  const expected = await straightRows(chain, blocks.slice(content.startBlock), content.startBlock);
  return [
    ...compareRows(content.rows, expected),
    ...compareOracle(content, oracleTruth(chain, blocks, content.startBlock)),
  ];
}

/** Checks the readers' view after a crash: it must be a complete and exact chain up to some block. */
async function checkAfterCrash(backend: ModelBackend, chain: SimChain): Promise<string[]> {
  const tip = await readTip(backend.steady);
  if (tip === null) return [];
  const wrong = checkReader(backend, tip);
  if (wrong.length > 0 || tip.number < tip.startBlock) return wrong;
  const content = modelContent(backend.engine, tip);
  return [...(await checkContent(chain, content)), ...checkMarks(backend, chain, content)];
}

/** Checks that every stored token with a Transfer log that cannot be read is marked. */
function checkMarks({ engine }: ModelBackend, chain: SimChain, content: StoredContent): string[] {
  const blocks = branchOf(chain, content.hash)?.slice(content.startBlock) ?? [];
  return [...oracleUnread(blocks)]
    .filter((token) => engine.oddTokens.get(token)?.['kind'] !== 'unread_transfer')
    .map((token) => `${token} has a Transfer log that cannot be read, but no mark`);
}

/** Checks that readers and ingester derive the same head from the stored rows. */
function checkReader({ engine }: ModelBackend, tip: StoredTip): string[] {
  const { snapshot } = toReading(headRowOf(engine));
  if (snapshot === null) return tip.number < tip.startBlock ? [] : ['readers find no head'];
  const readBlocks = JSON.stringify(
    snapshot.blocks.map(({ number, hash, commit }) => [number, hash, commit]),
  );
  const expectedBlocks = JSON.stringify(tip.head.map(({ number, hash, commit }) => [number, hash, commit]));
  const lines: string[] = [];
  if (snapshot.finalTo !== tip.finalTo)
    lines.push(`the last final block is ${snapshot.finalTo} for readers, ${tip.finalTo} for the ingester`);
  if (readBlocks !== expectedBlocks)
    lines.push(`the head is ${readBlocks} for readers, ${expectedBlocks} for the ingester`);
  return [...lines, ...checkLevels(engine, snapshot.blocks)];
}

/** Checks that no block has a stronger level of proof than its rows, and that each head block has the level of its rows. */
function checkLevels(engine: ModelEngine, head: readonly HeadBlock[]): string[] {
  const weakestByBlock = new Map<number, ProofLevel>();
  const weakestByCommit = new Map<number, ProofLevel>();
  const lowerLevel = <K>(levels: Map<K, ProofLevel>, key: K, level: ProofLevel): unknown =>
    levels.set(key, weakerOf(level, levels.get(key) ?? level));
  for (const name of EVENT_TABLE_NAMES) {
    for (const { bytes, level } of engine.finalRows(name))
      lowerLevel(weakestByBlock, blockOf(name, bytes), level);
    for (const { commit, level } of engine.headRows(name)) lowerLevel(weakestByCommit, commit, level);
  }
  const storedLevels = new Map<number, ProofLevel>();
  for (const { status, from, to, proof } of engine.promotions)
    for (let number = from; status === 'done' && number <= to; number += 1)
      lowerLevel(storedLevels, number, proof);
  return [
    ...[...storedLevels].flatMap(([number, level]) =>
      isWeaker(weakestByBlock.get(number) ?? level, level)
        ? [`final block ${number} is stored as ${level}`]
        : [],
    ),
    ...head.flatMap(({ number, commit, proof }) =>
      weakestByCommit.get(commit) === proof ? [] : [`block ${number} of the head is stored as ${proof}`],
    ),
  ];
}

function branchOf(chain: SimChain, tip: string) {
  const blocks = [];
  for (
    let block = chain.block(tip as `0x${string}`);
    block !== undefined;
    block = chain.block(block.parentHash)
  )
    blocks.push(block);
  return blocks.length === 0 ? null : blocks.reverse();
}
