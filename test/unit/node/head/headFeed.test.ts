import type { BlockRef } from '../../../../src/domain/block';
import { TIME_LIMITS } from '../../../../src/domain/time/timeLimits';
import { createBlockSource } from '../../../../src/node/blocks/blockSource';
import type { UrlPoolOptions } from '../../../../src/node/rpc/endpointPool';
import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import { headFeed } from '../../../../src/node/head/headFeed';
import type { BlockHeader } from '../../../../src/node/blocks/parseBlock';
import { FakeChain } from '../../../support/node/fakeChain';
import type { FakeNode } from '../../../support/node/fakeNode';
import { closeAll, closeLater, endlessClock, poolOf, silentLog, startNode } from '../setup';
import { until } from '../../../support/eventually';

const { lightAttemptMs } = TIME_LIMITS;
afterEach(async () => {
  TIME_LIMITS.lightAttemptMs = lightAttemptMs;
  await closeAll();
});

/** Runs a feed in the background and collects the heads that it reports. */
function feedOf(
  urls: readonly string[],
  isTaken?: (head: BlockRef) => boolean,
  settings: Partial<UrlPoolOptions> = {},
  clock: Clock = systemClock(),
): { heads: BlockHeader[]; stop: () => Promise<void> } {
  const pool = poolOf(urls, settings);
  const source = createBlockSource({ pool, log: silentLog });
  const controller = new AbortController();
  const heads: BlockHeader[] = [];
  const running = (async () => {
    const { signal } = controller;
    const options = { pool, source, log: silentLog, signal, clock };
    for await (const head of headFeed(isTaken === undefined ? options : { ...options, isTaken }))
      heads.push(head);
  })();
  const stop = async (): Promise<void> => {
    controller.abort(new Error('the test is over'));
    await running;
  };
  closeLater(stop);
  return { heads, stop };
}

const hashesOf = (heads: readonly BlockHeader[]): string[] => heads.map((head) => head.hash);

async function nodeWith(blocks: number): Promise<FakeNode> {
  const chain = new FakeChain(41);
  chain.mineMany(blocks, 2);
  return startNode(chain);
}

test('each new head of a polled node is reported once, also at the same or a lower height', async () => {
  const node = await nodeWith(5);
  const { heads } = feedOf([node.httpUrl]);
  const seen = [node.chain.head.hash];
  await until(() => heads.length === 1);
  for (const change of [() => node.chain.mine(), () => node.chain.reorg(1), () => node.chain.reorg(3, 1)]) {
    change();
    seen.push(node.chain.head.hash);
    await until(() => heads.length === seen.length);
  }
  expect(hashesOf(heads)).toEqual(seen);
});

test.each(['httpUrl', 'wsUrl'] as const)(
  'a head that was not processed is reported again (%s)',
  async (url) => {
    const node = await nodeWith(5);
    let at = '';
    const { heads } = feedOf([node[url]], ({ hash }) => hash === at);
    await until(() => heads.length > 0);
    at = node.chain.head.hash;
    const told = heads.length;
    node.announce();
    node.chain.mine();
    const next = node.chain.head.hash;
    await until(() => heads.length > told);
    // The consumer did not process the head, so the feed must report the head again.
    await until(() => heads.filter(({ hash }) => hash === next).length >= 3);
  },
);

test('a pushed head is reported without waiting for the next poll, and polls are rarer than without pushes', async () => {
  // The pauses between polls never end, so only a push reports a head.
  const node = await nodeWith(5);
  let now = 0;
  const pauses: number[] = [];
  const sleep: Clock['sleep'] = (ms, signal) => {
    pauses.push(ms);
    return endlessClock.sleep(ms, signal);
  };
  const { heads } = feedOf([node.wsUrl], undefined, {}, { ...endlessClock, now: () => now, sleep });
  await until(() => heads.length === 1 && node.subscriberCount === 1);
  for (let block = 0; block < 20; block += 1) {
    now += 4_000;
    node.chain.mine();
    node.announce();
    await until(() => heads.at(-1)?.hash === node.chain.head.hash);
  }
  await until(() => pauses.at(-1) === 1_000);
});

test('polling finds a head that the node did not push', async () => {
  const node = await nodeWith(5);
  const { heads } = feedOf([node.wsUrl]);
  await until(() => heads.length === 1 && node.subscriberCount === 1);
  node.chain.reorg(2, 1);
  await until(() => heads.length === 2);
  expect(heads[1]?.hash).toBe(node.chain.head.hash);
});

test('the feed reports new heads after the WebSocket drops', async () => {
  const node = await nodeWith(5);
  const { heads } = feedOf([node.wsUrl]);
  await until(() => heads.length === 1 && node.subscriberCount === 1);
  node.dropSockets();
  node.chain.mine();
  await until(() => heads.length === 2);
  await until(() => node.subscriberCount === 1);
  expect(heads[1]?.hash).toBe(node.chain.head.hash);
});

test('the feed reports new heads after a node failed for a while', async () => {
  const node = await nodeWith(5);
  const { heads } = feedOf([node.httpUrl]);
  await until(() => heads.length === 1);
  let failures = 0;
  node.onHttp = (_request, response) => {
    failures += 1;
    response.writeHead(500).end();
    return true;
  };
  await until(() => failures >= 2);
  node.onHttp = () => false;
  node.chain.mine();
  await until(() => heads.length === 2);
});

test('a hanging first endpoint does not delay the heads of the second endpoint', async () => {
  TIME_LIMITS.lightAttemptMs = 500;
  const [hung, other] = [await nodeWith(5), await nodeWith(5)];
  const { heads } = feedOf([hung.httpUrl, other.httpUrl]);
  await until(() => heads.length === 1);
  hung.onHttp = () => true;
  for (let block = 0; block < 3; block += 1) {
    other.chain.mine();
    await until(() => heads.at(-1)?.hash === other.chain.head.hash);
  }
});

test('a feed can be stopped during the pause between two polls', async () => {
  const node = await nodeWith(5);
  const { heads, stop } = feedOf([node.httpUrl, node.wsUrl], undefined, {}, endlessClock);
  await until(() => heads.length === 1);
  await stop();
});
