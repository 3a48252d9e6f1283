/**
 * Tests limits on a client's use of the HTTP server: slow requests, unread answers, sockets and open
 * requests. Other clients keep getting answers.
 */
import { connect, type Socket } from 'node:net';

import { HTTP_LIMITS, type HttpLimits } from '../../../src/api/httpServer';
import type { Route } from '../../../src/api/route';
import type { Listening } from '../../support/server/listen';
import { serveRoutes } from '../../support/server/serveRoutes';

const servers: Listening[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});

const BIG = Buffer.alloc(16 * 1024 * 1024, 'x');
const routes: Route[] = [
  { path: '/up', doc: { summary: 'up', tag: 'service' }, handle: (ctx) => void (ctx.body = 'up') },
  { path: '/big', doc: { summary: 'big', tag: 'service' }, handle: (ctx) => void (ctx.body = BIG) },
];

async function serve(limits: Partial<HttpLimits> = {}): Promise<number> {
  const server = await serveRoutes(routes, { limits: { ...HTTP_LIMITS, ...limits } });
  servers.push(server);
  return server.port;
}

interface Client {
  readonly socket: Socket;
  text(): string;
  /** Resolves when the server has closed the socket. */
  readonly closed: Promise<void>;
}

function open(port: number): Client {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, text: () => text, closed };
}

/** Limits that a request without a pause does not reach, even on a busy machine. */
const SHORT_LIMITS = { headersTimeoutMs: 1_500, requestTimeoutMs: 1_500, checkEveryMs: 100 };

const GET_UP = 'GET /up HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

async function expectAlive(port: number): Promise<void> {
  const client = open(port);
  client.socket.write(GET_UP);
  await client.closed;
  expect(client.text()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nup$/);
}

/** A client that sends one piece every 50 ms and never completes a request. */
function trickle({ socket, closed }: Client, piece: string): void {
  const timer = setInterval(() => socket.writable && socket.write(piece), 50);
  void closed.then(() => clearInterval(timer));
}

test('clients that never finish sending their headers are disconnected, even 50 clients in parallel', async () => {
  const port = await serve(SHORT_LIMITS);
  const slow = Array.from({ length: 50 }, () => open(port));
  for (const client of slow) {
    client.socket.write('GET /up HTTP/1.1\r\nHost: x\r\n');
    trickle(client, 'X-A: b\r\n');
  }
  await expectAlive(port);
  await Promise.all(slow.map(({ closed }) => closed));
  for (const client of slow) expect(client.text()).toMatch(/^(HTTP\/1\.1 408 |$)/);
});

test('a client that never finishes sending its body gets an answer and is disconnected', async () => {
  const port = await serve(SHORT_LIMITS);
  const cases = [
    ['GET', 'Content-Length: 1000', 200],
    ['GET', 'Transfer-Encoding: chunked', 200],
    ['POST', 'Content-Length: 1000', 405],
  ] as const;
  const answers = cases.map(async ([method, length]) => {
    const client = open(port);
    client.socket.write(`${method} /up HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
    trickle(client, '1\r\nx\r\n');
    await client.closed;
    return Number(/^HTTP\/1\.1 (\d+) /.exec(client.text())?.[1]);
  });
  expect(await Promise.all(answers)).toEqual(cases.map(([, , status]) => status));
});

test('a client that does not read its answer is disconnected', async () => {
  const port = await serve({ idleTimeoutMs: 1_500 });
  const left = new Promise<void>((resolve) => {
    servers.at(-1)?.server.once('connection', (socket) => socket.once('close', () => resolve()));
  });
  const client = open(port);
  client.socket.pause();
  client.socket.write('GET /big HTTP/1.1\r\nHost: x\r\n\r\n');
  await left;
  await expectAlive(port);
});

test.each([
  [
    'headers that are too long',
    `GET /up HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'too long',
  ],
  [
    'a URL that is too long',
    `GET /${'x'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    400,
    '4096',
  ],
  ['a POST body', 'POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n', 405, 'POST'],
  [
    'a large body for a GET',
    'GET /up HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n',
    400,
    '1048576',
  ],
  ['bytes that are not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n', 400, 'not a valid HTTP'],
  [
    'two Content-Length headers',
    'GET /up HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    'not a valid HTTP',
  ],
  [
    'a Content-Length and chunked encoding',
    'GET /up HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'not a valid HTTP',
  ],
  [
    'a bare carriage return in a header',
    'GET /up HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n',
    400,
    'not a valid HTTP',
  ],
])(
  'a request with %s is refused with the error body of the API, and the socket is closed',
  async (_, request, status, text) => {
    const port = await serve();
    const client = open(port);
    client.socket.write(request);
    await client.closed;
    expect(client.text()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(client.text()).toMatch(/\r\nX-Request-Id: [\w-]{36}\r\n/i);
    const body = JSON.parse(client.text().split('\r\n\r\n').slice(1).join('')) as Record<string, unknown>;
    expect(body).toEqual({ success: false, error: expect.stringContaining(text), code: expect.any(String) });
    await expectAlive(port);
  },
);

test('an address at its limit of sockets gets 429, and can connect again when one socket closes', async () => {
  const port = await serve({ socketsPerAddressMax: 3, localExempt: false });
  const held = Array.from({ length: 3 }, () => open(port));
  await Promise.all(held.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  const refused = open(port);
  await refused.closed;
  expect(refused.text()).toMatch(/^HTTP\/1\.1 429 [\s\S]*Retry-After: 10[\s\S]*"code":"rate_limited"/);
  const [first] = held;
  first!.socket.end(GET_UP);
  await first!.closed;
  expect(first!.text()).toMatch(/^HTTP\/1\.1 200 /);
  await expectAlive(port);
});

test('local addresses have no limit of sockets, because behind a proxy all clients look local', async () => {
  const port = await serve({ socketsPerAddressMax: 1 });
  const held = [open(port), open(port)];
  await Promise.all(held.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
  await expectAlive(port);
});

test('a socket with too many open requests is closed, and requests up to the limit are answered in order', async () => {
  const port = await serve({ unansweredMax: 3 });
  const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const polite = open(port);
  polite.socket.write(request('/up') + request('/nowhere') + GET_UP);
  await polite.closed;
  expect(polite.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
  const rude = open(port);
  rude.socket.write(request('/up').repeat(4));
  await rude.closed;
  await expectAlive(port);
});
