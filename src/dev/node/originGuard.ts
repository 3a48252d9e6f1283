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
  /** Sets the node to which requests go. Before that, the guard refuses all requests. */
  setNode(node: NodeAddress): void;
  close(): void;
}

/** Listens on 127.0.0.1. Port 0 is a free port. Rejects if the port is in use. */
export async function startOriginGuard(port: number): Promise<OriginGuard> {
  let node: NodeAddress | null = null;
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Duplex>();
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (clientRequest, response) => {
    if (node === null || !isLocal(clientRequest.headers.host)) response.writeHead(403).end();
    else forward(node, agent, clientRequest, response);
  });
  server.on('upgrade', (clientRequest: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    const { host, origin } = clientRequest.headers;
    const isOwnOrigin = origin === undefined || origin === `http://${host ?? ''}`;
    if (node !== null && isLocal(host) && isOwnOrigin) connectWebSocket(node, clientRequest, socket, head);
    else socket.on('error', () => undefined).end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    setNode: (nodeAddress) => void (node = nodeAddress),
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

function forward(
  node: NodeAddress,
  agent: Agent,
  clientRequest: IncomingMessage,
  response: ServerResponse,
): void {
  const { url: path, method, headers } = clientRequest;
  const nodeRequest = request({ ...node, agent, path, method, headers }, (nodeResponse) => {
    response.writeHead(nodeResponse.statusCode ?? 502, nodeResponse.headers);
    nodeResponse.on('error', () => response.destroy()).pipe(response);
  });
  nodeRequest.on('error', () => response.destroy());
  response.on('close', () => nodeRequest.destroy());
  clientRequest.on('error', () => nodeRequest.destroy()).pipe(nodeRequest);
}

/** Sends the request for a WebSocket to the node, and from then on all bytes in both directions. */
function connectWebSocket(
  node: NodeAddress,
  clientRequest: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const nodeSocket = connect(node.port, node.host);
  const lines = Array.from({ length: clientRequest.rawHeaders.length / 2 }, (_, lineIndex) =>
    clientRequest.rawHeaders.slice(2 * lineIndex, 2 * lineIndex + 2).join(': '),
  );
  nodeSocket.write(`GET ${clientRequest.url ?? '/'} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  nodeSocket.write(head);
  for (const [source, target] of [
    [nodeSocket, socket],
    [socket, nodeSocket],
  ] as const) {
    source.on('error', () => target.destroy()).on('close', () => target.destroy());
    source.pipe(target);
  }
}
