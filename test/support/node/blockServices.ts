/**
 * Stand-ins for services that send blocks, in the formats that the services document: an SQD portal over HTTP, and the client
 * of a HyperSync server. Both answer from the blocks of a node.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import type { HyperSyncClient } from '../../../src/ingest/services/hyperSync';
import { listen } from '../server/listen';
import type { Json } from './lies';

/** A block with the names of fields that both services use. */
export interface SentBlock {
  readonly header: Json;
  readonly transactions: Json[];
  readonly logs: Json[];
}

async function ask(url: string, calls: readonly { method: string; params: unknown[] }[]): Promise<unknown[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
  const headers = { 'content-type': 'application/json' };
  const answers = (await (await fetch(url, { method: 'POST', body, headers })).json()) as {
    id: number;
    result: unknown;
  }[];
  return answers.sort((a, b) => a.id - b.id).map(({ result }) => result);
}

const toNumber = (value: unknown): number => Number(value);

/** The blocks of a node. Quantities are hex, other numbers are numbers, as in SQD's answers. */
async function readBlocks(rpcUrl: string, from: number, to: number): Promise<SentBlock[]> {
  const calls = Array.from({ length: to - from + 1 }, (_, offset) => {
    const blockNumber = `0x${(from + offset).toString(16)}`;
    return [
      { method: 'eth_getBlockByNumber', params: [blockNumber, true] },
      { method: 'eth_getBlockReceipts', params: [blockNumber] },
    ];
  }).flat();
  const answers = await ask(rpcUrl, calls);
  return Array.from({ length: to - from + 1 }, (_, offset) =>
    selectFields(
      answers[2 * offset] as Json & { transactions: Json[] },
      answers[2 * offset + 1] as (Json & { logs: Json[] })[],
    ),
  );
}

function selectFields(
  header: Json & { transactions: Json[] },
  receipts: readonly (Json & { logs: Json[] })[],
): SentBlock {
  const logs = receipts.flatMap((receipt) => receipt.logs);
  const blockFields = { blockNumber: toNumber(header['number']) };
  // The stub chain does not state the gas of a block.
  const gasUsed = receipts.reduce((sum, receipt) => sum + toNumber(receipt['gasUsed']), 0);
  return {
    header: {
      ...header,
      number: blockFields.blockNumber,
      timestamp: toNumber(header['timestamp']),
      gasUsed: `0x${gasUsed.toString(16)}`,
    },
    transactions: receipts.map((receipt, index) => ({
      ...header.transactions[index],
      ...receipt,
      ...blockFields,
      hash: receipt['transactionHash'],
      transactionIndex: index,
      nonce: toNumber(header.transactions[index]?.['nonce']),
      status: toNumber(receipt['status']),
    })),
    logs: logs.map((log) => ({
      ...log,
      ...blockFields,
      logIndex: toNumber(log['logIndex']),
      transactionIndex: toNumber(log['transactionIndex']),
    })),
  };
}

interface PortalQuery {
  readonly type: string;
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly parentBlockHash?: string;
  readonly includeAllBlocks?: boolean;
  readonly fields: Record<'block' | 'transaction' | 'log', Record<string, true>>;
}

/** The wrong answer that the portal gives to a request. */
export interface PortalFault {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface PortalOptions {
  readonly rpcUrl: string;
  readonly head: number;
  /** Largest number of blocks of one answer. */
  readonly blocksMax?: number;
  /** Whether a repeated query gets the bytes of its first answer, so that a benchmark measures the client. */
  readonly keepsAnswers?: boolean;
}

export interface StandInPortal {
  readonly url: string;
  readonly queries: readonly PortalQuery[];
  /** Decides what the n-th stream request does; null answers it. `cut` ends it in the middle of a line. */
  onStream: (query: PortalQuery, index: number) => PortalFault | 'cut' | 'hang' | null;
  change: (block: SentBlock) => SentBlock;
  close(): Promise<void>;
}

/** Share of an answer that is sent before it is cut. */
const CUT_SHARE = 0.6;

const pickFields = (item: Json, fields: Record<string, true>): Json =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])),
  );

export async function startPortal({
  rpcUrl,
  head,
  blocksMax = 100,
  keepsAnswers = false,
}: PortalOptions): Promise<StandInPortal> {
  const queries: PortalQuery[] = [];
  const keptAnswers = new Map<string, Buffer>();
  const portal = {
    onStream: (): null => null,
    change: (block: SentBlock) => block,
  } as unknown as StandInPortal;
  const stream = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = JSON.parse(await bodyOf(request)) as PortalQuery;
    const fault = portal.onStream(query, queries.push(query) - 1);
    if (fault === 'hang') return;
    if (fault !== null && fault !== 'cut') {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
      return;
    }
    if (query.type !== 'evm' || query.includeAllBlocks !== true || query.toBlock < query.fromBlock) {
      response.writeHead(400).end('bad query');
      return;
    }
    if (query.fromBlock > head) {
      response.writeHead(204).end();
      return;
    }
    const answerHeaders = { 'content-encoding': 'gzip', 'x-sqd-finalized-head-number': String(head) };
    const keptAnswer = keptAnswers.get(JSON.stringify(query));
    if (keptAnswer !== undefined) {
      response.writeHead(200, answerHeaders).end(keptAnswer);
      return;
    }
    const to = Math.min(query.toBlock, head, query.fromBlock + blocksMax - 1);
    const blocks = await readBlocks(rpcUrl, query.fromBlock, to);
    const parent = blocks[0]?.header['parentHash'];
    if (query.parentBlockHash !== undefined && query.parentBlockHash !== parent) {
      const previousBlocks = [{ number: query.fromBlock - 1, hash: parent }];
      response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify({ previousBlocks }));
      return;
    }
    const lines = blocks.map(portal.change).map(({ header, transactions, logs }) => {
      const { fields } = query;
      const answer: Json = { header: pickFields(header, fields.block) };
      // The portal leaves out empty lists.
      if (transactions.length > 0)
        answer['transactions'] = transactions.map((transaction) =>
          pickFields(transaction, fields.transaction),
        );
      if (logs.length > 0) answer['logs'] = logs.map((log) => pickFields(log, fields.log));
      return `${JSON.stringify(answer)}\n`;
    });
    const text = lines.join('');
    if (fault === 'cut') {
      response.writeHead(200);
      response.write(text.slice(0, Math.floor(text.length * CUT_SHARE)), () => response.destroy());
      return;
    }
    const body = gzipSync(text);
    if (keepsAnswers) keptAnswers.set(JSON.stringify(query), body);
    response.writeHead(200, answerHeaders).end(body);
  };
  const server = createServer((request, response) => {
    const path = request.url?.replace('/datasets/test/', '');
    const jsonHeaders = { 'content-type': 'application/json' };
    if (path === 'finalized-head')
      response.writeHead(200, jsonHeaders).end(JSON.stringify({ number: head, hash: '0x' }));
    else if (path === 'metadata')
      response.writeHead(200, jsonHeaders).end(JSON.stringify({ dataset: 'test', start_block: 0 }));
    else if (path === 'finalized-stream' && request.method === 'POST')
      stream(request, response).catch(() => response.destroy());
    else response.writeHead(404).end();
  });
  const { url, close } = await listen(server);
  return Object.assign(portal, { url: `sqd+${url}/datasets/test`, queries, close });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const BIGINTS = ['gasUsed', 'baseFeePerGas', 'nonce', 'effectiveGasPrice'];

function withBigints(answer: Json): Json {
  const converted = { ...answer };
  for (const name of BIGINTS)
    if (converted[name] !== undefined && converted[name] !== null)
      converted[name] = BigInt(String(converted[name]));
  return converted;
}

export interface StandInHyperSync extends HyperSyncClient {
  readonly queries: { readonly fromBlock: number; readonly toBlock: number }[];
  change: (answer: Json & { data: Json }) => unknown;
}

/** URL of a source for the stand-in of HyperSync. */
export const HYPERSYNC_URL = 'hypersync+https://test.example';

/** Loads the package of the client as one whose client is the given one. */
export function packageLoaderFor(client: StandInHyperSync): () => Promise<unknown> {
  return () =>
    Promise.resolve({
      HypersyncClient: function HypersyncClient(): StandInHyperSync {
        return client;
      },
    });
}

/** The client of a server whose answers have at most `blocksMax` blocks. */
export function createHyperSync(rpcUrl: string, head: number, blocksMax = 150): StandInHyperSync {
  const client: StandInHyperSync = {
    queries: [],
    change: (answer) => answer,
    getChainId: () => Promise.resolve(369),
    getHeight: () => Promise.resolve(head),
    get: async (query) => {
      const { fromBlock, toBlock, joinMode } = query as Record<string, number>;
      if (fromBlock === undefined || toBlock === undefined)
        throw new Error('Missing field `fromBlock` or `toBlock`');
      // The native client takes enums as numbers.
      if (typeof joinMode !== 'number') throw new Error('Failed to convert napi value into enum `JoinMode`');
      client.queries.push({ fromBlock, toBlock });
      const nextBlock = Math.min(toBlock, head + 1, fromBlock + blocksMax);
      const blocks = nextBlock > fromBlock ? await readBlocks(rpcUrl, fromBlock, nextBlock - 1) : [];
      const topicsOf = (log: Json): unknown[] => {
        const topics = log['topics'] as unknown[];
        return [0, 1, 2, 3].map((index) => topics[index]);
      };
      const data = {
        blocks: blocks.map(({ header }) => withBigints(header)),
        transactions: blocks.flatMap(({ transactions }) => transactions.map(withBigints)),
        logs: blocks.flatMap(({ logs }) => logs.map((log) => ({ ...log, topics: topicsOf(log) }))),
        traces: [],
      };
      return client.change({ archiveHeight: head, nextBlock, totalExecutionTime: 1, data });
    },
  };
  return client;
}
