/**
 * Stands before the node of the development chain and refuses web pages. The node itself checks no origin: a page could
 * control the chain over a WebSocket, or over HTTP under a host name of its own that resolves to this machine.
 */
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** Where the node listens. */
interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

interface OriginGuard {
  readonly port: number;
  /** Names the node. Until then, requests fail. */
  leadTo(node: NodeAddress): void;
  close(): void;
}

/** Listens on 127.0.0.1. Port 0 is a free port. Rejects if the port is in use. */
export async function startOriginGuard(port: number): Promise<OriginGuard> {
  let node: NodeAddress | null = null;
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Duplex>();
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (asked, answer) => {
    if (node === null || !isLocal(asked.headers.host)) answer.writeHead(403).end();
    else forward(node, agent, asked, answer);
  });
  server.on('upgrade', (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    const { host, origin } = asked.headers;
    const isOwn = origin === undefined || origin === `http://${host ?? ''}`;
    if (node !== null && isLocal(host) && isOwn) connectBoth(node, asked, socket, head);
    else socket.on('error', () => undefined).end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    leadTo: (found) => void (node = found),
    close() {
      server.close();
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      agent.destroy();
    },
  };
}

/** Whether a Host header names this machine. The name of another host would come from a page of that host. */
function isLocal(host: string | undefined): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host ?? '');
}

function forward(node: NodeAddress, agent: Agent, asked: IncomingMessage, answer: ServerResponse): void {
  const { url: path, method, headers } = asked;
  const call = request({ ...node, agent, path, method, headers }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.on('error', () => answer.destroy()).pipe(answer);
  });
  call.on('error', () => answer.destroy());
  answer.on('close', () => call.destroy());
  asked.on('error', () => call.destroy()).pipe(call);
}

/** Sends the request for a WebSocket to the node, and from then on all bytes in both directions. */
function connectBoth(node: NodeAddress, asked: IncomingMessage, socket: Duplex, head: Buffer): void {
  const peer = connect(node.port, node.host);
  const lines = Array.from({ length: asked.rawHeaders.length / 2 }, (_, at) =>
    asked.rawHeaders.slice(2 * at, 2 * at + 2).join(': '),
  );
  peer.write(`GET ${asked.url ?? '/'} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  peer.write(head);
  for (const [from, to] of [
    [peer, socket],
    [socket, peer],
  ] as const) {
    from.on('error', () => to.destroy()).on('close', () => to.destroy());
    from.pipe(to);
  }
}
