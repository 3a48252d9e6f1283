/** Tests the block at a time: equal to a plain search for any time and head, with few statements as the head moves on. */
import { createQueryRunner } from '../../../../src/clickhouse/client/namedQueries';
import { ZERO_HASH } from '../../../../src/domain/hex';
import { findFinalBlockAt, findFinalTip } from '../../../../src/query/head/blockTimes';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { seededRandom } from '../../../support/random';

const CHAIN = 369;
const FIRST = 11;
const START = 1_700_000_000;
const BLOCKS = 2_000;

let store: TestStore;
let statements = 0;
/** Every block with its time. Some neighbours have the same time. */
const blocks: { readonly number: number; readonly timestamp: number }[] = [];

beforeAll(async () => {
  store = await openTestStore();
  const random = seededRandom(7);
  for (let number = FIRST, timestamp = START; number < FIRST + BLOCKS; number += 1) {
    blocks.push({ number, timestamp });
    timestamp += Math.floor(random() * 4) * 5;
  }
  const rows = blocks.map(
    ({ number, timestamp }) => `(${CHAIN}, ${number}, '', '', ${timestamp}, NULL, 0, 0, [], [])`,
  );
  await store.db.command('load blocks', `INSERT INTO blocks VALUES ${rows.join(', ')}`);
});

afterAll(() => store?.close());

function headAt(finalTo: number): HeadSnapshot {
  const timestamp = START + 1_000_000;
  const common = { startBlock: FIRST, logsFrom: FIRST, hash: ZERO_HASH, timestamp, blocks: [] };
  return { ...common, version: String(finalTo), number: finalTo, finalTo, finalNumber: finalTo };
}

const countingRunner = () => {
  const { db } = store;
  return createQueryRunner({
    ...db,
    select: (...args) => {
      statements += 1;
      return db.select(...args);
    },
    selectBinary: (...args) => {
      statements += 1;
      return db.selectBinary(...args);
    },
  });
};

const plain = (finalTo: number, time: number) =>
  blocks.findLast(({ number, timestamp }) => number <= finalTo && timestamp <= time) ?? null;

test('the block at any time of any head is that of a plain search', async () => {
  const runner = countingRunner();
  const random = seededRandom(11);
  const last = blocks.at(-1)?.timestamp ?? 0;
  for (let round = 0; round < 400; round += 1) {
    const finalTo = FIRST + Math.floor(random() * BLOCKS);
    const time = START - 50 + Math.floor(random() * (last - START + 100));
    expect([finalTo, time, await findFinalBlockAt(runner, CHAIN, headAt(finalTo), time)]).toEqual([
      finalTo,
      time,
      plain(finalTo, time),
    ]);
  }
  expect(await findFinalTip(runner, CHAIN, headAt(FIRST + 5))).toEqual(blocks[5]);
  expect(await findFinalTip(runner, CHAIN, headAt(FIRST - 1))).toBeNull();
});

test('while the head moves on by 200 blocks, times before it need five statements at most, besides one per head', async () => {
  const runner = countingRunner();
  statements = 0;
  for (let moved = 0; moved < 200; moved += 1) {
    const finalTo = FIRST + 1_500 + moved;
    const now = plain(finalTo, Infinity)?.timestamp ?? 0;
    for (const before of [3_600, 7_200, 20_000]) {
      const time = now - before;
      expect(await findFinalBlockAt(runner, CHAIN, headAt(finalTo), time)).toEqual(plain(finalTo, time));
    }
  }
  expect(statements).toBeLessThanOrEqual(200 + 5);
});
