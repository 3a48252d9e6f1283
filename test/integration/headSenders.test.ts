/** A head block with a false sender never becomes visible, although its rows are written while its senders are compared. */
import type { BlockSource } from '../../src/node/blocks/blockSource';
import type { IngestSession } from '../../src/ingest/session/session';
import { readHead } from '../../src/query/head/headState';
import { SIM_CHAIN_ID, SimChain } from '../simulation/chain/simChain';
import { headerOf } from '../simulation/chain/simNode';
import { findDifferences, openSession } from '../simulation/harness';
import { openTestStore, type TestStore } from '../support/engine/testStore';
import { SEED } from '../support/run/seed';

let store: TestStore;

beforeAll(async () => {
  store = await openTestStore();
});

afterAll(async () => {
  await store?.close();
});

test('the head stays at the block before a false sender, and a session with the right one goes on', async () => {
  const chain = new SimChain(SEED);
  chain.mine(6);
  const falseBlock = chain.head.number;
  const checked: number[] = [];
  const open = (checkSenders?: BlockSource['checkSenders']): Promise<IngestSession> =>
    openSession(chain, store.db, {
      depth: 20,
      commitSeed: checked.length + 1,
      ...(checkSenders === undefined ? {} : { checkSenders }),
    });
  const headNumber = async (): Promise<number | undefined> =>
    (await readHead(store.runner, SIM_CHAIN_ID))?.number;

  const session = await open((block, indexes) => {
    checked.push(block.number);
    expect([...indexes]).toEqual([...block.transactions.keys()]);
    return block.number === falseBlock ? Promise.reject(new Error('false sender')) : Promise.resolve();
  });
  for (let number = 1; number < falseBlock; number += 1) await session.advanceTo(headerOf(chain.at(number)!));
  await expect(session.advanceTo(headerOf(chain.head))).rejects.toThrow('false sender');
  expect(checked).toEqual(Array.from({ length: falseBlock }, (_, index) => index + 1));
  expect(await headNumber()).toBe(falseBlock - 1);

  await (await open()).advanceTo(headerOf(chain.head));
  expect(await findDifferences(chain, store.db)).toEqual([]);
});
