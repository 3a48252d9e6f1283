/**
 * A deterministic chain for benchmarks and crash tests. Serves the blocks of stubBlocks.ts over JSON-RPC (HTTP, and
 * WebSocket with new heads) with little overhead, and can reorganise.
 */
import { createServer, type Server } from 'node:http';

import { WebSocketServer, type WebSocket } from 'ws';

import { BlockSealer } from './blockSealer';
import { hex, StubBlockMaker, type StubBlock, type StubBlockOptions } from './stubBlocks';
import type { LogFilter } from './stubLogs';
import { listen } from '../server/listen';

export { STUB_ALGEBRA_FACTORY, STUB_SOLIDLY_FACTORY, STUB_V2_FACTORY, STUB_V3_FACTORY } from './stubBlocks';

export interface StubChainOptions extends StubBlockOptions {
  readonly blocks: number;
  /** The id that the node reports, by default 369. */
  readonly chainId?: number;
}

/** Number of blocks below the highest head that the node does not report as final. */
export const UNFINAL_BLOCKS = 64;

/** Formerly canonical blocks, ascending. */
export type StubBranch = readonly StubBlock[];

export interface StubChain {
  readonly url: string;
  /** The WebSocket address of the same node. */
  readonly wsUrl: string;
  readonly logs: number;
  readonly swaps: number;
  /** Logs of each canonical block, as eth_getLogs answers. Includes blocks that are not visible yet. */
  readonly logBodies: readonly Buffer[];
  /** Canonical blocks, including those not visible yet. */
  readonly blocks: readonly StubBlock[];
  /** Newest visible block. */
  readonly head: number;
  /** Last block that the node reports as final: UNFINAL_BLOCKS below the highest head. */
  readonly final: number;
  /** When the node first reported this block as its newest, ms of performance.now(); null if not yet. */
  toldAt(hash: string): number | null;
  timeOf(number: number): number;
  /** Makes blocks up to this number visible, and creates missing ones. */
  setHead(number: number): void;
  /** Replaces the last `depth` visible blocks with `length` new ones. Returns the replaced branch. */
  reorg(depth: number, length: number): StubBranch;
  /** Makes a branch visible again. Returns false if its parent is no longer canonical. */
  restore(branch: StubBranch): boolean;
  close(): Promise<void>;
}

interface State {
  head: number;
  final: number;
  /** The block last reported as the newest, and the time of the first report. */
  told: { hash: string; at: number } | null;
  /** Time of the first request for logs since stub_takeLogsAskedAt was last called, unix ms. */
  logsAskedAt: number | null;
}

class Chain {
  readonly blocks: StubBlock[] = [];
  readonly state: State = { head: 0, final: 0, told: null, logsAskedAt: null };
  private forks = 0;
  /** Called for each new head. */
  onHead: () => void = () => undefined;

  constructor(
    readonly maker: StubBlockMaker,
    readonly chainId: number,
  ) {}

  /** A lower head hides blocks, as if they were not mined yet. */
  setHead(number: number): void {
    if (number < this.state.head) this.state.final = 0;
    this.grow(number);
  }

  private grow(number: number): void {
    while (this.blocks.length <= number) {
      const parentHash = this.blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`;
      this.blocks.push(this.maker.make(this.blocks.length, this.forks, parentHash));
    }
    this.state.head = number;
    this.state.final = Math.max(this.state.final, number - UNFINAL_BLOCKS);
    this.onHead();
  }

  reorg(depth: number, length: number): StubBranch {
    const { head, final } = this.state;
    if (depth > head - final) throw new RangeError(`cannot replace the final block ${head - depth + 1}`);
    const branch = this.blocks.slice(head - depth + 1, head + 1);
    this.blocks.length = head - depth + 1;
    this.forks += 1;
    this.grow(head - depth + length);
    return branch;
  }

  restore(branch: StubBranch): boolean {
    const firstBlock = branch[0];
    if (firstBlock === undefined || firstBlock.number <= this.state.final) return false;
    if (this.blocks[firstBlock.number - 1]?.hash !== firstBlock.parentHash) return false;
    this.blocks.length = firstBlock.number;
    this.blocks.push(...branch);
    this.grow(this.blocks.length - 1);
    return true;
  }
}

export async function startStubChain(options: StubChainOptions): Promise<StubChain> {
  const sealer = options.provable === true ? await BlockSealer.create() : null;
  const maker = new StubBlockMaker(options, sealer);
  const chain = new Chain(maker, options.chainId ?? 369);
  chain.setHead(options.blocks);
  const { blocks, state } = chain;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(answer(Buffer.concat(chunks).toString(), chain));
    });
  });
  const sockets = serveSockets(server, chain);
  const { port, url, close } = await listen(server);
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    logs: maker.logs,
    swaps: maker.swaps,
    get logBodies() {
      return blocks.map((block) => block.logs);
    },
    blocks,
    get head() {
      return state.head;
    },
    get final() {
      return state.final;
    },
    toldAt: (hash) => (state.told?.hash === hash ? state.told.at : null),
    timeOf: (number) => maker.timeOf(number),
    setHead: (number) => chain.setHead(number),
    reorg: (depth, length) => chain.reorg(depth, length),
    restore: (branch) => chain.restore(branch),
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      return close();
    },
  };
}

/** Serves calls and one subscription to new heads over WebSocket. */
function serveSockets(server: Server, chain: Chain): WebSocketServer {
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const watchers = new Set<WebSocket>();
  chain.onHead = () => {
    const { head } = chain.state;
    const headHint = { number: hex(head), hash: chain.blocks[head]?.hash };
    const params = { subscription: '0x1', result: headHint };
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params });
    for (const socket of watchers) socket.send(text);
  };
  sockets.on('connection', (socket) => {
    socket.on('close', () => watchers.delete(socket));
    socket.on('message', (message: Buffer) => {
      const text = message.toString();
      const { id, method } = JSON.parse(text) as StubCall;
      if (method === 'eth_subscribe') {
        watchers.add(socket);
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
      } else socket.send(answer(text, chain), { binary: false });
    });
  });
  return sockets;
}

interface StubCall {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

const NOTHING = Buffer.from('null');
/** Answers to decimals() and symbol() of tokens, and to metadata() of Solidly pools, by selector. */
const ANSWERS = new Map([
  ['0x392f37e9', Buffer.from(`"0x${'1'.padStart(64, '0').repeat(7)}"`)],
  ['0x313ce567', Buffer.from(`"0x${'0'.repeat(64)}"`)],
  ['0x95d89b41', Buffer.from(`"0x${Buffer.from('STUB').toString('hex').padEnd(64, '0')}"`)],
]);

function answer(body: string, chain: Chain): Buffer {
  const parsed = JSON.parse(body) as StubCall | StubCall[];
  const calls = Array.isArray(parsed) ? parsed : [parsed];
  const chunks: Buffer[] = [];
  calls.forEach((call, index) => {
    chunks.push(Buffer.from(`${index === 0 ? '' : ','}{"jsonrpc":"2.0","id":${call.id},"result":`));
    chunks.push(resultOf(call, chain), Buffer.from('}'));
  });
  return Buffer.concat(Array.isArray(parsed) ? [Buffer.from('['), ...chunks, Buffer.from(']')] : chunks);
}

function resultOf({ method, params = [] }: StubCall, chain: Chain): Buffer {
  const { state } = chain;
  switch (method) {
    case 'eth_chainId':
      return Buffer.from(JSON.stringify(hex(chain.chainId)));
    case 'eth_blockNumber':
      return Buffer.from(`"${hex(state.head)}"`);
    case 'eth_getBlockByNumber':
      return blockOf(findBlock(params[0], chain), params[1] === true);
    case 'eth_getBlockReceipts':
      return findBlock(params[0], chain)?.receipts ?? NOTHING;
    case 'eth_getLogs':
      state.logsAskedAt ??= Date.now();
      return logsOf(params[0] as LogFilter, chain);
    case 'eth_call': {
      const { to = '', data = '' } = params[0] as { to?: string; data?: string };
      const told = chain.maker.answers.get(`${to} ${data}`);
      // Every token has 0 decimals and the symbol STUB. Every other call gets an empty answer.
      return told === undefined ? (ANSWERS.get(data) ?? Buffer.from('"0x"')) : Buffer.from(`"${told}"`);
    }
    case 'stub_takeLogsAskedAt': {
      const askedAt = state.logsAskedAt;
      state.logsAskedAt = null;
      return Buffer.from(String(askedAt));
    }
    default:
      return Buffer.from('"0x"');
  }
}

/** `tag`: a number in hex, `latest` or `finalized`. Notes when the newest block was first reported. */
function findBlock(tag: unknown, { blocks, state }: Chain): StubBlock | undefined {
  const number = tag === 'latest' ? state.head : tag === 'finalized' ? state.final : Number(tag);
  const block = number <= state.head ? blocks[number] : undefined;
  if (tag === 'latest' && block !== undefined && state.told?.hash !== block.hash) {
    state.told = { hash: block.hash, at: performance.now() };
  }
  return block;
}

function blockOf(block: StubBlock | undefined, isFull: boolean): Buffer {
  return (isFull ? block?.full : null) ?? block?.header ?? NOTHING;
}

function logsOf(filter: LogFilter, { blocks, state, maker }: Chain): Buffer {
  const { fromBlock = hex(state.head), toBlock = hex(state.head) } = filter;
  const lastBlock = Math.min(state.head, Number(toBlock));
  return maker.indexer?.select(blocks.slice(Number(fromBlock), lastBlock + 1), filter) ?? Buffer.from('"0x"');
}
