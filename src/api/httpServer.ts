/**
 * The HTTP server under the application. Limits what one client can use: headers, time to send a request, idle
 * sockets, unanswered requests per socket, and sockets per address. Errors have the same shape as the API's errors.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

import { matchNetworks } from '../domain/networks';
import { clientOf } from './middleware/limitRate';

export interface HttpLimits {
  readonly headerBytesMax: number;
  readonly headersMax: number;
  /** Time limit from the first byte of a request to the end of its headers, in ms. */
  readonly headersTimeoutMs: number;
  /** Time limit from the first byte of a request to the end of its body, in ms. */
  readonly requestTimeoutMs: number;
  /** Interval in ms between checks of the two time limits. */
  readonly checkEveryMs: number;
  /** Idle sockets are closed after this time in ms, including sockets whose client reads no answer. Streams
   * are exempt. */
  readonly idleTimeoutMs: number;
  /** Time in ms that a socket stays open between two requests. */
  readonly keepAliveMs: number;
  readonly socketsMax: number;
  readonly socketsPerAddressMax: number;
  /** Number of pipelined requests that may wait on one socket. One more request closes the socket. */
  readonly unansweredMax: number;
  /**
   * Whether the limit of sockets per address spares local addresses. Behind a local proxy, all clients have
   * one.
   */
  readonly localExempt: boolean;
  /** Networks that the limit of sockets per address spares: trusted proxies, which carry many clients. */
  readonly trustedProxies?: readonly string[];
}

export const HTTP_LIMITS: HttpLimits = {
  headerBytesMax: 16_384,
  headersMax: 100,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 2_000,
  idleTimeoutMs: 60_000,
  keepAliveMs: 5_000,
  socketsMax: 12_000,
  socketsPerAddressMax: 512,
  unansweredMax: 100,
  localExempt: true,
};

export function createHttpServer(handler: RequestListener, limits: HttpLimits = HTTP_LIMITS): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    boundPipelines(handler, limits.unansweredMax),
  );
  server.maxHeadersCount = limits.headersMax;
  server.maxConnections = limits.socketsMax;
  server.timeout = limits.idleTimeoutMs;
  server.on('clientError', (error, socket) => answerBadRequest(error, socket, limits));
  countSockets(server, limits);
  return server;
}

/**
 * Handles the requests of a socket one at a time, and closes a socket with too many waiting requests. Without this,
 * Node would start all pipelined requests immediately. An event stream never ends, so later requests on its socket
 * would wait forever and use resources.
 */
function boundPipelines(handler: RequestListener, pipelinedMax: number): RequestListener {
  const unansweredBySocket = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const unansweredCount = (unansweredBySocket.get(socket) ?? 0) + 1;
    if (unansweredCount > pipelinedMax) {
      socket.destroy();
      return;
    }
    unansweredBySocket.set(socket, unansweredCount);
    response.once('close', () => unansweredBySocket.set(socket, (unansweredBySocket.get(socket) ?? 1) - 1));
    // Node assigns the socket to a response when all earlier responses have been sent.
    if (response.socket === null) response.once('socket', () => handler(request, response));
    else handler(request, response);
  };
}

/** Refuses a new socket from an address that has too many open sockets. */
function countSockets(
  server: Server,
  { socketsPerAddressMax, localExempt, trustedProxies = [] }: HttpLimits,
): void {
  const isProxy = matchNetworks(trustedProxies);
  const openByAddress = new Map<string, number>();
  server.on('connection', (socket) => {
    const remote = socket.remoteAddress ?? '';
    const address = clientOf(remote);
    const isExempt = (localExempt && isLocal(address)) || isProxy(remote);
    const openCount = (openByAddress.get(address) ?? 0) + 1;
    if (openCount > socketsPerAddressMax && !isExempt) {
      const text = `too many connections from one address; allowed: ${socketsPerAddressMax}`;
      refuseSocket(socket, '429 Too Many Requests', text, 'rate_limited', 'Retry-After: 10\r\n');
      return;
    }
    openByAddress.set(address, openCount);
    socket.once('close', () => {
      const stillOpen = (openByAddress.get(address) ?? 1) - 1;
      if (stillOpen > 0) openByAddress.set(address, stillOpen);
      else openByAddress.delete(address);
    });
  });
}

function isLocal(address: string): boolean {
  return address === '0:0:0:0' || address.startsWith('127.');
}

type RefusalText = readonly [status: string, text: (limits: HttpLimits) => string];

const REFUSALS: Readonly<Record<string, RefusalText>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    ({ headerBytesMax }) => `the headers are too long; allowed: ${headerBytesMax} bytes`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    ({ headersTimeoutMs, requestTimeoutMs }) =>
      `the request arrived too slowly; allowed: ${headersTimeoutMs / 1000} s for the headers, ` +
      `${requestTimeoutMs / 1000} s for the request`,
  ],
};
const NOT_HTTP: RefusalText = ['400 Bad Request', () => 'not a valid HTTP request'];

/** Answers bytes that are not a valid request. The application never sees such bytes. */
function answerBadRequest(
  error: NodeJS.ErrnoException,
  socket: Socket | NodeJS.WritableStream,
  limits: HttpLimits,
): void {
  if (!('destroy' in socket) || error.code === 'ECONNRESET' || !socket.writable) {
    if ('destroy' in socket) socket.destroy();
    return;
  }
  const [status, text] = REFUSALS[error.code ?? ''] ?? NOT_HTTP;
  refuseSocket(socket, status, text(limits), 'bad_request');
}

function refuseSocket(socket: Socket, status: string, text: string, code: string, headers = ''): void {
  const body = JSON.stringify({ success: false, error: text, code });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${randomUUID()}\r\n${headers}`;
  socket.on('error', () => undefined);
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
