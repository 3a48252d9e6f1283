/** Tests the queue of one stream client, with a socket that accepts bytes when the test allows. */
import { toOrd } from '../../../src/domain/ord';
import {
  QUEUE_BYTES_MAX,
  QUEUE_MESSAGES_MAX,
  StreamClient,
  type StreamSink,
} from '../../../src/stream/streamClient';
import type { StreamMessage } from '../../../src/stream/streamMessage';

const FILTER = { kinds: ['swap'] as const, pair: null, token: null, maker: null };

class Socket implements StreamSink {
  readonly written: string[] = [];
  open = true;
  ended = false;
  write(bytes: Buffer): boolean {
    this.written.push(bytes.toString().slice(0, 200));
    return this.open;
  }
  end(): void {
    this.ended = true;
  }
}

function message(n: number, size = 0): StreamMessage {
  const bytes = Buffer.from(`m${n}`.padEnd(size, ' '));
  return { bytes, id: `${n}-0-00000000`, reach: { kind: 'event', ord: toOrd(n, 0) } };
}

function liveClient(): { client: StreamClient; socket: Socket } {
  const socket = new Socket();
  const client = new StreamClient(FILTER, socket);
  client.release();
  return { client, socket };
}

test('messages to a socket that accepts bytes are not queued', () => {
  const { client, socket } = liveClient();
  for (let n = 0; n < 5_000; n += 1) client.push(message(n));
  expect(client.queued).toBe(0);
  expect(socket.written).toHaveLength(5_000);
});

test('a full socket gets no more messages until it drains, and then gets the queue in order', () => {
  const { client, socket } = liveClient();
  socket.open = false;
  for (let n = 0; n < 4; n += 1) client.push(message(n));
  expect(socket.written).toEqual(['m0']);
  client.drain();
  expect(socket.written).toEqual(['m0', 'm1']);
  socket.open = true;
  client.drain();
  expect(socket.written).toEqual(['m0', 'm1', 'm2', 'm3']);
});

test('a queue of more than 1,000 messages is dropped and replaced by a gap message, and the stream goes on', () => {
  const { client, socket } = liveClient();
  socket.open = false;
  for (let n = 0; n <= QUEUE_MESSAGES_MAX + 1; n += 1) client.push(message(n));
  expect(client.queued).toBe(0);
  for (let n = 2_000; n < 2_010; n += 1) client.push(message(n));
  expect(client.queued).toBe(0);
  expect(client.takeDrops()).toBe(QUEUE_MESSAGES_MAX + 11);
  socket.open = true;
  client.drain();
  client.push(message(3_000));
  expect(socket.written).toEqual([
    'm0',
    'id: 2009-0-00000000\nevent: gap\ndata: {"from_id":"1-0","to_id":"2009-0"}\n\n',
    'm3000',
  ]);
});

test("a slow client's queue holds 1,000 messages before any are dropped", () => {
  const { client, socket } = liveClient();
  socket.open = false;
  for (let n = 0; n <= QUEUE_MESSAGES_MAX; n += 1) client.push(message(n));
  expect(client.queued).toBe(QUEUE_MESSAGES_MAX);
  socket.open = true;
  client.drain();
  expect(socket.written).toHaveLength(QUEUE_MESSAGES_MAX + 1);
});

test('the queue of a client holds at most 1 MB', () => {
  const { client, socket } = liveClient();
  socket.open = false;
  for (let n = 0; n < 200; n += 1) {
    client.push(message(n, 10_000));
    expect(client.queuedBytes).toBeLessThanOrEqual(QUEUE_BYTES_MAX);
  }
  expect(client.takeDrops()).toBeGreaterThan(0);
});

test('live messages wait for the end of a replay, and no heartbeat interrupts a replay', async () => {
  const socket = new Socket();
  const client = new StreamClient(FILTER, socket);
  client.push(message(9));
  client.beat(Buffer.from('beat'));
  expect(await client.write(Buffer.from('replay 1'))).toBe(true);
  socket.open = false;
  const second = client.write(Buffer.from('replay 2'));
  client.push(message(10));
  socket.open = true;
  client.drain();
  expect(await second).toBe(true);
  client.release();
  client.beat(Buffer.from('beat'));
  expect(socket.written).toEqual(['replay 1', 'replay 2', 'm9', 'm10', 'beat']);
});

test('a client that leaves during a replay ends the replay', async () => {
  const socket = new Socket();
  socket.open = false;
  const client = new StreamClient(FILTER, socket);
  const page = client.write(Buffer.from('page'));
  client.end();
  client.end();
  expect(await page).toBe(false);
  expect(await client.write(Buffer.from('page 2'))).toBe(false);
  client.push(message(1));
  expect(socket.written).toEqual(['page']);
  expect(socket.ended).toBe(true);
});

test('a socket that accepts nothing counts as stalled until it drains', () => {
  let now = 0;
  const socket = new Socket();
  const client = new StreamClient(FILTER, socket, () => now);
  client.release();
  expect(client.isStalled(0)).toBe(false);
  socket.open = false;
  client.push(message(1));
  now = 101;
  expect(client.isStalled(100)).toBe(true);
  socket.open = true;
  client.drain();
  expect(client.isStalled(0)).toBe(false);
});
