/**
 * Seeds that failed once, each with the bug that it found. A failing seed stays here even if its plan has
 * changed since.
 */
import { emptyRows } from '../../src/ingest/rows/blockRows';
import { createClickHouseStore } from '../../src/ingest/store/clickhouseStore';
import { RowBatch } from '../../src/ingest/rows/rowBatch';
import type { BlockRef } from '../../src/domain/block';
import { checkOnModel } from './compare/checkSeed';
import { createEngineBackend } from './engineBackend';
import { SIM_CHAIN_ID } from './chain/simChain';
import { digest } from '../support/plainLogs';
import { blockLogsProven, forksSeenLate, statementsLandLate, tokensSeenLate, WITHOUT_QUIRKS } from './stress';

const KEPT = [
  ['one outdated answer that contradicted a final block stopped the writer permanently', 3, forksSeenLate],
  [
    'the final block of one head was applied to another head, and blocks of an abandoned branch were promoted',
    8,
    forksSeenLate,
  ],
  [
    'a backfill read the last final blocks from a node that was still on an abandoned branch',
    31,
    forksSeenLate,
  ],
  [
    'a vault pool was looked up on a branch without the pool, and then ignored permanently',
    47,
    forksSeenLate,
  ],
  [
    'decimals of a new token were read from a node behind its block, and stored as unknown',
    92,
    tokensSeenLate,
  ],
  [
    'a head change (flip) of an ended session was stored late and took precedence over newer ones',
    81,
    statementsLandLate,
  ],
  [
    'a head was never stored if the node left it during the sync and returned to it later',
    200_042,
    () => WITHOUT_QUIRKS,
  ],
  [
    'a token was asked again on a branch without it, and had no decimals when it appeared after a restart',
    1_226,
    () => WITHOUT_QUIRKS,
  ],
  ['a swap without a transaction stopped the ingester of a chain that is proven', 10, blockLogsProven],
  [
    'after a restart, an older pool of Curve whose first log was malformed lost all its later logs',
    1_104,
    () => ({ growingRates: false, stablePool: false }),
  ],
] as const;

test.each(KEPT)('a kept seed no longer shows this bug: %s (seed %i)', async (_found, seed, plan) => {
  expect((await checkOnModel(seed, plan(seed))).wrong).toEqual([]);
});

test('a range started ten times and never finished does not hide earlier finished ranges', async () => {
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
            gas_used: [],
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
