import { createBlockSource } from '../../../src/node/blocks/blockSource';
import { BlockProver } from '../../../src/node/proof/blockProof';
import type { ProofMode } from '../../../src/domain/block';
import { EndpointPool } from '../../../src/node/rpc/endpointPool';
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { RpcAnswer, RpcCall } from '../../../src/node/rpc/rpcTransport';
import type { Hex } from '../../../src/domain/hex';
import { createRandom } from '../../support/createRandom';
import { eventually } from '../../support/eventually';
import { startTestAnvil, type TestAnvil } from '../../support/node/anvil';
import { answerFrom, lie, LIES, type Json, type Recorded } from '../../support/node/lies';
import { closeAll, poolOf, silentLog, startNode } from '../../unit/node/setup';

let anvil: TestAnvil;
let blocks: Recorded[];

/** Creation code of a contract that emits a log with the topics caller and value, and one without topics. */
const EMITTER = '0x600d600c600039600d6000f3' + '3433602060' + '00a260406000a000';
/** The three ways to pay for gas: transactions of the types 0, 1 and 2. */
const PRICES: readonly Json[] = [
  { gasPrice: '0x77359400' },
  {
    gasPrice: '0x77359400',
    accessList: [{ address: `0x${'12'.repeat(20)}`, storageKeys: [`0x${'34'.repeat(32)}`] }],
  },
  { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' },
];

beforeAll(async () => {
  anvil = await startTestAnvil();
  const [from, other] = (await anvil.rpc.call('eth_accounts')) as string[];
  const created = await anvil.rpc.call('eth_sendTransaction', [{ from, data: EMITTER }]);
  await anvil.rpc.call('evm_mine');
  const { contractAddress: to } = (await anvil.rpc.call('eth_getTransactionReceipt', [created])) as Json;
  for (let block = 0; block < 8; block += 1) {
    for (let index = 0; index < block * 2; index += 1)
      await anvil.rpc.call('eth_sendTransaction', [
        {
          from: index % 2 === 0 ? from : other,
          to,
          value: `0x${(index + 1).toString(16)}`,
          ...PRICES[index % 3],
        },
      ]);
    await anvil.rpc.call('evm_mine');
  }
  const head = Number(await anvil.rpc.call('eth_blockNumber'));
  blocks = [];
  for (let number = 0; number <= head; number += 1) {
    const at = `0x${number.toString(16)}`;
    blocks.push({
      header: await anvil.rpc.call('eth_getBlockByNumber', [at, true]),
      receipts: await anvil.rpc.call('eth_getBlockReceipts', [at]),
    } as Recorded);
  }
});
afterAll(() => anvil.stop());
afterEach(closeAll);

/** A node in memory that has the recorded blocks, each altered by `change`. */
function nodeOf(
  change: (block: Recorded) => Recorded = (block) => block,
): (calls: readonly RpcCall[]) => RpcAnswer[] {
  const answer = answerFrom(blocks, change);
  return (calls) => calls.map((call) => ({ result: structuredClone(answer(call)) }));
}

function sourceOf(nodes: readonly ReturnType<typeof nodeOf>[], mode: ProofMode, trusted: Hex | null = null) {
  const transports = nodes.map((send, index) => ({
    name: `#${index} memory`,
    send: async (calls: readonly RpcCall[]) => send(calls),
    close: () => Promise.resolve(),
  }));
  const pool = new EndpointPool({ transports, chainId: 369, log: silentLog, roundsMax: 1 });
  const proof = { mode, trusted: trusted === null ? null : { number: 3, hash: trusted } };
  return { pool, source: createBlockSource({ pool, log: silentLog, proof }) };
}

test('every block of a real node is proven in full: header, transactions, senders and receipts', async () => {
  for (const place of [0, 0.5, 0.99]) {
    // The prover draws two random numbers per block. The first decides whether a sender is recovered, the second
    // which one.
    let asked = 0;
    const prover = await BlockProver.create(() => ((asked += 1) % 2 === 1 ? 0 : place));
    for (const { header, receipts } of blocks)
      expect(prover.prove({ header, receipts })).toMatchObject({ level: 'full', fault: null });
  }
  expect(blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)).length).toBeGreaterThan(20);
});

test('a block with a lie is never proven in full, whatever the lie changes', async () => {
  const prover = await BlockProver.create(() => 0);
  const random = createRandom(2026);
  const told = new Map<string, number>();
  for (let round = 0; round < 1_200; round += 1) {
    const kind = random.pick(LIES);
    const block = random.pick(blocks);
    const changed = lie(random, block, kind);
    if (changed === null) continue;
    const { level, fault } = prover.prove(changed);
    // The prover recovers only the sender of the first transaction here, so a false sender of another transaction is
    // not found.
    const others = kind === 'from' && changed.receipts[0]?.['from'] === block.receipts[0]?.['from'];
    if (!others) expect([kind, level, fault]).not.toEqual([kind, 'full', null]);
    told.set(kind, (told.get(kind) ?? 0) + 1);
  }
  for (const kind of LIES) expect(told.get(kind)).toBeGreaterThan(30);
});

test.each(['auto', 'full'] as const)(
  'in mode %s, a node that lies is benched and named, and the blocks come from the honest node',
  async (mode) => {
    const random = createRandom(5);
    const target = blocks.findLastIndex(({ receipts }) => receipts.some(({ logs }) => logs.length > 0));
    const liar = nodeOf((block) =>
      block === blocks[target] ? (lie(random, block, 'data') ?? block) : block,
    );
    const { pool, source } = sourceOf([liar, nodeOf()], mode);
    const got = await source.fetchRange(0, blocks.length - 1);
    expect(got.map(({ hash }) => hash)).toEqual(blocks.map(({ header }) => header.hash));
    const stored = got[target]?.logs.map(({ data }) => data);
    expect(stored).toEqual(blocks[target]?.receipts.flatMap(({ logs }) => logs.map((log) => log['data'])));
    const { endpoints, mismatches } = pool.health();
    expect(mismatches.proof).toBeGreaterThan(0);
    expect(endpoints.map(({ state }) => state)).toEqual(['benched', 'ok']);
    expect(endpoints[0]?.lastError).toMatch(
      new RegExp(
        `block ${target} fails verification \\(proof\\): receiptsRoot is 0x[0-9a-f]{64}, computed 0x[0-9a-f]{64}`,
      ),
    );
  },
);

test('if the only node lies about a block, no block from there on is returned', async () => {
  const liar = nodeOf((block) => ({
    ...block,
    header: { ...block.header, timestamp: `0x${(Number(block.header['timestamp']) + 1).toString(16)}` },
  }));
  const { source } = sourceOf([liar], 'full');
  await expect(source.fetchRange(0, 3)).rejects.toThrow(/fails verification \(proof\): hash is 0x/);
});

test('mode auto accepts blocks by their bloom if no header of the chain can be recomputed', async () => {
  const strange = nodeOf((block) => ({
    ...block,
    header: { ...block.header, stateRoot: `0x${'11'.repeat(32)}` },
  }));
  const { pool, source } = sourceOf([strange], 'auto');
  // One block without proof is not enough to judge the chain, so the endpoint is also asked for neighbours of the
  // block. The endpoint is not blamed, because none of its headers can be recomputed.
  expect(await source.fetchRange(5, 5)).toHaveLength(1);
  expect(await source.fetchRange(0, blocks.length - 1)).toHaveLength(blocks.length);
  expect(pool.health().endpoints[0]?.state).toBe('ok');
});

test('mode auto accepts a chain whose headers cannot be recomputed, even if another endpoint never answers', async () => {
  const strange = nodeOf((block) => ({
    ...block,
    header: { ...block.header, stateRoot: `0x${'11'.repeat(32)}` },
  }));
  const dead = (): RpcAnswer[] => {
    throw new RpcError('network', 'connect ECONNREFUSED');
  };
  const { source } = sourceOf([dead, strange], 'auto');
  // The dead endpoint counts as silent after three failures, which takes a second or two.
  await eventually(
    () => source.fetchRange(0, blocks.length - 1).catch(() => []),
    ({ length }) => length === blocks.length,
  );
});

test.each(['data', 'timestamp'] as const)(
  'in mode auto, a lie (%s) about the first requested block does not lower the required level of proof',
  async (kind) => {
    const random = createRandom(11);
    // To judge a block, the endpoint is asked for the 8 blocks before the block, or after the block if there are
    // fewer than 8 before.
    for (const target of [3, blocks.length - 1]) {
      const block = blocks[target]!;
      const told = lie(random, block, kind);
      if (told === null) continue;
      const { source } = sourceOf([nodeOf((one) => (one === block ? told : one))], 'auto');
      for (let attempt = 0; attempt < 2; attempt += 1)
        await expect(source.fetchRange(target, target)).rejects.toMatchObject({ retryable: true });
      expect(await source.fetchRange(target - 1, target - 1)).toMatchObject([{ proof: 'full' }]);
    }
  },
);

test('a block that is not the trusted block is refused', async () => {
  const other = `0x${'22'.repeat(32)}` as const;
  const { source } = sourceOf([nodeOf()], 'auto', other);
  await expect(source.fetchHeader(3)).rejects.toThrow(`TRUSTED_BLOCK says ${other}`);
  const hash = blocks[3]?.header.hash ?? '0x';
  expect((await sourceOf([nodeOf()], 'auto', hash).source.fetchHeader(3)).hash).toBe(hash);
});

/** The kinds of answers of real servers: all receipts of a block, receipts one by one, or only logs. */
type Offers = 'receipts' | 'single receipts' | 'logs';

/** A node over HTTP and WebSocket that has the recorded blocks, each altered by `change`. */
async function serve(offers: Offers, change: (block: Recorded) => Recorded = (block) => block) {
  const node = await startNode();
  const answer = answerFrom(blocks, change);
  const missing = { error: { code: -32601, message: 'the method does not exist' } };
  node.onCall = (call) => {
    if (call.method === 'eth_getBlockReceipts' && offers !== 'receipts') return missing;
    if (call.method === 'eth_getTransactionReceipt' && offers === 'logs') return missing;
    if (call.method !== 'eth_getLogs') return { result: answer(call) };
    const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: Hex; toBlock: Hex }];
    const told = blocks.slice(Number(fromBlock), Number(toBlock) + 1).map(change);
    return { result: told.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)) };
  };
  return node;
}

describe.each(['httpUrl', 'wsUrl'] as const)('over %s', (url) => {
  test.each(['receipts', 'single receipts'] as const)(
    'if nodes offer %s, a node that lies about data is benched, and the blocks come from the honest node',
    async (offers) => {
      const target = blocks.length - 1;
      const told = lie(createRandom(3), blocks[target]!, 'data');
      const liar = await serve(offers, (block) => (block === blocks[target] ? told! : block));
      const honest = await serve(offers);
      const pool = poolOf([liar[url], honest[url]]);
      const source = createBlockSource({ pool, log: silentLog, proof: { mode: 'auto', trusted: null } });
      const got = await source.fetchRange(0, target);
      expect(new Set(got.map(({ proof }) => proof))).toEqual(new Set(['full']));
      expect(got[target]?.logs.map(({ data }) => data)).toEqual(
        blocks[target]?.receipts.flatMap(({ logs }) => logs.map((log) => log['data'])),
      );
      expect(pool.health().endpoints.map(({ state }) => state)).toEqual(['benched', 'ok']);
      expect(pool.health().mismatches.proof).toBeGreaterThan(0);
    },
  );

  test('without receipts the proof level is `headers`, and a block with a false time is refused', async () => {
    const target = blocks.length - 1;
    let told: Recorded | null = null;
    const node = await serve('logs', (block) => (block === blocks[target] && told !== null ? told : block));
    const pool = poolOf([node[url]], { roundsMax: 1 });
    const source = createBlockSource({ pool, log: silentLog, proof: { mode: 'auto', trusted: null } });
    const got = await source.fetchRange(0, target);
    expect(new Set(got.map(({ proof }) => proof))).toEqual(new Set(['headers']));
    told = lie(createRandom(3), blocks[target]!, 'timestamp');
    await expect(source.fetchRange(target, target)).rejects.toThrow(/\(proof\): hash is 0x/);
  });
});
