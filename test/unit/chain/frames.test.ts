/**
 * Limits how many functions lie between the transport and the consumer of blocks, so that the path of a block stays
 * easy to follow.
 */
import type { Hex } from '../../../src/domain/hex';
import { HeadFollower } from '../../../src/chain/head/follower';
import { syncToHead } from '../../../src/chain/head/syncToHead';
import { FakeChain } from '../../support/node/fakeChain';
import { closeAll, sourceOf, startNode } from './setup';

afterEach(closeAll);

test('at most ten functions are on the stack between the transport and the consumer of decoded blocks', async () => {
  const chain = new FakeChain(1);
  chain.mineMany(5, 4);
  const { pool, source } = sourceOf([await startNode(chain)]);
  const stacks: string[] = [];
  const { transport } = pool.endpoints[0]!;
  const send = transport.send.bind(transport);
  transport.send = (calls, signal) => {
    if (calls.some(({ method }) => method === 'eth_getBlockReceipts')) stacks.push(new Error().stack ?? '');
    return send(calls, signal);
  };
  Error.stackTraceLimit = 60;
  const [base, head] = [chain.at(0), chain.head].map(({ number, hash, parentHash, timestamp }) => ({
    number,
    hash: hash as Hex,
    parentHash: parentHash as Hex,
    timestamp,
  }));
  for await (const step of syncToHead(source, new HeadFollower(base!), head!))
    expect(step.blocks).toHaveLength(5);
  const frames = stacks.map((stack) => stack.split('\n').filter((line) => line.includes('/src/')).length);
  expect(frames).toHaveLength(1);
  expect(frames[0]).toBeLessThanOrEqual(10);
});
