import { createBlockSource } from '../../../src/node/blocks/blockSource';
import { checkChainId } from '../../../src/node/rpc/checkChainId';
import { createFinality } from '../../../src/node/head/finality';
import { HeadFollower } from '../../../src/node/head/follower';
import { headFeed } from '../../../src/node/head/headFeed';
import { syncToHead, type Extension } from '../../../src/node/head/syncToHead';
import { closeAll, poolOf, silentLog } from '../../unit/node/setup';
import { until } from '../../support/eventually';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';

let anvil: TestAnvil;

beforeAll(async () => {
  anvil = await startTestAnvil();
});
afterEach(closeAll);
afterAll(() => anvil.stop());

/** Creation code of a contract that emits two logs per call: one log with two topics, and one log without
 * topics. */
const EMITTER = ((): string => {
  // Code: LOG2 of 32 bytes with topics caller and callvalue; LOG0 of 64 bytes; stop.
  const runtime = '3433602060' + '00a260406000a000';
  const length = (runtime.length / 2).toString(16).padStart(2, '0');
  return `0x60${length}600c60003960${length}6000f3${runtime}`;
})();

async function deployEmitter(): Promise<string> {
  const [from] = (await anvil.rpc.call('eth_accounts')) as string[];
  const hash = await anvil.rpc.call('eth_sendTransaction', [{ from, data: EMITTER }]);
  await anvil.rpc.call('evm_mine');
  const receipt = (await anvil.rpc.call('eth_getTransactionReceipt', [hash])) as { contractAddress: string };
  return receipt.contractAddress;
}

async function mineCalls(emitter: string, blocks: number, callsPerBlock: number): Promise<void> {
  const [from] = (await anvil.rpc.call('eth_accounts')) as string[];
  for (let block = 0; block < blocks; block += 1) {
    for (let index = 0; index < callsPerBlock; index += 1) {
      await anvil.rpc.call('eth_sendTransaction', [
        { from, to: emitter, value: `0x${(index + 1).toString(16)}` },
      ]);
    }
    await anvil.rpc.call('evm_mine');
  }
}

test.each(['http', 'ws'])(
  'the blocks of a real node read over %s pass verification, and the program follows a reorg',
  async (scheme) => {
    const emitter = await deployEmitter();
    const pool = poolOf([scheme === 'ws' ? anvil.wsUrl : anvil.url]);
    const source = createBlockSource({ pool, log: silentLog });
    await checkChainId(pool, 369);
    const start = await source.fetchHeader('latest');
    const follower = new HeadFollower(start);
    const steps: Extension[] = [];
    const controller = new AbortController();
    const following = (async () => {
      for await (const head of headFeed({ pool, source, log: silentLog, signal: controller.signal })) {
        for await (const step of syncToHead(source, follower, head)) steps.push(step);
      }
    })();
    const nodeHead = async (): Promise<string> =>
      ((await anvil.rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: string }).hash;
    const caughtUp = async (): Promise<void> => {
      const hash = await nodeHead();
      await until(() => follower.tip.hash === hash);
    };
    try {
      await mineCalls(emitter, 6, 3);
      await caughtUp();
      const logs = steps.flatMap((step) => step.blocks.flatMap((block) => block.logs));
      expect(logs).toHaveLength(6 * 3 * 2);
      expect(logs.every((log) => log.address === emitter.toLowerCase())).toBe(true);
      expect(pool.health().mismatches).toMatchObject({ bloom: 0, log_index: 0, transactions: 0 });

      const before = follower.tip;
      await anvil.rpc.call('anvil_reorg', [3, []]);
      // After anvil_reorg the head has the same number and another hash. The node does not push it, so one more block
      // is mined.
      await anvil.rpc.call('evm_mine');
      await caughtUp();
      const reorg = steps.find((step) => step.forkNumber !== null);
      expect(reorg).toMatchObject({ forkNumber: before.number - 3 });
      expect(reorg?.removed).toHaveLength(3);
      expect(follower.blockAt(before.number)?.hash).not.toBe(before.hash);
    } finally {
      controller.abort(new Error('the test is over'));
      await following;
    }
  },
);

test('reading by receipts and reading by eth_getLogs give the same blocks of a real node', async () => {
  const emitter = await deployEmitter();
  await mineCalls(emitter, 4, 2);
  const { url } = anvil;
  const head = Number(await anvil.rpc.call('eth_blockNumber'));
  const byReceipts = await createBlockSource({ pool: poolOf([url]), log: silentLog }).fetchRange(0, head);
  const pool = poolOf([url]);
  const [endpoint] = pool.endpoints;
  const attempt = endpoint?.attempt.bind(endpoint);
  if (endpoint === undefined || attempt === undefined) throw new Error('the pool has no endpoint');
  // The same node, as if eth_getBlockReceipts did not exist.
  endpoint.attempt = (calls, parse, signal) => {
    const renamed = calls.map((call) =>
      call.method === 'eth_getBlockReceipts' ? { ...call, method: 'eth_noSuchMethod' } : call,
    );
    return attempt(renamed, parse, signal);
  };
  const byLogs = await createBlockSource({ pool, log: silentLog }).fetchRange(0, head);
  const withoutCreations = byReceipts.map((block) => ({
    ...block,
    transactions: block.transactions.map((transaction) => ({
      ...transaction,
      gasUsed: null,
      contractAddress: null,
    })),
  }));
  expect(byLogs).toEqual(withoutCreations);
  expect(
    byReceipts.flatMap((block) => block.transactions).map((transaction) => transaction.contractAddress),
  ).toContain(emitter.toLowerCase());
});

test('the finalized tag of a real node is 64 blocks behind its head', async () => {
  await anvil.rpc.call('anvil_mine', ['0x50']);
  const source = createBlockSource({ pool: poolOf([anvil.url]), log: silentLog });
  const head = await source.fetchHeader('latest');
  const final = await createFinality(source, 'tag', silentLog).finalAt(head);
  expect(final.number).toBe(head.number - 64);
  expect(final.hash).toBe((await source.fetchHeader(final.number)).hash);
});
