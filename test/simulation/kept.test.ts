/**
 * Regression seeds that once failed, each with the bug it found. A failing seed stays here even if its plan has changed
 * since.
 */
import { emptyRows } from '../../src/ingest/rows/blockRows';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { RowBatch } from '../../src/ingest/rows/rowBatch';
import type { BlockRef } from '../../src/domain/block';
import { checkOnModel } from './compare/checkSeed';
import { createEngineBackend } from './engineBackend';
import { SIM_CHAIN_ID } from './chain/simChain';
import { digest } from './chain/simLogs';
import { forksSeenLate, statementsLandLate, tokensSeenLate } from './stress';

const KEPT = [
  ['one stale answer that contradicts a final block stopped the writer for good', 3, forksSeenLate],
  [
    'what was final under one head was called final under another, and promoted from a branch given up',
    8,
    forksSeenLate,
  ],
  [
    'a backfill took the last final blocks from a node that still showed a branch given up',
    31,
    forksSeenLate,
  ],
  ['a vault pool was asked of a branch without it, and then passed over for good', 47, forksSeenLate],
  ['decimals of a young token were asked of a node behind its block, and stored as none', 92, tokensSeenLate],
  [
    'a flip of the head that its session had given up landed later and won over newer ones',
    81,
    statementsLandLate,
  ],
  [
    'a head that the node came back to, after another was met on the way to it, was never stored',
    200_042,
    () => ({}),
  ],
] as const;

test.each(KEPT)('%s (seed %i)', async (_found, seed, plan) => {
  expect((await checkOnModel(seed, plan(seed))).wrong).toEqual([]);
});

test('a range that is begun ten times and never done hides nothing that was done before it', async () => {
  const backend = await createEngineBackend();
  try {
    const hash = digest('base', 32);
    const base: BlockRef = { number: 4, hash, parentHash: hash, timestamp: 1_700_000_000 };
    await createClickHouseStore(backend.steady, SIM_CHAIN_ID).writeStart(base);
    const dying = createClickHouseStore(
      { ...backend.steady, insert: () => Promise.reject(new Error('dead')) },
      SIM_CHAIN_ID,
    );
    const ref: BlockRef = {
      number: 5,
      hash: digest('first', 32),
      parentHash: hash,
      timestamp: 1_700_000_010,
    };
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const batch = new RowBatch();
      const rows = {
        ...emptyRows(ref),
        blocks: [
          {
            chain_id: SIM_CHAIN_ID,
            number: ref.number,
            hash: ref.hash,
            parent_hash: ref.parentHash,
            timestamp: ref.timestamp,
            base_fee: null,
            transaction_count: 0,
            log_count: 0,
            gas_prices: [],
          },
        ],
      };
      batch.add(rows);
      await expect(dying.writeRange(1, batch, null)).rejects.toThrow('dead');
    }
    const state = await createClickHouseStore(backend.steady, SIM_CHAIN_ID).loadState();
    expect(state).toMatchObject({
      startBlock: 5,
      cursor: { number: 4, hash },
      intent: { seq: 1, from: 5, to: 5 },
    });
  } finally {
    await backend.drop();
  }
});
