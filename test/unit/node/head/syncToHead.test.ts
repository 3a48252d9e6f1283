import type { BlockRef } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import type { BlockSource } from '../../../../src/node/blocks/blockSource';
import { HeadFollower } from '../../../../src/node/head/follower';
import { syncToHead, type Extension } from '../../../../src/node/head/syncToHead';
import { FakeChain, type FakeBlock } from '../../../support/node/fakeChain';
import { closeAll, sourceOf, startNode } from '../setup';
import { seededRandom } from '../../../support/random';

afterEach(closeAll);

function refOf({ number, hash, parentHash, timestamp }: FakeBlock): BlockRef {
  return { number, hash: hash as Hex, parentHash: parentHash as Hex, timestamp };
}

function chainOf(seed: number, blocks: number): FakeChain {
  const chain = new FakeChain(seed);
  chain.mineMany(blocks, 4);
  return chain;
}

async function stepsTo(
  source: BlockSource,
  follower: HeadFollower,
  chain: FakeChain,
  chunk?: number,
): Promise<Extension[]> {
  const steps: Extension[] = [];
  const options = chunk === undefined ? {} : { chunk };
  for await (const step of syncToHead(source, follower, refOf(chain.head), options)) steps.push(step);
  return steps;
}

const shapeOf = ({ forkNumber, removed, blocks }: Extension): unknown => [
  forkNumber,
  removed.length,
  blocks[0]?.number,
  blocks.at(-1)?.number,
];

test('catching up uses steps of at most the given number of blocks', async () => {
  const chain = chainOf(1, 25);
  const { source } = sourceOf([await startNode(chain)]);
  const follower = new HeadFollower(refOf(chain.at(0)));
  const steps = await stepsTo(source, follower, chain, 10);
  expect(steps.map(shapeOf)).toEqual([
    [null, 0, 1, 10],
    [null, 0, 11, 20],
    [null, 0, 21, 25],
  ]);
  expect(follower.tip).toEqual(refOf(chain.head));
  expect(await stepsTo(source, follower, chain)).toEqual([]);
});

test.each([1, 2, 3, 7, 16, 33, 63, 64])(
  'a reorg of depth %i is one step from the fork to the new head',
  async (depth) => {
    const chain = chainOf(2, 70);
    const { source } = sourceOf([await startNode(chain)]);
    const follower = new HeadFollower(refOf(chain.at(0)), chain.blocks.slice(1).map(refOf));
    chain.reorg(depth, depth + 2);
    const steps = await stepsTo(source, follower, chain, 80);
    expect(steps.map(shapeOf)).toEqual([[70 - depth, depth, 71 - depth, 72]]);
    expect(follower.unfinalised).toEqual(chain.blocks.slice(1).map(refOf));
  },
);

test('a reorg to the same height and a reorg to a lower head are detected', async () => {
  const chain = chainOf(3, 12);
  const { source } = sourceOf([await startNode(chain)]);
  const follower = new HeadFollower(refOf(chain.at(0)), chain.blocks.slice(1).map(refOf));
  chain.reorg(1);
  expect((await stepsTo(source, follower, chain)).map(shapeOf)).toEqual([[11, 1, 12, 12]]);
  chain.reorg(5, 2);
  expect((await stepsTo(source, follower, chain)).map(shapeOf)).toEqual([[7, 5, 8, 9]]);
  expect(follower.tip).toEqual(refOf(chain.head));
});

test('the first step of a reorg replaces all removed blocks, even beyond the step size', async () => {
  const chain = chainOf(4, 20);
  const { source } = sourceOf([await startNode(chain)]);
  const follower = new HeadFollower(refOf(chain.at(0)), chain.blocks.slice(1).map(refOf));
  chain.reorg(8, 30);
  const steps = await stepsTo(source, follower, chain, 4);
  expect(steps.slice(0, 2).map(shapeOf)).toEqual([
    [12, 8, 13, 20],
    [null, 0, 21, 24],
  ]);
  expect(follower.tip).toEqual(refOf(chain.head));
});

test('the head of a lagging node changes nothing', async () => {
  const chain = chainOf(5, 20);
  const { source } = sourceOf([await startNode(chain)]);
  const follower = new HeadFollower(refOf(chain.at(10)), chain.blocks.slice(11).map(refOf));
  for (const number of [3, 10, 15, 20]) {
    const steps = syncToHead(source, follower, refOf(chain.at(number)));
    expect(await steps.next()).toEqual({ done: true, value: undefined });
  }
});

test('the follower moves only after a step was processed, and repeats a failed step', async () => {
  const chain = chainOf(6, 5);
  const { source } = sourceOf([await startNode(chain)]);
  const follower = new HeadFollower(refOf(chain.at(0)));
  const failing = async (): Promise<void> => {
    for await (const step of syncToHead(source, follower, refOf(chain.head))) {
      throw new Error(`the store is away at ${step.blocks.length}`);
    }
  };
  await expect(failing()).rejects.toThrow('the store is away');
  expect(follower.tip).toEqual(refOf(chain.at(0)));
  expect((await stepsTo(source, follower, chain)).map(shapeOf)).toEqual([[null, 0, 1, 5]]);
});

test('a reorg beyond finality is a broken invariant', async () => {
  const chain = chainOf(7, 20);
  const { source } = sourceOf([await startNode(chain)], { roundsMax: 1 });
  const follower = new HeadFollower(refOf(chain.at(15)), chain.blocks.slice(16).map(refOf));
  const base = chain.at(15).hash;
  chain.reorg(8, 10);
  const failure: unknown = await stepsTo(source, follower, chain).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'broken_invariant' });
  expect(String(failure)).toContain(base);
  expect(follower.tip.number).toBe(20);
});

test('a node on a fork below finality does not stop the writer while another node has our final block', async () => {
  const chain = chainOf(8, 20);
  const other = chainOf(8, 20);
  other.reorg(10, 12);
  const [astray, right] = [await startNode(other), await startNode(chain)];
  const { source, pool } = sourceOf([astray, right]);
  const follower = new HeadFollower(refOf(chain.at(15)), chain.blocks.slice(16).map(refOf));
  chain.mineMany(2, 2);
  expect((await stepsTo(source, follower, other)).map(shapeOf)).toEqual([[null, 0, 21, 22]]);
  expect(pool.health().endpoints.map((endpoint) => endpoint.state)).toEqual(['benched', 'ok']);
});

test('a reorg during the search for the fork restarts the search, and no step mixes two branches', async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const random = seededRandom(seed);
    const chain = chainOf(seed, 40);
    const node = await startNode(chain);
    const { source } = sourceOf([node], {}, { receiptBlocksMax: 5 });
    const follower = new HeadFollower(refOf(chain.at(0)), chain.blocks.slice(1).map(refOf));
    chain.reorg(20, 25);
    const target = refOf(chain.head);
    let left = 3;
    node.onHttp = () => {
      if (left > 0 && random() < 0.3) {
        left -= 1;
        chain.reorg(1 + Math.floor(random() * 15), 1 + Math.floor(random() * 15));
      }
      return false;
    };
    for await (const step of syncToHead(source, follower, target)) {
      const parent = step.forkNumber === null ? follower.tip : follower.blockAt(step.forkNumber);
      const links = step.blocks.map(
        (block, index) => block.parentHash === (step.blocks[index - 1] ?? parent)?.hash,
      );
      expect([seed, links.every(Boolean)]).toEqual([seed, true]);
    }
    node.onHttp = () => false;
    await stepsTo(source, follower, chain);
    expect([seed, follower.unfinalised]).toEqual([seed, chain.blocks.slice(1).map(refOf)]);
  }
});

test('a chain that changes faster than it can be read is a retryable error', async () => {
  const chain = chainOf(9, 10);
  const node = await startNode(chain);
  const { source } = sourceOf([node], { roundsMax: 1 });
  const follower = new HeadFollower(refOf(chain.at(0)), chain.blocks.slice(1, 9).map(refOf));
  node.onHttp = () => {
    chain.reorg(4, 4);
    return false;
  };
  const failure: unknown = await stepsTo(source, follower, chain).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'node_failed', retryable: true });
});
