/**
 * Runs the ingest session over a long simulated chain on the real engine. In the end all stored rows equal the oracle's
 * rows from the raw logs. engineSeeds.test.ts adds crashes and failing nodes.
 */
import type { Database } from '../../src/clickhouse/client/database';
import { askRows } from '../support/engine/askRows';
import { findDifferences, openSession } from './harness';
import { Random } from '../support/random';
import { SimChain } from './chain/simChain';
import { openTestStore } from '../support/engine/testStore';
import { headerOf } from './chain/simNode';
import { createWilderness } from './chain/simWild';

const FINALITY_DEPTH = 20;
/** Enough blocks that every kind of leg and route has prices, which the test checks. */
const BLOCKS = 200;

async function withDatabase<T>(run: (database: Database) => Promise<T>): Promise<T> {
  const store = await openTestStore();
  try {
    return await run(store.db);
  } finally {
    await store.close();
  }
}

test('a backfill stores the rows that the oracle computes for the chain', () =>
  withDatabase(async (database) => {
    const chain = new SimChain(7);
    chain.mine(BLOCKS);
    const session = await openSession(chain, database, { depth: FINALITY_DEPTH, commitSeed: 1 });
    await session.advanceTo(headerOf(chain.head));
    expect(session.finalTo).toBe(BLOCKS - FINALITY_DEPTH);
    expect(await findDifferences(chain, database)).toEqual([]);
    // The comparison is meaningful only if legs other than the first leg of a pool have prices and USD values.
    const [counts] = await askRows<Readonly<Record<'legs' | 'priced' | 'tracked' | 'routed', string>>>(
      database,
      `SELECT uniq(pair, leg) AS legs, countIf(price > 0 AND leg > 1) AS priced, countIf(tracked) AS tracked,
              (SELECT count() FROM token_routes WHERE arrayExists(leg -> leg > 1, legs)) AS routed
       FROM swaps WHERE pool_type = 4`,
    );
    for (const count of Object.values(counts!)) expect(Number(count)).toBeGreaterThan(10);
  }));

test('a reorg of two blocks removes them from the head, and switching back restores them', () =>
  withDatabase(async (database) => {
    const chain = new SimChain(8);
    chain.mine(40);
    const session = await openSession(chain, database, { depth: FINALITY_DEPTH, commitSeed: 2 });
    await session.advanceTo(headerOf(chain.head));
    const tip = chain.reorg(2, 3);
    await session.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
    chain.switchTo(tip);
    await session.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
  }));

test('vault pools found in the middle of the history have their earlier balances and fees', () =>
  withDatabase(async (database) => {
    // Unlike the plain simulated chain, this chain has at most one V2 and one V3 pair per two tokens. So the factories
    // know every pair.
    const size = { emptyChance: 0.2, transactionsMax: 2, bigChance: 0, logsMax: 300 };
    const chain = new SimChain(5, createWilderness(new Random(5), size));
    chain.mine(150);
    const firstBlock = 100;
    expect(chain.vaultPoolsAt(chain.at(firstBlock - 1)!.hash)!.length).toBeGreaterThan(2);
    const options = { depth: FINALITY_DEPTH, commitSeed: 3, firstBlock };
    const session = await openSession(chain, database, options);
    await session.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
    chain.mine(25);
    const laterSession = await openSession(chain, database, { ...options, commitSeed: 4 });
    await laterSession.advanceTo(headerOf(chain.head));
    expect(await findDifferences(chain, database)).toEqual([]);
  }));

test('if the final block stands still, blocks become final by their depth, and their rows are right', () =>
  withDatabase(async (database) => {
    const chain = new SimChain(9);
    chain.mine(30);
    const limits = { unfinalisedMax: 12, promoteMinBlocks: 1 };
    const session = await openSession(chain, database, { depth: 10_000, commitSeed: 3, limits });
    for (let round = 0; round < 3; round += 1) {
      await session.advanceTo(headerOf(chain.head));
      await session.promoted();
      expect(session.finalTo).toBe(chain.head.number - 12);
      expect(await findDifferences(chain, database)).toEqual([]);
      chain.reorg(3, 8);
    }
  }));
