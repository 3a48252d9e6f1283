/**
 * Runs the ingest session over a simulated chain that forks, on the real engine. The node fails, and the process may
 * crash at any write. In the end all stored rows equal the oracle's rows from the raw logs.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { AppError } from '../../src/errors';
import type { IngestSession } from '../../src/ingest/session/session';
import { askRows } from '../support/engine/askRows';
import { crashingDatabase } from './crashingDatabase';
import { CALM, findDifferences, openSession } from './harness';
import { Random } from '../support/random';
import { SimChain } from './chain/simChain';
import type { SimFaults } from './chain/simNode';
import { openTestStore } from '../support/engine/testStore';
import { headerOf } from './chain/simNode';

/** More: npm run simulate -- --properties --seed 1000 --seeds 200. */
const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 3);
const STEPS = 14;
const FINALITY_DEPTH = 20;

async function withDatabase<T>(run: (database: Database) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  try {
    return await run(store.db);
  } finally {
    await store.close();
  }
}

test('the stored rows of a backfilled chain equal the oracle', () =>
  withDatabase(async (database) => {
    const chain = new SimChain(7);
    chain.mine(400);
    const session = await openSession(chain, database, CALM, { depth: FINALITY_DEPTH, commitSeed: 1 });
    await session.advanceTo(headerOf(chain.head));
    expect(session.finalTo).toBe(400 - FINALITY_DEPTH);
    expect(await findDifferences(chain, database)).toEqual([]);
    // The comparison is meaningful only if legs beyond the first have prices, and USD values derive from them.
    const [seen] = await askRows<Readonly<Record<'legs' | 'priced' | 'tracked' | 'routed', string>>>(
      database,
      `SELECT uniq(pair, leg) AS legs, countIf(price > 0 AND leg > 1) AS priced, countIf(tracked) AS tracked,
              (SELECT count() FROM token_routes WHERE arrayExists(leg -> leg > 1, legs)) AS routed
       FROM swaps WHERE pool_type = 4`,
    );
    for (const count of Object.values(seen!)) expect(Number(count)).toBeGreaterThan(10);
  }));

test('a reorg of two blocks removes them from the head, and switching back restores them', () =>
  withDatabase(async (database) => {
    const chain = new SimChain(8);
    chain.mine(60);
    const session = await openSession(chain, database, CALM, { depth: FINALITY_DEPTH, commitSeed: 2 });
    await session.advanceTo(headerOf(chain.head));
    const tip = chain.reorg(2, 3);
    await session.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
    chain.switchTo(tip);
    await session.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
  }));

test.each([5, 6])(
  'seed %i: vault pools found in the middle of the history have their earlier balances and fees',
  (seed) =>
    withDatabase(async (database) => {
      const chain = new SimChain(seed);
      chain.mine(300);
      const firstBlock = 150;
      const options = { depth: FINALITY_DEPTH, commitSeed: 3, firstBlock };
      const session = await openSession(chain, database, CALM, options);
      await session.advanceTo(headerOf(chain.head));
      expect(await findDifferences(chain, database, firstBlock)).toEqual([]);
      chain.mine(60);
      const again = await openSession(chain, database, CALM, { ...options, commitSeed: 4 });
      await again.advanceTo(headerOf(chain.head));
      expect(await findDifferences(chain, database, firstBlock)).toEqual([]);
    }),
);

/** One seeded run. Returns the differences at its end. */
async function simulate(seed: number, database: Database): Promise<string[]> {
  const chain = new SimChain(seed);
  const random = new Random(seed ^ 0x5eed);
  const tips: { hash: `0x${string}`; fork: number }[] = [];
  // The node keeps its promise: final blocks stay.
  let highest = 0;
  const move = (): void => {
    highest = Math.max(highest, chain.head.number);
    const final = Math.max(1, highest - FINALITY_DEPTH);
    const back = tips.at(-1);
    const depthMax = chain.head.number - final;
    if (random.chance(0.35) && depthMax > 0) {
      const depth = random.int(1, depthMax);
      const { hash, number } = chain.head;
      chain.reorg(depth, random.int(1, depth + 3));
      tips.push({ hash, fork: number - depth });
    } else if (back !== undefined && random.chance(0.3) && back.fork >= final) {
      chain.switchTo(back.hash);
      tips.pop();
    } else {
      tips.length = 0;
      chain.mine(random.pick([1, 1, 2, 5, 30, 120]));
    }
    highest = Math.max(highest, chain.head.number);
  };
  const faults: SimFaults = {
    failure: 0.02,
    between: () => {
      if (random.chance(0.01)) chain.mine(1);
      highest = Math.max(highest, chain.head.number);
    },
  };
  chain.mine(random.int(1, 80));
  for (let step = 0; step < STEPS; step += 1) {
    // Each iteration is a life of the process, which may crash at any write.
    const crashing = crashingDatabase(database, random);
    let session: IngestSession | null = null;
    try {
      session = await openSession(chain, crashing, faults, {
        depth: FINALITY_DEPTH,
        commitSeed: seed * 1000 + step,
      });
      crashing.arm(random.pick([0, 0.02, 0.1, 0.3]));
      for (let turn = random.int(1, 5); turn > 0; turn -= 1) {
        move();
        await session.advanceTo(headerOf(chain.head));
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'broken_invariant') throw error;
    }
    await session?.close();
  }
  faults.failure = 0;
  const last = await openSession(chain, database, { ...CALM }, { depth: FINALITY_DEPTH, commitSeed: seed });
  await last.advanceTo(headerOf(chain.head));
  await last.close();
  return findDifferences(chain, database);
}

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index))(
  'seed %i: after reorgs, node failures and crashes all stored rows equal the oracle',
  (seed) => withDatabase(async (database) => expect(await simulate(seed, database)).toEqual([])),
);
