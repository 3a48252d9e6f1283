import { createHeadProbe } from '../../../../src/node/head/headProbe';
import { FakeChain } from '../../../support/node/fakeChain';
import { closeAll, endlessClock, poolOf, silentLog, startNode } from '../setup';

afterEach(closeAll);

test('simultaneous callers share one request for the head, and the answer is kept for a second', async () => {
  const node = await startNode(new FakeChain(1));
  let now = 1_000;
  const clock = { ...endlessClock, now: () => now };
  const head = createHeadProbe({ rpc: poolOf([node.httpUrl]), log: silentLog, clock });
  expect(head.known()).toBeNull();
  const answers = await Promise.all([head.ask(), head.ask()]);
  expect(answers).toEqual(Array(2).fill({ nodeHead: 0, nodeAnswers: true }));
  node.chain.mine();
  now += 900;
  expect(await head.ask()).toMatchObject({ nodeHead: 0 });
  now += 200;
  expect(await head.ask()).toMatchObject({ nodeHead: 1 });
  expect(node.countCalls('eth_blockNumber')).toBe(2);
  now += 60_000;
  expect(head.known()).toBeNull();
});

test('a hanging node is treated as unavailable long before the timeout of its transport', async () => {
  const hung = await startNode();
  hung.onHttp = () => true;
  const head = createHeadProbe({ rpc: poolOf([hung.httpUrl]), log: silentLog });
  expect(await head.ask()).toMatchObject({ nodeHead: null, nodeAnswers: false });
});

test('when one endpoint hangs, the question for the head goes to the next endpoint', async () => {
  const [hung, other] = [await startNode(), await startNode()];
  hung.onHttp = () => true;
  // The time limit for all endpoints together never passes here, so only the limit for one endpoint can end the wait.
  const rpc = poolOf([hung.httpUrl, other.httpUrl]);
  const head = createHeadProbe({ rpc, log: silentLog, clock: endlessClock });
  expect(await head.ask()).toEqual({ nodeHead: 0, nodeAnswers: true });
});
