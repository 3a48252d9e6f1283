import { createNodeHead } from '../../../src/chain/nodeHead';
import { systemClock } from '../../../src/chain/clock';
import { FakeChain } from '../../support/fakeChain';
import { closeAll, poolOf, silentLog, startNode } from './setup';

afterEach(closeAll);

test('the head is asked once for all who want to know it, and again after a second', async () => {
  const node = await startNode(new FakeChain(1));
  let now = 1_000;
  const clock = { ...systemClock(), now: () => now };
  const head = createNodeHead({ rpc: poolOf([node.httpUrl]), log: silentLog, clock });
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

test('a node that hangs is away within two seconds, and with another beside it nobody notices', async () => {
  const [hung, other] = [await startNode(), await startNode()];
  hung.onHttp = () => true;
  const started = Date.now();
  const alone = createNodeHead({ rpc: poolOf([hung.httpUrl]), log: silentLog });
  expect(await alone.ask()).toEqual({ nodeHead: null, nodeAnswers: false });
  expect(Date.now() - started).toBeLessThan(2_000);
  const both = createNodeHead({ rpc: poolOf([hung.httpUrl, other.httpUrl]), log: silentLog });
  expect(await both.ask()).toEqual({ nodeHead: 0, nodeAnswers: true });
});
