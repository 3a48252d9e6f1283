import { systemClock, type Clock } from '../../../../src/chain/rpc/clock';
import { createTransport } from '../../../../src/chain/rpc/createTransport';
import type { HeadHint, RpcTransport, TransportOptions } from '../../../../src/chain/rpc/rpcTransport';
import { closeAll, closeLater, startNode } from '../setup';
import { until } from '../../../support/eventually';

afterEach(closeAll);

const CHAIN_ID = { method: 'eth_chainId', params: [] };
const BLOCK_NUMBER = { method: 'eth_blockNumber', params: [] };

function transportTo(url: string, options: Partial<TransportOptions> = {}): RpcTransport {
  const defaults = { clock: systemClock(), timeoutMs: 2_000, bodyBytesMax: 1 << 20, connectionsMax: 4 };
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

test('the answers on one socket are matched by id and returned in the order of the calls', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl);
  const calls = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? CHAIN_ID : BLOCK_NUMBER));
  const answers = await transport.send(calls);
  expect(answers).toEqual(calls.map((call) => ({ result: call === CHAIN_ID ? '0x171' : '0x0' })));
});

test('a dropped connection rejects all open calls, and the next call reconnects', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl);
  node.onCall = () => {
    node.dropSockets();
    return undefined;
  };
  const sent = [transport.send([CHAIN_ID, CHAIN_ID]), transport.send([BLOCK_NUMBER])];
  for (const outcome of await Promise.allSettled(sent)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'network', retryable: true } });
  }
  node.onCall = () => undefined;
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
});

test('a watch gets pushed heads, and renews its subscription after a lost connection', async () => {
  const node = await startNode();
  const hints: (HeadHint | null)[] = [];
  const transport = transportTo(node.wsUrl);
  transport.watchHeads?.((hint) => hints.push(hint));
  await until(() => hints.length === 1);
  node.chain.mine();
  node.announce();
  await until(() => hints.length === 2);
  expect(hints).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
  node.dropSockets();
  await until(() => node.subscriberCount === 1 && hints.length === 3);
  node.chain.reorg(1);
  node.announce();
  await until(() => hints.length === 4);
  expect(hints.slice(2)).toEqual([null, { number: 1, hash: node.chain.head.hash }]);
});

test('a watch that was ended does not reconnect', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl);
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
  const node = await startNode();
  const url = node.wsUrl;
  await node.stop();
  await expect(transportTo(url).send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network' });
});

test('the error for an HTTP answer instead of a WebSocket names the status', async () => {
  const node = await startNode();
  node.onUpgrade = (socket) => {
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    return true;
  };
  const error: unknown = await transportTo(node.wsUrl)
    .send([CHAIN_ID])
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    kind: 'refused',
    message: `#3 127.0.0.1:${node.port}: the server answered HTTP 403 and opened no WebSocket`,
  });
});

test('an invalid frame closes the connection and rejects its calls', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl);
  await transport.send([CHAIN_ID]);
  node.onCall = () => {
    node.sendFrame('}{');
    return undefined;
  };
  await expect(transport.send([CHAIN_ID])).rejects.toMatchObject({ kind: 'network' });
  node.onCall = () => undefined;
  expect(await transport.send([CHAIN_ID])).toEqual([{ result: '0x171' }]);
});

test('a frame beyond the size limit closes the connection and rejects its calls', async () => {
  const node = await startNode();
  node.onCall = () => ({ result: 'x'.repeat(5_000) });
  const sent = transportTo(node.wsUrl, { bodyBytesMax: 1_000 }).send([CHAIN_ID]);
  await expect(sent).rejects.toMatchObject({ kind: 'too_large', retryable: true });
});

test('a silent peer is pinged and then disconnected, and the watch reconnects', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl, { clock: fastClock(100) });
  let signals = 0;
  transport.watchHeads?.(() => (signals += 1));
  await until(() => node.subscriberCount === 1);
  node.freezeSockets();
  await until(() => node.countCalls('eth_subscribe') >= 2);
  await until(() => signals >= 2);
});

test('a call without an answer fails at its timeout, and the other calls of the connection continue', async () => {
  const node = await startNode();
  const transport = transportTo(node.wsUrl, { timeoutMs: 1_000 });
  await transport.send([CHAIN_ID]);
  node.muteMethod = 'eth_chainId';
  const [silent, spoken] = await Promise.allSettled([
    transport.send([CHAIN_ID]),
    transport.send([BLOCK_NUMBER]),
  ]);
  expect(silent).toMatchObject({ status: 'rejected', reason: { kind: 'timeout' } });
  expect(spoken).toMatchObject({ status: 'fulfilled', value: [{ result: '0x0' }] });
});

test('closing the transport during the handshake rejects the call', async () => {
  const node = await startNode();
  node.onUpgrade = () => true;
  const transport = transportTo(node.wsUrl, { timeoutMs: 600_000 });
  const call = transport.send([CHAIN_ID]).catch((reason: unknown) => reason);
  await until(() => node.upgradesSeen === 1);
  await transport.close();
  expect(await call).toMatchObject({ kind: 'network' });
});
