import { checkChainId } from '../../../../src/node/rpc/checkChainId';
import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import { EndpointPool } from '../../../../src/node/rpc/endpointPool';
import { BlockMismatch } from '../../../../src/node/blocks/blockMismatch';
import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { RpcTransport } from '../../../../src/node/rpc/rpcTransport';
import { steadyNow } from '../../../../src/domain/time/steadyTime';
import { FakeChain } from '../../../support/node/fakeChain';
import { closeAll, ENDLESS_MS, poolOf, silentLog, skippingClock, startNode } from '../setup';
import { until } from '../../../support/eventually';

afterEach(closeAll);

const text = (result: unknown): string => {
  if (typeof result !== 'string') throw new TypeError('not a string');
  return result;
};

test('a dead endpoint gets no calls, and the health report shows its error without its URL', async () => {
  const [dead, alive] = [await startNode(), await startNode()];
  const pool = poolOf([`${dead.httpUrl}/secretkey123`, alive.httpUrl]);
  await dead.stop();
  expect(await pool.call('eth_blockNumber', [], text)).toBe('0x0');
  const { endpoints, lastGoodAt } = pool.health();
  expect(endpoints.map((endpoint) => endpoint.lastError === null)).toEqual([false, true]);
  expect(JSON.stringify(pool.health())).not.toContain('secretkey');
  expect(lastGoodAt).not.toBeNull();
});

test('a failing endpoint gets no calls while another answers, and is preferred again after it recovers', async () => {
  const [first, second] = [await startNode(), await startNode()];
  const pool = poolOf([first.httpUrl, second.httpUrl]);
  first.onHttp = (_request, response) => {
    response.writeHead(502).end();
    return true;
  };
  for (let call = 0; call < 5; call += 1) await pool.call('eth_blockNumber', [], text);
  expect(second.countCalls('eth_blockNumber')).toBe(5);
  first.onHttp = () => false;
  await until(() => (pool.endpoints[0]?.record.coolUntil ?? 0) <= steadyNow());
  await pool.call('eth_blockNumber', [], text);
  expect(first.countCalls('eth_blockNumber')).toBe(1);
});

test('a sole endpoint that refuses most requests gets no calls before its Retry-After has passed', async () => {
  const node = await startNode();
  const clock = skippingClock();
  const times: number[] = [];
  node.onHttp = (_request, response) => {
    times.push(clock.now());
    if (times.length !== 2 && times.length !== 3) return false;
    response.writeHead(429, { 'retry-after': '0.4' }).end();
    return true;
  };
  expect(await poolOf([node.httpUrl], { clock }).call('eth_blockNumber', [], text)).toBe('0x0');
  expect(times).toHaveLength(4);
  // One refused request may be an accident, so only the second one makes the endpoint wait.
  expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(400);
});

test('a call that keeps failing on the only endpoint ends with a retryable error after 8 attempts a round', async () => {
  const node = await startNode();
  const pool = poolOf([node.httpUrl]);
  await pool.call('eth_chainId', [], text);
  node.onCall = () => ({ error: { code: -32000, message: 'internal trouble' } });
  const call = pool.call('eth_blockNumber', [], text, { roundsMax: 2 });
  await expect(call).rejects.toMatchObject({
    code: 'node_failed',
    retryable: true,
    kind: 'other',
    rpcCode: -32000,
  });
  expect(node.countCalls('eth_blockNumber')).toBe(16);
});

test('an error about the size of a range is repeated for a call that has no range, and returned for eth_getLogs', async () => {
  const node = await startNode();
  const pool = poolOf([node.httpUrl]);
  await pool.call('eth_chainId', [], text);
  const refused = { error: { code: -32005, message: 'query returned more than 10000 results' } };
  node.onCall = ({ method }) => (node.countCalls(method) <= 3 ? refused : undefined);
  expect(await pool.call('eth_blockNumber', [], text)).toMatch(/^0x/);
  expect(node.countCalls('eth_blockNumber')).toBe(4);
  const logs = pool.call('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x0' }], (result) => result);
  await expect(logs).rejects.toMatchObject({ kind: 'too_large' });
  expect(node.countCalls('eth_getLogs')).toBe(1);
});

test('a revert is returned with its data and without a retry, and no other endpoint gets the call', async () => {
  const nodes = [await startNode(), await startNode()];
  for (const node of nodes) {
    node.onCall = ({ method }) =>
      method === 'eth_call'
        ? { error: { code: 3, message: 'execution reverted', data: '0x08c379a0' } }
        : undefined;
  }
  const pool = poolOf(nodes.map((node) => node.httpUrl));
  const call = pool.call('eth_call', [{}, 'latest'], text);
  await expect(call).rejects.toMatchObject({ kind: 'revert', data: '0x08c379a0', retryable: false });
  expect(nodes.map((node) => node.countCalls('eth_call'))).toEqual([1, 0]);
  expect(pool.health().endpoints[0]?.state).toBe('ok');
});

test('in `batchOutcomes` a revert fails only its own call', async () => {
  const node = await startNode();
  node.onCall = ({ method, params }) => {
    if (method !== 'eth_call') return undefined;
    return params[0] === 'bad' ? { error: { code: 3, message: 'execution reverted' } } : { result: '0x01' };
  };
  const calls = ['good', 'bad', 'good'].map((name) => ({ method: 'eth_call', params: [name] }));
  const answers = await poolOf([node.httpUrl]).batchOutcomes(calls, text);
  expect(answers).toMatchObject([{ value: '0x01' }, { error: { kind: 'revert' } }, { value: '0x01' }]);
});

test('a method missing on one endpoint goes to the next endpoint, and fails at once if all endpoints lack it', async () => {
  const [without, having] = [await startNode(), await startNode()];
  having.onCall = ({ method }) => (method === 'ots_getApiLevel' ? { result: '0x8' } : undefined);
  const pool = poolOf([without.httpUrl, having.httpUrl]);
  expect(await pool.call('ots_getApiLevel', [], text)).toBe('0x8');
  await expect(pool.call('eth_nonsense', [], text)).rejects.toMatchObject({ kind: 'method_missing' });
  expect(without.countCalls('eth_nonsense')).toBe(1);
});

test.each([0, 1])(
  'the error of a live node takes precedence over the failure of a dead node at position %i',
  async (place) => {
    const [pruned, dead] = [await startNode(), await startNode()];
    pruned.onCall = ({ method }) =>
      method === 'eth_call' ? { error: { code: -32000, message: 'BlockOutOfRangeError' } } : undefined;
    const pool = poolOf(place === 0 ? [dead.httpUrl, pruned.httpUrl] : [pruned.httpUrl, dead.httpUrl]);
    await dead.stop();
    const call = pool.call('eth_call', [{}, '0x1'], text, { roundsMax: 1 });
    await expect(call).rejects.toMatchObject({ kind: 'unknown_block' });
  },
);

test('a hanging endpoint gets calls only after the other endpoints, and gets them first again once it answers', async () => {
  const [hung, other] = [await startNode(), await startNode()];
  // The time limit of an attempt passes only when the hanging endpoint has got the call.
  let late = (): void => undefined;
  const { now, sleep, ...rest } = systemClock();
  const onCall = (): Promise<void> => new Promise((resolve) => (late = resolve));
  const clock = {
    ...rest,
    now,
    sleep: (ms: number, signal?: AbortSignal) => (ms === 500 ? onCall() : sleep(ms, signal)),
  };
  const pool = poolOf([hung.httpUrl, other.httpUrl], { clock });
  await pool.call('eth_chainId', [], text);
  hung.onHttp = () => {
    late();
    return true;
  };
  const ask = (options = {}) => pool.call('eth_blockNumber', [], text, { attemptMs: 500, ...options });
  for (let call = 0; call < 3; call += 1) await ask();
  expect(pool.health().endpoints.map(({ state }) => state)).toEqual(['slow', 'ok']);
  await until(() => (pool.endpoints[0]?.record.coolUntil ?? 0) <= steadyNow());
  await ask();
  expect(other.countCalls('eth_blockNumber')).toBe(4);
  hung.onHttp = () => false;
  await ask({ endpoint: 0 });
  await ask();
  expect(hung.countCalls('eth_blockNumber')).toBe(2);
});

test('the last endpoint gets the full timeout of its transport', async () => {
  const node = await startNode();
  // If the limit of an attempt applied, it would pass at once.
  const call = poolOf([node.httpUrl], { clock: skippingClock() }).call('eth_blockNumber', [], text, {
    attemptMs: 50,
  });
  expect(await call).toBe('0x0');
});

test('after an answer that cannot be parsed, the call goes to the next endpoint', async () => {
  const [odd, sound] = [await startNode(), await startNode()];
  odd.onCall = ({ method }) => (method === 'eth_blockNumber' ? { result: { head: 7 } } : undefined);
  const pool = poolOf([odd.httpUrl, sound.httpUrl]);
  expect(await pool.call('eth_blockNumber', [], text)).toBe('0x0');
});

test('a batch that is too large for the node is split', async () => {
  const node = await startNode();
  node.batchMax = 7;
  const calls = Array.from({ length: 40 }, () => ({ method: 'eth_blockNumber', params: [] }));
  const pool = poolOf([node.httpUrl], { batchMax: 32 });
  expect(await pool.batchOutcomes(calls, text)).toEqual(Array(40).fill({ value: '0x0' }));
});

test('a batch whose answer exceeds our size limit is split', async () => {
  const node = await startNode();
  node.onCall = ({ method }) =>
    method === 'eth_blockNumber' ? { result: `0x${'0'.repeat(1_000)}` } : undefined;
  const calls = Array.from({ length: 20 }, () => ({ method: 'eth_blockNumber', params: [] }));
  const pool = poolOf([node.httpUrl], { bodyBytesMax: 5_000 });
  const outcomes = await pool.batchOutcomes(calls, text);
  expect(outcomes.filter((one) => 'value' in one)).toHaveLength(20);
});

test('an endpoint of another chain is refused, and the other endpoints are used', async () => {
  const [wrong, right] = [await startNode(new FakeChain(1), 1), await startNode()];
  const pool = poolOf([wrong.httpUrl, right.httpUrl]);
  expect(await pool.call('eth_blockNumber', [], text)).toBe('0x0');
  expect(pool.health().endpoints.map((endpoint) => endpoint.state)).toEqual(['wrong_chain', 'ok']);
  expect(wrong.countCalls('eth_blockNumber')).toBe(0);
  await checkChainId(pool, 369);
});

test('if all endpoints serve another chain, the start fails with bad_config and names each chain id', async () => {
  const nodes = [await startNode(new FakeChain(1), 1), await startNode(new FakeChain(2), 943)];
  const pool = poolOf(nodes.map((node) => node.httpUrl));
  const failure: unknown = await checkChainId(pool, 369).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'bad_config', retryable: false });
  expect(String(failure)).toMatch(/serves chain 1, not 369.*serves chain 943, not 369/);
});

test('a lagging endpoint is used less until it has caught up', async () => {
  const chain = new FakeChain(5);
  chain.mineMany(20, 0);
  const [slow, fast] = [await startNode(chain), await startNode(chain)];
  slow.lag = 10;
  const pool = poolOf([slow.httpUrl, fast.httpUrl]);
  await pool.refreshHeads();
  expect(pool.health().endpoints.map((endpoint) => endpoint.state)).toEqual(['lagging', 'ok']);
  expect(pool.health().head).toBe(20);
  expect(await pool.call('eth_blockNumber', [], text)).toBe('0x14');
  slow.lag = 0;
  await pool.refreshHeads();
  expect(pool.health().endpoints.map((endpoint) => endpoint.state)).toEqual(['ok', 'ok']);
});

test('an endpoint that is benched for a wrong answer gets calls only when no other endpoint answers', async () => {
  const [liar, other] = [await startNode(), await startNode()];
  const pool = poolOf([liar.httpUrl, other.httpUrl]);
  await pool.call('eth_blockNumber', [], text);
  pool.reject(0, new BlockMismatch('bloom', 7, 'it lied'));
  await pool.call('eth_blockNumber', [], text);
  expect([liar, other].map((node) => node.countCalls('eth_blockNumber'))).toEqual([1, 1]);
  expect(pool.health().endpoints[0]).toMatchObject({
    state: 'benched',
    lastError: expect.stringContaining('it lied') as unknown,
  });
  await other.stop();
  expect(await pool.call('eth_blockNumber', [], text)).toBe('0x0');
});

test('aborting a call ends its pause before a retry', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.writeHead(429, { 'retry-after': '30' }).end();
    return true;
  };
  const stop = new AbortController();
  const { sleep, ...rest } = systemClock();
  const clock: Clock = {
    ...rest,
    sleep: (ms, signal) => {
      const sleeping = sleep(ms, signal);
      if (ms < ENDLESS_MS) stop.abort(new Error('enough'));
      return sleeping;
    },
  };
  const call = poolOf([node.httpUrl], { clock }).call('eth_blockNumber', [], text, { signal: stop.signal });
  await expect(call).rejects.toThrow('enough');
});

/** A pool of one endpoint whose requests all fail. */
function downPool(clock: Clock): { pool: EndpointPool; asked(): number } {
  let asked = 0;
  const transport: RpcTransport = {
    name: '#0 virtual',
    send: () => {
      asked += 1;
      return Promise.reject(new RpcError('network', 'down'));
    },
    close: async () => undefined,
  };
  const pool = new EndpointPool({
    transports: [transport],
    chainId: null,
    log: silentLog,
    clock,
  });
  return { pool, asked: () => asked };
}

test('the pauses of a failing endpoint grow, and with a virtual clock no real time passes', async () => {
  let now = 0;
  const slept: number[] = [];
  const clock = {
    now: () => now,
    sleep: async (ms: number): Promise<void> => {
      slept.push(ms);
      now += ms;
    },
    turn: () => Promise.resolve(),
    random: () => 1,
  };
  const { pool } = downPool(clock);
  await expect(pool.call('eth_blockNumber', [], text)).rejects.toThrow('down');
  // In each of the three rounds the pauses are 20·2^n ms, up to 500 ms. Between the rounds they are 100·2^n ms.
  const round = [20, 40, 80, 160, 320, 500, 500];
  expect(slept).toEqual([...round, 100, ...round, 200, ...round]);
  await pool.close();
});

test('a timer that fires slightly early does not use up one of the rounds of retries', async () => {
  let now = 0;
  const { pool, asked } = downPool({
    now: () => now,
    sleep: async (ms: number): Promise<void> => void (now += ms * 0.95),
    turn: () => Promise.resolve(),
    random: () => 1,
  });
  await expect(pool.call('eth_blockNumber', [], text)).rejects.toThrow('down');
  expect(asked()).toBe(24);
  await pool.close();
});

test('concurrent calls that fail pause the endpoint once, not once per call', async () => {
  const { pool } = downPool({ ...systemClock(), random: () => 1 });
  const calls = Array.from({ length: 20 }, () => pool.call('eth_blockNumber', [], text, { roundsMax: 1 }));
  await Promise.allSettled(calls);
  expect((pool.endpoints[0]?.record.coolUntil ?? 0) - steadyNow()).toBeLessThanOrEqual(250);
  await pool.close();
});
