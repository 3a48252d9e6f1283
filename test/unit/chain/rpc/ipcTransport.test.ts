import { systemClock, type Clock } from '../../../../src/chain/rpc/clock';
import { createTransport } from '../../../../src/chain/rpc/createTransport';
import type { HeadHint, RpcTransport, TransportOptions } from '../../../../src/chain/rpc/rpcTransport';
import { until } from '../../../support/eventually';
import type { FakeNode } from '../../../support/node/fakeNode';
import { IpcNode } from '../../../support/node/ipcNode';
import { closeAll, closeLater, startNode } from '../setup';

afterEach(closeAll);

const CHAIN_ID = { method: 'eth_chainId', params: [] };
const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [] };
/** A method without a size limit of its own. */
const BLOCK = { method: 'eth_getBlockByNumber', params: ['latest', false] };

async function startIpc(): Promise<{ readonly node: FakeNode; readonly ipc: IpcNode }> {
  const node = await startNode();
  const ipc = await new IpcNode(node).start();
  closeLater(() => ipc.remove());
  return { node, ipc };
}

function transportTo(url: string, options: Partial<TransportOptions> = {}): RpcTransport {
  const defaults = { clock: systemClock(), timeoutMs: 2_000, bodyBytesMax: 1 << 20, connectionsMax: 4 };
  const transport = createTransport(url, 3, { ...defaults, ...options });
  closeLater(() => transport.close());
  return transport;
}

function fastClock(factor: number): Clock {
  const start = Date.now();
  const { sleep, turn, random } = systemClock();
  return {
    now: () => start + (Date.now() - start) * factor,
    sleep: (ms, signal) => sleep(ms / factor, signal),
    turn,
    random,
  };
}

test('the answers over IPC are matched by id, in whichever order and pieces they arrive', async () => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url);
  const calls = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? CHAIN_ID : BLOCK_NUMBER));
  const expected = calls.map((call) => ({ result: call === CHAIN_ID ? '0x171' : '0x0' }));
  expect(await transport.send(calls)).toEqual(expected);
  const kept: string[] = [];
  ipc.onCall = (socket, answer) => {
    if (kept.push(answer) === calls.length) socket.write(kept.splice(0).reverse().join(''));
  };
  expect(await transport.send(calls)).toEqual(expected);
  ipc.onCall = (socket, answer) => {
    if (kept.push(answer) < calls.length) return;
    const bytes = Buffer.from(` \r\n${kept.splice(0).join('\n\t')}\n`);
    const write = (at: number): void => {
      if (at < bytes.length) socket.write(bytes.subarray(at, at + 37), () => write(at + 37));
    };
    write(0);
  };
  expect(await transport.send(calls)).toEqual(expected);
  expect(ipc.connections).toBe(1);
});

test.each([
  ['text', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['a bare value', '7 '],
  ['a closing bracket', '}'],
  ['zero bytes', '\0\0\0\0'],
  ['an object that is not JSON', '{]'],
  ['a broken answer', '{"jsonrpc":"2.0","id":}'],
  ['a list that is no batch of ours', '[1,2]'],
])('%s instead of an answer ends the connection, and the next call reconnects', async (_name, garbage) => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url);
  await transport.send([CHAIN_ID]);
  ipc.onCall = (socket) => socket.write(garbage);
  await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network', retryable: true });
  ipc.onCall = (socket, answer) => socket.write(answer);
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
  await until(() => ipc.openCount === 1);
});

test('an endless message is cut off at the size limit, and the connection is closed', async () => {
  const { ipc } = await startIpc();
  const bodyBytesMax = 1 << 20;
  let written = 0;
  ipc.onCall = (socket) => {
    const write = (): void => {
      for (let more = true; more && !socket.destroyed; written += 65_536)
        more = socket.write(Buffer.alloc(65_536, '[['));
      if (!socket.destroyed) socket.once('drain', write);
    };
    write();
  };
  const transport = transportTo(ipc.url, { bodyBytesMax });
  await expect(transport.send([BLOCK])).rejects.toMatchObject({ kind: 'too_large', retryable: true });
  await until(() => ipc.openCount === 0);
  // What the kernel holds for the socket comes on top.
  expect(written).toBeLessThan(4 * bodyBytesMax);
  ipc.onCall = (socket, answer) => socket.write(answer);
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
});

test('an answer above the limit of its method fails alone', async () => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url);
  ipc.onCall = (socket, answer, method) =>
    socket.write(method === 'eth_chainId' ? answer.replace('0x171', 'x'.repeat(5_000)) : answer);
  const [long, short] = await Promise.allSettled([
    transport.send([CHAIN_ID]),
    transport.send([BLOCK_NUMBER]),
  ]);
  expect(long).toMatchObject({ status: 'rejected', reason: { kind: 'too_large' } });
  expect(short).toMatchObject({ status: 'fulfilled', value: [{ result: '0x0' }] });
  expect(ipc.connections).toBe(1);
});

test('messages that answer no call are ignored', async () => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url);
  ipc.onCall = (socket, answer) => {
    const others = ['{}', '{"id":999,"result":1}', '{"id":"one","result":1}', '{"method":"eth_subscription"}'];
    socket.write(others.join('').repeat(500) + answer);
  };
  expect(await transport.send([CHAIN_ID, BLOCK_NUMBER])).toEqual([{ result: '0x171' }, { result: '0x0' }]);
  expect(ipc.connections).toBe(1);
});

test('a watch gets pushed heads, and subscribes again after the node was away', async () => {
  const { node, ipc } = await startIpc();
  const hints: (HeadHint | null)[] = [];
  const transport = transportTo(ipc.url, { clock: fastClock(10) });
  transport.watchHeads?.((hint) => hints.push(hint));
  await until(() => hints.length === 1);
  node.chain.mine();
  ipc.announce();
  await until(() => hints.length === 2);
  expect(hints).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
  await ipc.stop();
  await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network' });
  await ipc.start();
  await until(() => hints.length === 3);
  node.chain.reorg(1);
  ipc.announce();
  await until(() => hints.length === 4);
  expect(hints.slice(2)).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
});

test('a silent node is asked for a sign of life and then disconnected, and the watch reconnects', async () => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url, { clock: fastClock(100) });
  transport.watchHeads?.(() => undefined);
  await until(() => ipc.methods.includes('eth_subscribe'));
  // A node that answers stays connected.
  await until(() => ipc.methods.filter((method) => method === 'eth_chainId').length >= 2);
  expect(ipc.connections).toBe(1);
  ipc.freezeSockets();
  await until(() => ipc.connections >= 2);
});

test('a call without an answer fails at its timeout, and closing rejects the others', async () => {
  const { ipc } = await startIpc();
  const transport = transportTo(ipc.url, { timeoutMs: 150 });
  ipc.onCall = () => undefined;
  await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'timeout' });
  const slow = transportTo(ipc.url, { timeoutMs: 600_000 });
  const call = slow.send([CHAIN_ID]).catch((reason: unknown) => reason);
  await until(() => ipc.methods.length === 2);
  await slow.close();
  expect(await call).toMatchObject({ kind: 'network' });
});

test('the error for a missing socket does not name its path', async () => {
  const url = 'ipc:///nowhere/sub/folder/a.ipc';
  const text = await transportTo(url)
    .send([CHAIN_ID])
    .catch((reason: unknown) => String(reason));
  expect(text).toMatch(/^RpcError: #3 ipc: .*connect ENOENT …$/);
});
