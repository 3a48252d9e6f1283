import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import type { CallFault, FakeNode } from '../../../support/node/fakeNode';
import { FakeChain, type Json } from '../../../support/node/fakeChain';
import { expectedBlock as expected } from '../expectedBlock';
import { closeAll, ENDLESS_MS, poolOf, silentLog, sourceOf, startNode } from '../setup';
import { createBlockSource } from '../../../../src/node/blocks/blockSource';

afterEach(closeAll);

function chainOf(seed: number, blocks = 60, logsMax = 12): FakeChain {
  const chain = new FakeChain(seed);
  chain.mineMany(blocks, logsMax);
  return chain;
}

/** A clock on which pauses take no time. */
const fastClock: Clock = {
  ...systemClock(),
  sleep: (ms, signal) => systemClock().sleep(ms < 60_000 ? 0 : ENDLESS_MS, signal),
};

/** Refuses ranges of eth_getLogs with an HTTP status or a JSON-RPC error. Counts the refusals. */
function refuseLogs(
  node: FakeNode,
  isRefused: (from: number, to: number) => boolean,
  fault: number | NonNullable<CallFault>,
): { refused: number } {
  const asked = { refused: 0 };
  node.onHttp = (_request, response, body) => {
    const filter = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body);
    if (filter === null || !isRefused(Number(filter[1]), Number(filter[2]))) return false;
    asked.refused += 1;
    if (typeof fault === 'number') response.writeHead(fault).end('no');
    else response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, ...fault }));
    return true;
  };
  return asked;
}

const upperCase = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value).replace(/"0x[0-9a-f]{40,}"/g, (text) => `"0x${text.slice(3).toUpperCase()}`),
  );

test.each([1, 2, 3, 4, 5])('receipts mode and logs mode give the same blocks (seed %i)', async (seed) => {
  const chain = chainOf(seed);
  const [modern, old] = [await startNode(chain), await startNode(chain)];
  old.hasReceipts = false;
  old.rangeMax = 13;
  const blocks = await sourceOf([modern]).source.fetchRange(0, 60);
  expect(blocks).toEqual(chain.blocks.map(expected));
  expect(await sourceOf([old]).source.fetchRange(0, 60)).toEqual(blocks);
  expect(modern.countCalls('eth_getLogs')).toBe(0);
  expect(old.countCalls('eth_getBlockReceipts')).toBeGreaterThan(0);
});

test('upper-case hex from a node is converted to lower case', async () => {
  const chain = chainOf(7, 10);
  const node = await startNode(chain);
  node.onCall = (call) => {
    const answer = node.perform(call);
    return call.method.startsWith('eth_getBlock') && 'result' in answer
      ? { result: upperCase(answer.result) }
      : undefined;
  };
  expect(await sourceOf([node]).source.fetchRange(0, 10)).toEqual(chain.blocks.map(expected));
});

test('a missing eth_getBlockReceipts is detected once, not for every range', async () => {
  const node = await startNode(chainOf(8));
  node.hasReceipts = false;
  const { source } = sourceOf([node]);
  await source.fetchRange(3, 3);
  const asked = node.countCalls('eth_getBlockReceipts');
  await source.fetchRange(4, 60);
  expect(node.countCalls('eth_getBlockReceipts')).toBe(asked);
});

test('the address of a created contract is read from the receipt', async () => {
  const chain = chainOf(9, 3);
  const node = await startNode(chain);
  const created = `0x${'ab'.repeat(20)}`;
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_getBlockReceipts') return undefined;
    const { receipts } = chain.at(Number(params[0]));
    return { result: receipts.map((receipt) => ({ ...receipt, contractAddress: created })) };
  };
  const [block] = await sourceOf([node]).source.fetchRange(3, 3);
  expect(block!.transactions.map((transaction) => transaction.contractAddress)).toContain(created);
});

test('block ranges of eth_getLogs shrink to the limit of the node, and grow again when the node drops the limit', async () => {
  const chain = chainOf(10, 400, 2);
  const node = await startNode(chain);
  node.hasReceipts = false;
  node.rangeMax = 3;
  const { source } = sourceOf([node], {}, { logBlocksMax: 100 });
  expect(await source.fetchRange(1, 40)).toHaveLength(40);
  const tooLarge = node.countCalls('eth_getLogs');
  expect(tooLarge).toBeLessThan(40);
  node.rangeMax = Infinity;
  await source.fetchRange(41, 400);
  await source.fetchRange(41, 400);
  const before = node.countCalls('eth_getLogs');
  await source.fetchRange(41, 400);
  expect(node.countCalls('eth_getLogs') - before).toBeLessThanOrEqual(5);
});

test('a slow eth_getLogs is repeated with a smaller range', async () => {
  const chain = chainOf(11, 40, 2);
  const node = await startNode(chain);
  node.hasReceipts = false;
  const spans: number[] = [];
  node.onHttp = (_request, _response, body) => {
    const filter = /"fromBlock":"(0x[0-9a-f]+)","toBlock":"(0x[0-9a-f]+)"/.exec(body);
    if (filter === null) return false;
    const span = Number(filter[2]) - Number(filter[1]) + 1;
    spans.push(span);
    return span > 10;
  };
  const blocks = await sourceOf([node], { timeoutMs: 1_000 }).source.fetchRange(1, 40);
  expect(blocks).toHaveLength(40);
  expect(spans.slice(0, 3)).toEqual([32, 16, 8]);
});

test.each([
  ['code -32005', { error: { code: -32005, message: 'query returned more than 10000 results' } }],
  ['an unknown text', { error: { code: -32000, message: 'nope' } }],
  ['HTTP 429', 429],
  ['HTTP 502', 502],
])(
  'a block whose eth_getLogs is always refused with %s is read by the receipts of its transactions',
  async (_, fault) => {
    const chain = chainOf(12, 9);
    const node = await startNode(chain);
    node.hasReceipts = false;
    refuseLogs(node, (from, to) => from <= 5 && to >= 5, fault);
    const { source } = sourceOf([node], { clock: fastClock }, { clock: fastClock });
    expect(await source.fetchRange(1, 9)).toEqual(chain.blocks.slice(1).map(expected));
  },
);

test('a receipt that is null at first is asked for again, and does not count as a lie', async () => {
  const chain = chainOf(35, 12);
  const node = await startNode(chain);
  node.hasReceipts = false;
  const asked = new Map<unknown, number>();
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_getTransactionReceipt') return undefined;
    const times = (asked.get(params[0]) ?? 0) + 1;
    asked.set(params[0], times);
    return times <= 2 ? { result: null } : undefined;
  };
  const proof = { mode: 'auto', trusted: null } as const;
  const { source, pool } = sourceOf([node], { clock: fastClock }, { clock: fastClock, proof });
  expect(await source.fetchRange(5, 5)).toMatchObject([{ hash: chain.at(5).hash }]);
  expect(Math.min(...asked.values())).toBeGreaterThan(2);
  expect(Object.values(pool.health().mismatches).filter((count) => count > 0)).toEqual([]);
});

test.each([
  ['-32002', { error: { code: -32002, message: 'request timed out' } }],
  ['-32001', { error: { code: -32001, message: 'resource is busy' } }],
  ['-32005', { error: { code: -32005, message: 'please come back with less' } }],
  ['-32600', { error: { code: -32600, message: 'maximum [from, to] blocks distance: 7' } }],
  ['-32602', { error: { code: -32602, message: 'argument of the wrong size' } }],
  ['-32000', { error: { code: -32000, message: 'nicht heute' } }],
  ['HTTP 413', 413],
  ['HTTP 429', 429],
  ['HTTP 500', 500],
  ['HTTP 502', 502],
  ['HTTP 504', 504],
  ['HTTP 403', 403],
])('a node that refuses long ranges of eth_getLogs with %s gets shorter ranges', async (_, fault) => {
  const chain = chainOf(31, 60, 3);
  const node = await startNode(chain);
  node.hasReceipts = false;
  const asked = refuseLogs(node, (from, to) => to - from + 1 > 7, fault);
  const { source } = sourceOf([node], { clock: fastClock }, { clock: fastClock });
  expect(await source.fetchRange(1, 60)).toEqual(chain.blocks.slice(1).map(expected));
  expect(asked.refused).toBeLessThan(40);
});

test.each<[string, (receipts: readonly Json[]) => CallFault]>([
  ['[]', () => ({ result: [] })],
  ['one receipt less', (all) => ({ result: all.slice(1) })],
  ['null', () => ({ result: null })],
  ['an error', () => ({ error: { code: -32000, message: 'internal error' } })],
])(
  'a block whose eth_getBlockReceipts is always answered with %s is read by other methods',
  async (_, faultOf) => {
    const chain = chainOf(32, 60, 6);
    const bad = [20, 41].map((number) => (chain.at(number).receipts.length > 0 ? number : number + 1));
    const node = await startNode(chain);
    node.onCall = ({ method, params }) => {
      const number = Number(params[0]);
      if (method !== 'eth_getBlockReceipts' || !bad.includes(number)) return undefined;
      return faultOf(chain.at(number).receipts);
    };
    const { source, pool } = sourceOf([node], { clock: fastClock }, { clock: fastClock });
    expect(await source.fetchRange(1, 60)).toEqual(chain.blocks.slice(1).map(expected));
    const asked = node.calls.filter(
      ({ method, params }) => method === 'eth_getBlockReceipts' && bad.includes(Number(params[0])),
    );
    expect(asked.length).toBeLessThan(40);
    expect(pool.health().endpoints[0]).toMatchObject({
      state: 'ok',
      untrusted: { method: 'eth_getBlockReceipts', block: bad[1] },
    });
  },
);

test('after eth_getBlockReceipts failed for three blocks, the endpoint is asked by eth_getLogs for ten minutes', async () => {
  const chain = chainOf(33, 60, 6);
  const node = await startNode(chain);
  node.onCall = ({ method }) => (method === 'eth_getBlockReceipts' ? { result: [] } : undefined);
  let now = 0;
  const clock = { ...fastClock, now: () => now };
  const { source } = sourceOf([node], { clock }, { clock });
  await source.fetchRange(1, 30);
  const before = node.countCalls('eth_getBlockReceipts');
  expect(await source.fetchRange(31, 60)).toEqual(chain.blocks.slice(31).map(expected));
  expect(node.countCalls('eth_getBlockReceipts')).toBe(before);
  node.onCall = () => undefined;
  now += 601_000;
  await source.fetchRange(1, 30);
  expect(node.countCalls('eth_getBlockReceipts')).toBeGreaterThan(before);
});

test('with `partial`, the blocks before a block that cannot be had are returned', async () => {
  const chain = chainOf(34, 60, 6);
  const node = await startNode(chain);
  node.onCall = ({ method, params }) =>
    method.startsWith('eth_getBlock') && Number(params[0]) === 40
      ? { error: { code: -32000, message: 'disk failure' } }
      : undefined;
  const { source } = sourceOf([node], { clock: fastClock }, { clock: fastClock });
  expect(await source.fetchRange(1, 60, { partial: true })).toEqual(chain.blocks.slice(1, 40).map(expected));
  await expect(source.fetchRange(40, 60, { partial: true })).rejects.toThrow('disk failure');
  await expect(source.fetchRange(1, 60)).rejects.toThrow('disk failure');
});

test('a block that the node does not know is an error of kind unknown_block', async () => {
  const node = await startNode(chainOf(13, 3));
  const { source } = sourceOf([node], { roundsMax: 1 });
  await expect(source.fetchHeader(99)).rejects.toMatchObject({ kind: 'unknown_block', retryable: true });
  await expect(source.fetchRange(99, 99)).rejects.toMatchObject({ kind: 'unknown_block' });
});

test('a block that one endpoint does not have yet is read from another endpoint', async () => {
  const chain = chainOf(14, 20);
  const [late, current] = [await startNode(chain), await startNode(chain)];
  late.lag = 3;
  const { source, pool } = sourceOf([late, current]);
  expect(await source.fetchRange(20, 20)).toEqual([expected(chain.at(20))]);
  expect(pool.health().endpoints.map((endpoint) => endpoint.state)).toEqual(['ok', 'ok']);
});

test('logs that a node returns unordered are sorted', async () => {
  const chain = chainOf(23, 20);
  const node = await startNode(chain);
  node.hasReceipts = false;
  node.onCall = (call) => {
    const answer = node.perform(call);
    return call.method === 'eth_getLogs' && 'result' in answer
      ? { result: (answer.result as Json[]).toReversed() }
      : undefined;
  };
  expect(await sourceOf([node]).source.fetchRange(0, 20)).toEqual(chain.blocks.map(expected));
});

test('blocks of a chain with empty blooms are accepted, with the level `none`', async () => {
  const chain = new FakeChain(24);
  chain.fillBlooms = false;
  chain.mineMany(10, 6);
  const { source, pool } = sourceOf([await startNode(chain)]);
  const unproven = chain.blocks.slice(1).map((block) => ({ ...expected(block), proof: 'none' }));
  expect(await source.fetchRange(1, 10)).toEqual(unproven);
  expect(pool.health().endpoints[0]?.state).toBe('ok');
});

test('after a reorg between header and receipts, the block is read again, and the endpoint stays in normal use', async () => {
  const chain = chainOf(25, 20);
  const node = await startNode(chain);
  let done = false;
  node.onCall = (call) => {
    if (call.method !== 'eth_getBlockReceipts' || done) return undefined;
    done = true;
    chain.reorg(1);
    return undefined;
  };
  const { source, pool } = sourceOf([node]);
  expect(await source.fetchRange(20, 20)).toEqual([expected(chain.at(20))]);
  expect(pool.health()).toMatchObject({ endpoints: [{ state: 'ok' }] });
});

test('a reorg between the parts of a range restarts the range', async () => {
  const chain = chainOf(26, 30);
  const node = await startNode(chain);
  let batches = 0;
  node.onHttp = (_request, _response, body) => {
    if (body.startsWith('[')) batches += 1;
    if (batches === 2 && body.startsWith('[')) chain.reorg(25);
    return false;
  };
  const { source, pool } = sourceOf([node], {}, { receiptBlocksMax: 10 });
  expect(await source.fetchRange(1, 30)).toEqual(chain.blocks.slice(1).map(expected));
  expect(pool.health()).toMatchObject({ endpoints: [{ state: 'ok' }] });
});

test('fetching the newest header updates the head in the health report', async () => {
  const chain = chainOf(27, 9);
  const { source, pool } = sourceOf([await startNode(chain)]);
  expect(await source.fetchHeader('latest')).toMatchObject({ number: 9, hash: chain.head.hash });
  expect(pool.health().head).toBe(9);
});

test('blocks can be read over a WebSocket', async () => {
  const chain = chainOf(28, 40);
  const node = await startNode(chain);
  const source = createBlockSource({ pool: poolOf([node.wsUrl]), log: silentLog });
  expect(await source.fetchRange(0, 40)).toEqual(chain.blocks.map(expected));
});
