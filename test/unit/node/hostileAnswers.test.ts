/**
 * Tests answers of a malicious node: hostile bytes, wrong shapes, both together, and honest answers that are
 * too large.
 */
import type { ServerResponse } from 'node:http';

import { AnswerMeter, ByteBudget, ANSWER_BYTES_MAX } from '../../../src/node/rpc/answerBounds';
import { createTransport } from '../../../src/node/rpc/createTransport';
import { systemClock } from '../../../src/node/rpc/clock';
import type { RpcCall } from '../../../src/node/rpc/rpcTransport';
import { FakeChain } from '../../support/node/fakeChain';
import type { FakeNode } from '../../support/node/fakeNode';
import { closeAll, closeLater, ENDLESS_MS, poolOf, sourceOf, startNode } from './setup';
import { until } from '../../support/eventually';

afterEach(closeAll);

const BLOCK: RpcCall = { method: 'eth_getBlockByNumber', params: ['latest', true] };
const MIB = 2 ** 20;
const anything = (value: unknown): unknown => value;

function transportTo(url: string, bodyBytesMax = ANSWER_BYTES_MAX) {
  const options = { clock: systemClock(), timeoutMs: ENDLESS_MS, bodyBytesMax, connectionsMax: 4 };
  const transport = createTransport(url, 0, options);
  closeLater(() => transport.close());
  return transport;
}

/** Sends pieces without end, as fast as the client reads, and counts the bytes taken. */
function pour(response: ServerResponse, piece: Buffer, head: string): { written: number } {
  const sent = { written: 0 };
  const go = (): void => {
    while (!response.destroyed && sent.written < 1_024 * MIB) {
      sent.written += piece.length;
      if (!response.write(piece)) return;
    }
  };
  response.on('drain', go);
  response.write(head);
  go();
  return sent;
}

test('an endless answer is cut at 64 MiB', async () => {
  const node = await startNode();
  let sent = { written: 0 };
  node.onHttp = (_request, response) => {
    sent = pour(response, Buffer.alloc(MIB, 0x61), '{"jsonrpc":"2.0","id":0,"result":"0x');
    return true;
  };
  const failed = transportTo(node.httpUrl).send([BLOCK]);
  await expect(failed).rejects.toMatchObject({ kind: 'too_large', retryable: true, cut: 'answer' });
  expect(sent.written).toBeGreaterThan(60 * MIB);
  expect(sent.written).toBeLessThan(96 * MIB);
});

test('an answer with a Content-Length above the limit is refused before its body arrives', async () => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.writeHead(200, { 'content-length': String(ANSWER_BYTES_MAX + 1) });
    response.write('{');
    return true;
  };
  const failed = transportTo(node.httpUrl).send([BLOCK]);
  await expect(failed).rejects.toMatchObject({ kind: 'too_large', message: /larger than 67108864 bytes/ });
});

const SHAPES: [string, string][] = [
  ['nested arrays', '['],
  ['nested objects', '{"a":'],
  ['empty objects', '{},'],
  ['numbers', '1,'],
  ['keys', '"a":1,'],
];

test.each(SHAPES)('an answer with too many values is refused: %s', async (_, unit) => {
  const node = await startNode();
  node.onHttp = (_request, response) => {
    response.end(`{"jsonrpc":"2.0","id":0,"result":[${unit.repeat((8 * MIB) / unit.length)}`);
    return true;
  };
  const failed = transportTo(node.httpUrl).send([BLOCK]);
  await expect(failed).rejects.toMatchObject({ kind: 'bad_answer', retryable: true });
});

test('a WebSocket frame with too many values closes the connection, and the next call reconnects', async () => {
  const node = await startNode();
  node.onCall = ({ method }) => {
    return method === BLOCK.method ? { result: Array(600_000).fill(1) } : undefined;
  };
  const transport = transportTo(node.wsUrl);
  await expect(transport.send([BLOCK])).rejects.toMatchObject({ kind: 'network' });
  expect(await transport.send([{ method: 'eth_chainId', params: [] }])).toEqual([{ result: '0x171' }]);
});

test('the size limit applies to one answer, not to all frames of a connection', async () => {
  const node = await startNode();
  node.onCall = () => ({ result: Array(30_000).fill(1) });
  const transport = transportTo(node.wsUrl, 2 * MIB);
  for (let round = 0; round < 4; round += 1)
    expect(await transport.send(Array<RpcCall>(10).fill(BLOCK))).toHaveLength(10);
});

test('when open answers together exceed the memory budget, the largest answer is cut', () => {
  const budget = new ByteBudget(100);
  const cut: string[] = [];
  const open = (name: string): AnswerMeter => new AnswerMeter(90, () => cut.push(name), budget);
  const [large, middle, small] = [open('large'), open('middle'), open('small')];
  large.add(Buffer.alloc(60));
  middle.add(Buffer.alloc(40));
  expect(cut).toEqual([]);
  small.add(Buffer.alloc(1));
  expect(cut).toEqual(['large']);
  small.add(Buffer.alloc(60));
  expect(cut).toEqual(['large', 'small']);
  middle.close();
  open('next').add(Buffer.alloc(90));
  expect(cut).toEqual(['large', 'small']);
});

test('stalled answers on many connections do not block the answer of another node', async () => {
  const hostile = await startNode();
  const honest = await startNode();
  let stalled = 0;
  hostile.onHttp = (_request, response) => {
    response.write(Buffer.alloc(40 * MIB, 0x20), () => (stalled += 1));
    return true;
  };
  const transport = transportTo(hostile.httpUrl);
  const kinds: unknown[] = [];
  const sent = [0, 1, 2].map(() =>
    transport.send([BLOCK]).catch((error: { kind: string }) => kinds.push(error.kind)),
  );
  await until(() => kinds.length === 1);
  expect(kinds).toEqual(['too_large']);
  expect(await transportTo(honest.httpUrl).send([{ method: 'eth_chainId', params: [] }])).toHaveLength(1);
  expect(stalled).toBeGreaterThan(0);
  await transport.close();
  await Promise.all(sent);
});

test.each(['httpUrl', 'wsUrl'] as const)(
  'a call whose answer exceeds its own limit fails alone, over %s',
  async (url) => {
    const node = await startNode();
    node.onCall = ({ method, params }) => {
      if (method !== 'eth_call') return undefined;
      return { result: `0x${'ab'.repeat(params[0] === 'long' ? 300_000 : 32)}` };
    };
    const calls = ['a', 'long', 'b', 'long', 'c'].map((name) => {
      return { method: 'eth_call', params: [name], answerBytesMax: 4_096 };
    });
    const outcomes = await poolOf([node[url]]).batchOutcomes(calls, anything);
    const short = { value: `0x${'ab'.repeat(32)}` };
    const long = { error: expect.objectContaining({ kind: 'too_large', cut: 'call', retryable: false }) };
    expect(outcomes).toEqual([short, long, short, long, short]);
  },
);

test('after an answer that is too large, the call goes to the next endpoint', async () => {
  const [hostile, honest] = [await startNode(), await startNode()];
  hostile.onCall = ({ method }) => {
    return method === BLOCK.method ? { result: 'x'.repeat(100_000) } : undefined;
  };
  const pool = poolOf([hostile.httpUrl, honest.httpUrl], { bodyBytesMax: 50_000 });
  expect(await pool.call(BLOCK.method, BLOCK.params, anything)).toMatchObject({ number: '0x0' });
  const alone = poolOf([hostile.httpUrl], { bodyBytesMax: 50_000 });
  await expect(alone.call(BLOCK.method, BLOCK.params, anything)).rejects.toMatchObject({ kind: 'too_large' });
  // Each of the two calls asked the hostile node once, because an answer that is too large is not requested again.
  expect(hostile.countCalls(BLOCK.method)).toBe(2);
});

test.each(['httpUrl', 'wsUrl'] as const)(
  'a deeply nested error without a message is handled as an error, over %s',
  async (url) => {
    const node = await startNode();
    const tower = '['.repeat(100_000) + ']'.repeat(100_000);
    node.onHttp = (_request, response) => {
      response.end(`{"jsonrpc":"2.0","id":0,"error":${tower}}`);
      return true;
    };
    const transport = transportTo(node[url]);
    if (url === 'wsUrl') {
      node.muteMethod = BLOCK.method;
      const sent = transport.send([BLOCK]);
      await until(() => node.countCalls(BLOCK.method) === 1);
      node.sendFrame(`{"jsonrpc":"2.0","id":1,"error":${tower}}`);
      expect(await sent).toMatchObject([{ error: { kind: 'other' } }]);
    } else expect(await transport.send([BLOCK])).toMatchObject([{ error: { kind: 'other' } }]);
  },
);

const chainOf = (): FakeChain => {
  const chain = new FakeChain(7);
  chain.mineMany(40, 3);
  return chain;
};

test.each([
  ['receipts', true],
  ['logs', false],
])('a range whose answer is too large is read in smaller parts: %s', async (_, hasReceipts) => {
  const node: FakeNode = await startNode(chainOf());
  node.hasReceipts = hasReceipts;
  const whole = await sourceOf([node]).source.fetchRange(1, 40);
  const { source } = sourceOf([node], { bodyBytesMax: 12_000 });
  expect(await source.fetchRange(1, 40)).toEqual(whole);
});
