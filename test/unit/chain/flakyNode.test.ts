/**
 * A real HTTP endpoint whose calls fail often, in ten ways. One spoiled call of a batch can spoil the whole batch. The
 * test of the same name in test/simulation measures the speed in virtual time.
 */
import { createBlockSource } from '../../../src/chain/blocks/blockSource';
import { AppError } from '../../../src/errors';
import { fetchAhead } from '../../../src/ingest/session/fetchAhead';
import { FakeChain } from '../../support/node/fakeChain';
import { startFlakyProxy } from '../../support/node/flakyProxy';
import { seededRandom } from '../../support/random';
import { closeAll, closeLater, poolOf, silentLog, startNode } from './setup';

afterEach(closeAll);

test.each([
  [0, 400, 'receipts'],
  [0.3, 400, 'receipts'],
  [0.6, 80, 'receipts'],
  [0.3, 400, 'logs'],
  [0.6, 80, 'logs'],
])('with a share of %f failing calls, all of %i blocks arrive in order by %s', async (share, blocks, by) => {
  const chain = new FakeChain(7);
  chain.mineMany(blocks, 8);
  const node = await startNode(chain);
  node.hasReceipts = by === 'receipts';
  const proxy = await startFlakyProxy({ url: node.httpUrl, random: seededRandom(5), share });
  closeLater(() => proxy.close());
  const source = createBlockSource({ pool: poolOf([proxy.url]), log: silentLog });
  const { signal } = new AbortController();
  const hashes: string[] = [];
  let errors = 0;
  while (hashes.length < blocks) {
    try {
      for await (const piece of fetchAhead(source, hashes.length + 1, blocks, { signal }))
        hashes.push(...piece.map(({ hash }) => hash));
    } catch (error) {
      // The ingester tries again after an AppError, so no other error may occur.
      expect(error).toBeInstanceOf(AppError);
      errors += 1;
    }
  }
  expect(hashes).toEqual(chain.blocks.slice(1).map(({ hash }) => hash));
  // If one call of a batch fails, the answers of the other calls are kept, so few calls are repeated. After an error,
  // the blocks that were not yielded yet are fetched again.
  const asked = proxy.batches.reduce((sum, size) => sum + size, 0);
  const spared = asked / (2 * blocks);
  expect(spared).toBeLessThan(share === 0 ? 1.2 : 7 * (1 + errors));
  expect(errors).toBeLessThan(5);
});
