/** JSON-RPC over lasting connections: what WebSocket and IPC share, and what only one of them does. */
import { systemClock, type Clock } from '../../../../src/node/rpc/clock';
import { createTransport } from '../../../../src/node/rpc/createTransport';
import type { HeadHint, RpcTransport, TransportOptions } from '../../../../src/node/rpc/rpcTransport';
import { until } from '../../../support/eventually';
import type { FakeNode } from '../../../support/node/fakeNode';
import { IpcNode } from '../../../support/node/ipcNode';
import { closeAll, closeLater, startNode } from '../setup';

afterEach(closeAll);

const CHAIN_ID = { method: 'eth_chainId', params: [] };
const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [] };
/** A method without a size limit of its own. */
const BLOCK = { method: 'eth_getBlockByNumber', params: ['latest', false] };

function transportTo(url: string, options: Partial<TransportOptions> = {}): RpcTransport {
  const defaults = { clock: systemClock(), timeoutMs: 20_000, bodyBytesMax: 1 << 20, connectionsMax: 4 };
  const transport = createTransport(url, 3, { ...defaults, ...options });
  closeLater(() => transport.close());
  return transport;
}

/** The system's clock in fast motion: sleeps are `factor` times shorter, and time advances `factor` times faster. */
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

/** A clock whose time and sleeps pass only when the test calls `pass`. */
function heldClock(): { readonly clock: Clock; pass(ms?: number): void } {
  let now = 0;
  let sleeps: { readonly until: number; readonly end: () => void }[] = [];
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      sleeps.push({ until: now + ms, end: resolve });
      signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  const pass = (ms = Infinity): void => {
    now += Number.isFinite(ms) ? ms : 0;
    const over = sleeps.filter(({ until }) => ms === Infinity || until <= now);
    sleeps = sleeps.filter((one) => !over.includes(one));
    for (const { end } of over) end();
  };
  return { clock: { ...systemClock(), now: () => now, sleep }, pass };
}

/** A node behind one of the two connections. */
interface Peer {
  readonly node: FakeNode;
  readonly url: string;
  announce(): void;
  /** Loses every connection. The node is back when the promise resolves. */
  lose(): Promise<void>;
  /** From now on, every call drops the connection. */
  dropAtCalls(isDropping: boolean): void;
  /** Leaves calls of this method without an answer. */
  mute(method: string): void;
  freeze(): void;
  subscriptions(): number;
}

async function startWs(): Promise<Peer> {
  const node = await startNode();
  return {
    node,
    url: node.wsUrl,
    announce: () => node.announce(),
    async lose() {
      node.dropSockets();
      await until(() => node.subscriberCount === 1);
    },
    dropAtCalls(isDropping) {
      node.onCall = () => (isDropping ? (node.dropSockets(), undefined) : undefined);
    },
    mute(method) {
      node.muteMethod = method;
    },
    freeze: () => node.freezeSockets(),
    subscriptions: () => node.countCalls('eth_subscribe'),
  };
}

async function startIpc(): Promise<Peer & { readonly ipc: IpcNode }> {
  const node = await startNode();
  const ipc = await new IpcNode(node).start();
  closeLater(() => ipc.remove());
  return {
    node,
    ipc,
    url: ipc.url,
    announce: () => ipc.announce(),
    async lose() {
      await ipc.stop();
      await ipc.start();
    },
    dropAtCalls(isDropping) {
      ipc.onCall = (socket, answer) => (isDropping ? ipc.dropSockets() : socket.write(answer));
    },
    mute(muted) {
      ipc.onCall = (socket, answer, method) => method !== muted && socket.write(answer);
    },
    freeze: () => ipc.freezeSockets(),
    subscriptions: () => ipc.methods.filter((method) => method === 'eth_subscribe').length,
  };
}

describe.each([
  ['WebSocket', startWs],
  ['IPC', startIpc],
] as const)('%s', (_name, start: () => Promise<Peer>) => {
  test('the answers are matched by id and returned in the order of the calls', async () => {
    const { url } = await start();
    const calls = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? CHAIN_ID : BLOCK_NUMBER));
    const answers = await transportTo(url).send(calls);
    expect(answers).toEqual(calls.map((call) => ({ result: call === CHAIN_ID ? '0x171' : '0x0' })));
  });

  test('a dropped connection rejects all open calls, and the next call reconnects', async () => {
    const { url, dropAtCalls } = await start();
    const transport = transportTo(url);
    dropAtCalls(true);
    const sent = [transport.send([CHAIN_ID, CHAIN_ID]), transport.send([BLOCK_NUMBER])];
    for (const outcome of await Promise.allSettled(sent)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'network', retryable: true } });
    }
    dropAtCalls(false);
    expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
  });

  test('a watch gets pushed heads, and renews its subscription after a lost connection', async () => {
    const { node, url, announce, lose } = await start();
    const hints: (HeadHint | null)[] = [];
    const transport = transportTo(url, { clock: fastClock(10), timeoutMs: 600_000 });
    transport.watchHeads?.((hint) => hints.push(hint));
    await until(() => hints.length === 1);
    node.chain.mine();
    announce();
    await until(() => hints.length === 2);
    expect(hints).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
    await lose();
    await until(() => hints.length === 3);
    node.chain.reorg(1);
    announce();
    await until(() => hints.length === 4);
    expect(hints.slice(2)).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
  });

  test('a silent peer is pinged and then disconnected, and the watch reconnects', async () => {
    const { url, freeze, subscriptions } = await start();
    const transport = transportTo(url, { clock: fastClock(100), timeoutMs: 6_000_000 });
    let signals = 0;
    transport.watchHeads?.(() => (signals += 1));
    await until(() => signals === 1);
    freeze();
    await until(() => subscriptions() >= 2 && signals >= 2);
  });

  test('a peer is pinged 10 s after its last sign of life, and disconnected 10 s later', async () => {
    const { url, mute, freeze } = await start();
    const { clock, pass } = heldClock();
    const transport = transportTo(url, { clock, timeoutMs: 600_000 });
    await transport.send([CHAIN_ID]);
    pass(9_000);
    await transport.send([CHAIN_ID]);
    mute('eth_blockNumber');
    let failed: unknown = null;
    const silent = transport.send([BLOCK_NUMBER]).catch((error: unknown) => (failed = error));
    freeze();
    // Sleeps begin in later turns of the event loop.
    const passAt = async (ms: number): Promise<unknown> => {
      pass(ms);
      for (let turn = 0; turn < 20; turn += 1) await clock.turn();
      return failed;
    };
    for (const ms of [1_000, 8_999, 1, 9_999]) expect(await passAt(ms)).toBeNull();
    pass(1);
    await silent;
    expect(failed).toMatchObject({ kind: 'network' });
  });

  test('a call without an answer fails at its timeout, and the other calls of the connection continue', async () => {
    const { url, mute } = await start();
    const { clock, pass } = heldClock();
    const transport = transportTo(url, { clock });
    await transport.send([CHAIN_ID]);
    mute('eth_chainId');
    const silent = transport.send([CHAIN_ID]);
    expect(await transport.send([BLOCK_NUMBER])).toEqual([{ result: '0x0' }]);
    pass();
    await expect(silent).rejects.toMatchObject({ kind: 'timeout' });
    expect(await transport.send([BLOCK_NUMBER])).toEqual([{ result: '0x0' }]);
  });

  test('closing the transport rejects its open calls', async () => {
    const { url, mute } = await start();
    const transport = transportTo(url, { timeoutMs: 600_000 });
    await transport.send([BLOCK_NUMBER]);
    mute('eth_chainId');
    const call = transport.send([CHAIN_ID]).catch((reason: unknown) => reason);
    await transport.close();
    expect(await call).toMatchObject({ kind: 'network' });
  });
});

test('a watch that was ended does not reconnect', async () => {
  const { node, url } = await startWs();
  const transport = transportTo(url);
  const stop = transport.watchHeads?.(() => undefined);
  await until(() => node.subscriberCount === 1);
  stop?.();
  node.dropSockets();
  // The first call after the drop may still use the closing connection.
  await transport.send([CHAIN_ID]).catch(() => null);
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
  expect(node.countCalls('eth_subscribe')).toBe(1);
});

test('a closed port is an error of the call and does not crash the process', async () => {
  const { node, url } = await startWs();
  await node.stop();
  await expect(transportTo(url).send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network' });
});

test('the error for a missing socket does not name its path', async () => {
  const text = await transportTo('ipc:///nowhere/sub/folder/a.ipc')
    .send([CHAIN_ID])
    .catch((reason: unknown) => String(reason));
  expect(text).toMatch(/^RpcError: #3 ipc: .*connect ENOENT …$/);
});

test('the error for an HTTP answer instead of a WebSocket names the status', async () => {
  const { node, url } = await startWs();
  node.onUpgrade = (socket) => {
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    return true;
  };
  const text = `#3 127.0.0.1:${node.port}: the server answered HTTP 403 and opened no WebSocket`;
  await expect(transportTo(url).send([CHAIN_ID])).rejects.toMatchObject({ kind: 'refused', message: text });
});

test('closing the transport during the handshake of a WebSocket rejects the call', async () => {
  const { node, url } = await startWs();
  node.onUpgrade = () => true;
  const transport = transportTo(url, { timeoutMs: 600_000 });
  const call = transport.send([CHAIN_ID]).catch((reason: unknown) => reason);
  await until(() => node.upgradesSeen === 1);
  await transport.close();
  expect(await call).toMatchObject({ kind: 'network' });
});

test('an invalid WebSocket frame closes the connection and rejects its calls', async () => {
  const { node, url } = await startWs();
  const transport = transportTo(url);
  await transport.send([CHAIN_ID]);
  node.onCall = () => {
    node.sendFrame('}{');
    return undefined;
  };
  await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network' });
  node.onCall = () => undefined;
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
});

test('a WebSocket frame beyond the size limit closes the connection and rejects its calls', async () => {
  const { node, url } = await startWs();
  node.onCall = () => ({ result: 'x'.repeat(5_000) });
  const sent = transportTo(url, { bodyBytesMax: 1_000 }).send([CHAIN_ID]);
  await expect(sent).rejects.toMatchObject({ kind: 'too_large', retryable: true });
});

test.each([
  ['text', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['an object that is not JSON', '{]'],
  ['a broken answer', '{"jsonrpc":"2.0","id":}'],
  ['a list that is no batch of ours', '[1,2]'],
])(
  '%s over IPC instead of an answer ends the connection, and the next call reconnects',
  async (_, garbage) => {
    const { ipc, url } = await startIpc();
    const transport = transportTo(url);
    await transport.send([CHAIN_ID]);
    ipc.onCall = (socket) => socket.write(garbage);
    await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network', retryable: true });
    ipc.onCall = (socket, answer) => socket.write(answer);
    expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
    await until(() => ipc.openCount === 1);
  },
);

test('an endless message over IPC is cut off at the size limit, and the connection is closed', async () => {
  const { ipc, url } = await startIpc();
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
  const transport = transportTo(url, { bodyBytesMax });
  await expect(transport.send([BLOCK])).rejects.toMatchObject({ kind: 'too_large', retryable: true });
  await until(() => ipc.openCount === 0);
  // What the kernel holds for the socket comes on top.
  expect(written).toBeLessThan(4 * bodyBytesMax);
  ipc.onCall = (socket, answer) => socket.write(answer);
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
});

test('the answers over IPC may arrive in any order', async () => {
  const { ipc, url } = await startIpc();
  const kept: string[] = [];
  ipc.onCall = (socket, answer) => {
    if (kept.push(answer) === 2) socket.write(kept.splice(0).reverse().join(''));
  };
  const answers = await transportTo(url).send([CHAIN_ID, BLOCK_NUMBER]);
  expect(answers).toEqual([{ result: '0x171' }, { result: '0x0' }]);
});

test('messages over IPC that answer no call are ignored', async () => {
  const { ipc, url } = await startIpc();
  const transport = transportTo(url);
  ipc.onCall = (socket, answer) => {
    const others = [
      '{}',
      '{"id":999,"result":1}',
      '{"id":"one","result":1}',
      '{"method":"eth_subscription"}',
    ];
    socket.write(others.join('').repeat(500) + answer);
  };
  expect(await transport.send([CHAIN_ID, BLOCK_NUMBER])).toEqual([{ result: '0x171' }, { result: '0x0' }]);
  expect(ipc.connections).toBe(1);
});
