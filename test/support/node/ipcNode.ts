/** A Unix socket in front of a FakeNode. A test can answer in any shape, drop connections, and stop and start it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Json } from './fakeChain';
import type { FakeNode } from './fakeNode';

const SUBSCRIPTION = '0xabc';

export class IpcNode {
  readonly path: string;
  /** Called for each call with the usual answer. Writes to the socket in its own way. */
  onCall: (socket: Socket, answer: string, method: string) => void = (socket, answer) => socket.write(answer);
  /** Number of connections since the start, and calls of each method. */
  connections = 0;
  readonly methods: string[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'ipc-'));
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;

  constructor(private readonly node: FakeNode) {
    this.path = join(this.folder, 'node.ipc');
  }

  get url(): string {
    return `ipc://${this.path}`;
  }

  get openCount(): number {
    return this.sockets.size;
  }

  async start(): Promise<this> {
    const server = createServer((socket) => this.accept(socket));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.path, resolve));
    return this;
  }

  /** Tells every connection the head, as a node does after each block. */
  announce(): void {
    const block = this.node.perform({ method: 'eth_getBlockByNumber', params: ['latest', false] });
    const result = 'result' in block ? block.result : null;
    const params = { subscription: SUBSCRIPTION, result };
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params });
    for (const socket of this.sockets) socket.write(text);
  }

  dropSockets(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Stops reading: the connections stay open, without answers. */
  freezeSockets(): void {
    for (const socket of this.sockets) socket.pause();
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    this.dropSockets();
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private accept(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    let unfinished = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (unfinished + text).split('\n');
      unfinished = lines.pop() ?? '';
      for (const line of lines) this.answer(socket, line);
    });
  }

  private answer(socket: Socket, line: string): void {
    const { method, id } = JSON.parse(line) as Json;
    this.methods.push(String(method));
    const answer =
      method === 'eth_subscribe' ? { jsonrpc: '2.0', id, result: SUBSCRIPTION } : this.node.answerBody(line);
    this.onCall(socket, JSON.stringify(answer), String(method));
  }
}
