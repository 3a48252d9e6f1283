/** Reads block hashes by number: close together, far apart, in the head, and unknown numbers. */
import type { Hex } from '../../src/domain/hex';
import { createBlockHashes } from '../../src/query/head/blockHashes';
import type { HeadSnapshot } from '../../src/query/head/headSnapshot';
import { openTestStore, type TestStore } from '../support/engine/testStore';

const FINAL_TO = 30_000;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const HEAD: HeadSnapshot = {
  version: '1',
  startBlock: 1,
  logsFrom: 1,
  number: FINAL_TO + 1,
  hash: hashOf(FINAL_TO + 1),
  timestamp: 1,
  finalTo: FINAL_TO,
  finalNumber: FINAL_TO,
  blocks: [
    {
      number: FINAL_TO + 1,
      hash: hashOf(FINAL_TO + 1),
      parentHash: hashOf(FINAL_TO),
      timestamp: 1,
      commit: 1,
    },
  ],
};

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
  await store.db.command(
    'blocks',
    `INSERT INTO blocks (chain_id, number, hash)
     SELECT chain, number + 1, unhex(if(chain = 369, leftPad(hex(number + 1), 64, '0'), repeat('b', 64)))
     FROM numbers(${FINAL_TO}) AS n CROSS JOIN (SELECT arrayJoin([369, 943]) AS chain) AS c`,
  );
});

afterAll(() => store?.close());

test.each([
  ['no numbers', []],
  ['one number', [17]],
  ['numbers close together', Array.from({ length: 700 }, (_, i) => 100 + 3 * i)],
  ['numbers far apart', Array.from({ length: 1_400 }, (_, i) => 1 + 20 * i)],
  ['all numbers of a long range', Array.from({ length: 9_999 }, (_, i) => FINAL_TO - i)],
  [
    'more numbers than one range may have',
    Array.from({ length: 15_000 }, (_, i) => 2 * i + 1).slice(0, 10_000),
  ],
  ['the last final block and the head', [FINAL_TO, FINAL_TO + 1, FINAL_TO, FINAL_TO + 2]],
])('block hashes are found by number: %s', async (_name, numbers) => {
  const hashes = createBlockHashes({
    runner: store.runner,
    chainId: 369,
  });
  for (const asked of [numbers, numbers, numbers.slice(0, 5)]) {
    const found = await hashes.list(HEAD, asked);
    const wanted = asked.filter((number) => number <= HEAD.number);
    expect(wanted.map((number) => found.get(number))).toEqual(wanted.map(hashOf));
    expect(found.get(HEAD.number + 1)).toBeUndefined();
  }
});
