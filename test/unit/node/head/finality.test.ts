import { Writable } from 'node:stream';

import { pino } from 'pino';

import type { Hex } from '../../../../src/domain/hex';
import type { BlockRef } from '../../../../src/domain/block';
import { createFinality } from '../../../../src/node/head/finality';
import { FakeChain } from '../../../support/node/fakeChain';
import { closeAll, silentLog, sourceOf, startNode } from '../setup';

afterEach(closeAll);

function refAt(chain: FakeChain, number = chain.head.number): BlockRef {
  const { hash, parentHash, timestamp } = chain.at(number);
  return { number, hash: hash as Hex, parentHash: parentHash as Hex, timestamp };
}

function chainOf(blocks: number): FakeChain {
  const chain = new FakeChain(31);
  chain.mineMany(blocks, 0);
  return chain;
}

test('the finalized tag of the node gives the final block and its hash', async () => {
  const chain = chainOf(100);
  const { source } = sourceOf([await startNode(chain)]);
  const finality = createFinality(source, 'tag', silentLog);
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 36, hash: chain.at(36).hash });
});

test('for a node without the finalized tag, blocks become final at depth 64, and one log line reports this', async () => {
  const chain = chainOf(100);
  const node = await startNode(chain);
  node.hasFinalizedTag = false;
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const finality = createFinality(sourceOf([node]).source, 'tag', pino({}, sink));
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 36, hash: null });
  chain.mineMany(1, 0);
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 37, hash: null });
  expect(lines.filter((line) => line.includes('finalized tag'))).toHaveLength(1);
});

test('for a node without the finalized tag, blocks become final at the depth of the chain description', async () => {
  const chain = chainOf(100);
  const node = await startNode(chain);
  node.hasFinalizedTag = false;
  const finality = createFinality(sourceOf([node]).source, 'tag', silentLog, 12);
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 88, hash: null });
});

test('while the node answers null for the finalized tag, blocks become final at depth 64', async () => {
  const chain = chainOf(100);
  const node = await startNode(chain);
  let known = false;
  node.onCall = ({ params }) => (params[0] === 'finalized' && !known ? { result: null } : undefined);
  const finality = createFinality(sourceOf([node]).source, 'tag', silentLog);
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 36, hash: null });
  known = true;
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 36, hash: chain.at(36).hash });
  known = false;
  chain.mineMany(5, 0);
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 36, hash: chain.at(36).hash });
});

test('an error of the node is not treated as a missing finalized tag', async () => {
  const chain = chainOf(100);
  const node = await startNode(chain);
  const { source, pool } = sourceOf([node], { roundsMax: 1 });
  await pool.refreshHeads();
  node.onHttp = (_request, response) => {
    response.writeHead(502).end();
    return true;
  };
  await expect(createFinality(source, 'tag', silentLog).finalAt(refAt(chain))).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
  });
});

test('with a fixed depth of finality, the final block needs no call to the node', async () => {
  const chain = chainOf(100);
  const node = await startNode(chain);
  const finality = createFinality(sourceOf([node]).source, 12, silentLog);
  expect(await finality.finalAt(refAt(chain, 5))).toEqual({ number: 0, hash: null });
  expect(await finality.finalAt(refAt(chain))).toEqual({ number: 88, hash: null });
  // The depth is counted from the given head, so a lower head has a lower final block.
  expect(await finality.finalAt(refAt(chain, 95))).toEqual({ number: 83, hash: null });
  expect(node.calls).toHaveLength(0);
});

test('the final block does not go back when a node lags, and is never above the head', async () => {
  const chain = chainOf(200);
  const node = await startNode(chain);
  const finality = createFinality(sourceOf([node]).source, 'tag', silentLog);
  expect((await finality.finalAt(refAt(chain))).number).toBe(136);
  node.lag = 30;
  expect((await finality.finalAt(refAt(chain))).number).toBe(136);
  node.lag = 0;
  // A head below the node's final block is final itself, with the hash that the node has at this height.
  expect(await finality.finalAt(refAt(chain, 50))).toEqual({ number: 50, hash: chain.at(50).hash });
});
