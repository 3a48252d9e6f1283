/** Tests streams and their sockets: pipelined requests, half-closed and reset sockets. */
import { once } from 'node:events';
import { connect as openSocket, type Socket } from 'node:net';

import { swaps } from './chainWriter';
import { createStreamWorld, untilSeen, type StreamWorld, type Tail } from './streamServer';
import { until } from '../../support/eventually';

let world: StreamWorld;
let api: Tail;
let sockets: Socket[];

beforeEach(async () => {
  world = await createStreamWorld();
  api = await world.begin();
  sockets = [];
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await world.drop();
});

interface Client {
  readonly socket: Socket;
  text(): string;
}

async function open(): Promise<Client> {
  const { hostname, port } = new URL(api.url);
  // The client keeps its half of the connection open after the server has closed the other half.
  const socket = openSocket({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, text: () => text };
}

const request = (path = new URL(api.url).pathname): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const streams = (): number => api.hub.clientCount();

test('a socket with 100 pipelined requests has one stream, which ends with the socket', async () => {
  const { socket, text } = await open();
  socket.write(request().repeat(100));
  await until(() => text().includes('retry: 3000'));
  // A later request gets its answer, so the server has looked at all hundred earlier ones.
  const later = await open();
  later.socket.write(request('/nowhere'));
  await until(() => later.text().includes('HTTP/1.1 404'));
  expect(streams()).toBe(1);
  await world.chain.mine(swaps(1));
  await until(() => text().includes('event: swap'));
  socket.destroy();
  await until(() => streams() === 0);
});

test('forty sockets with pipelined requests leave no streams behind', async () => {
  const clients = await Promise.all(Array.from({ length: 40 }, open));
  for (const { socket } of clients) socket.write(request().repeat(100));
  await until(() => clients.every(({ text }) => text().includes('retry: 3000')));
  expect(streams()).toBe(40);
  for (const { socket } of clients) socket.resetAndDestroy();
  await until(() => streams() === 0);
});

test("a stream requested after another request starts after that request's answer, and is the last on its socket", async () => {
  const { socket, text } = await open();
  socket.write(request('/nowhere') + request() + request('/nowhere'));
  await until(() => text().includes('retry: 3000'));
  expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  expect(streams()).toBe(1);
  socket.destroy();
  await until(() => streams() === 0);
});

test('a socket is closed if it sends endless requests behind its stream', async () => {
  const { socket, text } = await open();
  socket.write(request());
  await until(() => text().includes('retry: 3000'));
  expect(streams()).toBe(1);
  socket.write(request('/nowhere').repeat(1_000));
  await until(() => streams() === 0);
});

test.each([
  ['half-closed', (socket: Socket): void => void socket.end()],
  ['reset', (socket: Socket): void => void socket.resetAndDestroy()],
] as const)('a socket that is %s ends its stream', async (_, leave) => {
  const { socket, text } = await open();
  socket.write(request());
  await until(() => text().includes('retry: 3000'));
  leave(socket);
  await until(() => streams() === 0);
});

test('the server removes at once a client that half-closes its socket and stops reading', async () => {
  const { socket, text } = await open();
  socket.write(request());
  await until(() => text().includes('retry: 3000'));
  socket.pause();
  // More bytes than the buffers of both ends hold.
  for (let block = 0; block < 20 && api.hub.heldBytes() === 0; block += 1) {
    await world.chain.mine(swaps(2_500));
    await untilSeen(api.tail, world.chain);
  }
  expect(api.hub.heldBytes()).toBeGreaterThan(0);
  socket.end();
  await until(() => streams() === 0);
});
