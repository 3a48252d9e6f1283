/**
 * A small JSON-RPC server (HTTP and WebSocket on one port) over a FakeChain. A fault hook can replace any answer.
 * Switches disable methods, tags and wide ranges.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { WebSocketServer, type WebSocket } from 'ws';

import type { FakeBlock, FakeChain, Json } from './fakeChain';

export interface FakeCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Result of a fault hook for one call: another answer, an error, or undefined for the usual answer. */
export type CallFault = { readonly result: unknown } | { readonly error: RpcFault } | undefined;

/** A fault hook for a whole HTTP request. True means that the hook handles the response. */
type HttpFault = (request: IncomingMessage, response: ServerResponse, body: string) => boolean;

/** Blocks at least this far below the head are final. */
const FINALITY_DEPTH = 64;

interface FakeNodeOptions {
  readonly chain: FakeChain;
  readonly chainId?: number;
}

export class FakeNode {
  readonly chain: FakeChain;
  chainId: number;
  hasReceipts = true;
  hasFinalizedTag = true;
  /** Maximum number of blocks in one eth_getLogs. */
  rangeMax = Infinity;
  /** Maximum number of calls in one batch. */
  batchMax = Infinity;
  /** How many blocks this node's head is behind the chain's. */
  lag = 0;
  onCall: (call: FakeCall) => CallFault = () => undefined;
  onHttp: HttpFault = () => false;
  /** Hook that may handle the WebSocket upgrade instead of the server. */
  onUpgrade: (socket: Duplex) => boolean = () => false;
  upgradesSeen = 0;
  /** A method that gets no answer over WebSocket. */
  muteMethod: string | null = null;
  /** Every call that reached the node, in order. */
  readonly calls: FakeCall[] = [];
  private readonly server: Server;
  private readonly sockets: WebSocketServer;
  /** All sockets that asked for a WebSocket, to close them at the end. */
  private readonly upgradedSockets = new Set<Duplex>();
  private readonly subscribers = new Map<WebSocket, string>();

  constructor(options: FakeNodeOptions) {
    this.chain = options.chain;
    this.chainId = options.chainId ?? 369;
    this.server = createServer((request, response) => this.serve(request, response));
    this.sockets = new WebSocketServer({ noServer: true });
    this.server.on('upgrade', (request, socket, head) => {
      this.upgradesSeen += 1;
      socket.on('error', () => undefined);
      this.upgradedSockets.add(socket);
      socket.on('close', () => this.upgradedSockets.delete(socket));
      if (this.onUpgrade(socket)) return;
      this.sockets.handleUpgrade(request, socket, head, (client) => this.sockets.emit('connection', client));
    });
    this.sockets.on('connection', (socket) => this.accept(socket));
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  get subscriberCount(): number {
    return this.subscribers.size;
  }

  countCalls(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  /** Sends the current head to all subscribers, as a node does after each block. */
  announce(): void {
    for (const [socket, subscription] of this.subscribers) {
      const params = { subscription, result: headerJson(this.head(), false) };
      socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }));
    }
  }

  /** Terminates every WebSocket without a close frame. */
  dropSockets(): void {
    for (const socket of this.sockets.clients) socket.terminate();
    this.subscribers.clear();
  }

  /** Stops reading from the open sockets: no answers, no pongs, no close. */
  freezeSockets(): void {
    for (const socket of this.sockets.clients) socket.pause();
    this.subscribers.clear();
  }

  /** Sends a raw frame to every WebSocket. */
  sendFrame(text: string): void {
    for (const socket of this.sockets.clients) socket.send(text);
  }

  async stop(): Promise<void> {
    this.dropSockets();
    this.sockets.close();
    for (const socket of this.upgradedSockets) socket.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private head(): FakeBlock {
    return this.chain.at(Math.max(0, this.chain.head.number - this.lag));
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (this.onHttp(request, response, body)) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(this.answerBody(body)));
    });
  }

  /** The JSON value that answers a request's body: one response, or the list of a batch. */
  answerBody(body: string): unknown {
    const message = JSON.parse(body) as Json | Json[];
    if (!Array.isArray(message)) return this.answer(message);
    if (message.length > this.batchMax) {
      return { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } };
    }
    return message.map((call) => this.answer(call));
  }

  private accept(socket: WebSocket): void {
    socket.on('error', () => undefined);
    socket.on('close', () => this.subscribers.delete(socket));
    socket.on('message', (frame) => {
      const message = JSON.parse(String(frame)) as Json;
      if (message['method'] === 'eth_subscribe') {
        const subscription = `0x${(this.calls.length + 1).toString(16)}`;
        this.calls.push({ method: 'eth_subscribe', params: [] });
        this.subscribers.set(socket, subscription);
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: message['id'], result: subscription }));
        return;
      }
      const answer = this.answer(message);
      if (message['method'] !== this.muteMethod) socket.send(JSON.stringify(answer));
    });
  }

  private answer(message: Json): Json {
    const call = { method: String(message['method']), params: (message['params'] ?? []) as unknown[] };
    this.calls.push(call);
    const envelope = { jsonrpc: '2.0', id: message['id'] };
    const fault = this.onCall(call);
    return { ...envelope, ...(fault ?? this.perform(call)) };
  }

  /** The node's answer without faults. */
  perform(call: FakeCall): { result: unknown } | { error: RpcFault } {
    const [firstParam, secondParam] = call.params;
    switch (call.method) {
      case 'eth_chainId':
        return { result: `0x${this.chainId.toString(16)}` };
      case 'eth_blockNumber':
        return { result: `0x${this.head().number.toString(16)}` };
      case 'eth_getBlockByNumber':
        return this.getBlock(String(firstParam), secondParam === true);
      case 'eth_getBlockReceipts':
        if (!this.hasReceipts) return methodMissing(call.method);
        return { result: this.find(String(firstParam))?.receipts ?? null };
      case 'eth_getTransactionReceipt':
        return { result: this.findReceipt(String(firstParam)) ?? null };
      case 'eth_getLogs':
        return this.getLogs(firstParam as { fromBlock: string; toBlock: string });
      default:
        return methodMissing(call.method);
    }
  }

  private find(blockTag: string): FakeBlock | undefined {
    const head = this.head().number;
    if (blockTag === 'latest') return this.head();
    if (blockTag === 'finalized') return this.chain.blocks[Math.max(0, head - FINALITY_DEPTH)];
    return Number(blockTag) <= head ? this.chain.blocks[Number(blockTag)] : undefined;
  }

  private findReceipt(hash: string): Json | undefined {
    const allReceipts = this.chain.blocks.flatMap(({ receipts }) => receipts);
    return allReceipts.find((receipt) => receipt['transactionHash'] === hash);
  }

  private getBlock(blockTag: string, withTransactions: boolean): { result: unknown } | { error: RpcFault } {
    if (blockTag === 'finalized' && !this.hasFinalizedTag) {
      return { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } };
    }
    const block = this.find(blockTag);
    return { result: block === undefined ? null : headerJson(block, withTransactions) };
  }

  private getLogs(filter: { fromBlock: string; toBlock: string }): { result: unknown } | { error: RpcFault } {
    const from = Number(filter.fromBlock);
    const to = Number(filter.toBlock);
    if (to - from + 1 > this.rangeMax) {
      return { error: { code: -32005, message: `query exceeds max block range ${this.rangeMax}` } };
    }
    const end = Math.min(to, this.head().number) + 1;
    return { result: this.chain.blocks.slice(from, end).flatMap((block) => block.logs) };
  }
}

function headerJson(block: FakeBlock, withTransactions: boolean): Json {
  return {
    number: `0x${block.number.toString(16)}`,
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: `0x${block.timestamp.toString(16)}`,
    baseFeePerGas: '0x7',
    logsBloom: block.logsBloom,
    transactions: withTransactions
      ? block.transactions
      : block.transactions.map((transaction) => transaction['hash']),
  };
}

function methodMissing(method: string): { error: RpcFault } {
  return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } };
}
