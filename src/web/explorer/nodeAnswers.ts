/**
 * Asks the node about transactions, blocks and contracts, through module `proxy` of this service's Etherscan dialect.
 * A node is not trusted: each field is checked.
 */
import { apiBase, ApiFailure, getBody, postForm, urlOf } from '../core/api.ts';

/** An error of the node itself, such as a reverted call. */
export class NodeFailure extends Error {
  readonly data: string;

  constructor(message: string, data: string) {
    super(message);
    this.name = 'NodeFailure';
    this.data = data;
  }
}

export const NO_NODE = 'This service has no node to ask';

/** An answer of the node that may be missing; `noAnswerReason` then says why. */
interface NodeAnswer<T> {
  readonly value: T | null;
  readonly noAnswerReason: string | null;
}

/** Waits for the node. A node that is away does not hide what the service has stored. */
export async function settleAnswer<T>(answer: Promise<T | null>): Promise<NodeAnswer<T>> {
  try {
    return { value: await answer, noAnswerReason: null };
  } catch (error) {
    if (error instanceof NodeFailure)
      return { value: null, noAnswerReason: `The node answers with an error (${error.message})` };
    // Without a status the service itself is away.
    if (error instanceof ApiFailure && error.status > 0)
      return { value: null, noAnswerReason: error.message };
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Text of the dialect for an action that this service does not have, here: no node is configured. */
const NO_ACTION = /Missing Or invalid Action/;

/** Text of the dialect for a node that does not answer. */
const NO_NODE_ANSWER = /^Unexpected err/;
const NO_ANSWER_TEXT = 'The node gives no answer now';

async function askNode(
  action: string,
  params: Readonly<Record<string, string>>,
  chain: string | null,
  signal: AbortSignal,
): Promise<unknown> {
  const query = { module: 'proxy', action, ...params, ...(chain === null ? {} : { chainid: chain }) };
  const path = `${apiBase()}/etherscan`;
  // A call can be longer than a URL may be.
  const body =
    action === 'eth_call' ? await postForm(path, query, signal) : await getBody(urlOf(path, query), signal);
  if (!isFields(body)) throw new ApiFailure(200, 'unreadable', 'The answer is no object');
  if (isFields(body['error'])) {
    const { message, data } = body['error'];
    throw new NodeFailure(String(message), typeof data === 'string' ? data : '0x');
  }
  if (body['status'] !== '0') return body['result'];
  const text = String(body['result']);
  if (NO_ACTION.test(text)) throw new ApiFailure(404, 'no_node', NO_NODE);
  throw new ApiFailure(503, 'unavailable', NO_NODE_ANSWER.test(text) ? NO_ANSWER_TEXT : text);
}

function hexOf(fields: Fields, name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value) ? value.toLowerCase() : null;
}

function bigintOf(fields: Fields, name: string): bigint | null {
  const text = hexOf(fields, name);
  return text === null || text === '0x' ? null : BigInt(text);
}

function numberOf(fields: Fields, name: string): number | null {
  const value = bigintOf(fields, name);
  return value === null || value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value);
}

export interface NodeTransaction {
  readonly hash: string;
  readonly blockNumber: number | null;
  readonly index: number | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly value: bigint;
  readonly gas: bigint | null;
  readonly gasPrice: bigint | null;
  readonly nonce: number | null;
  readonly type: number | null;
  readonly input: string;
}

function readTransaction(answer: unknown): NodeTransaction | null {
  if (!isFields(answer)) return null;
  const hash = hexOf(answer, 'hash');
  if (hash === null) return null;
  return {
    hash,
    blockNumber: numberOf(answer, 'blockNumber'),
    index: numberOf(answer, 'transactionIndex'),
    from: hexOf(answer, 'from'),
    to: hexOf(answer, 'to'),
    value: bigintOf(answer, 'value') ?? 0n,
    gas: bigintOf(answer, 'gas'),
    gasPrice: bigintOf(answer, 'gasPrice'),
    nonce: numberOf(answer, 'nonce'),
    type: numberOf(answer, 'type'),
    input: hexOf(answer, 'input') ?? '0x',
  };
}

/** The transaction; null if the node does not have it. */
export async function getNodeTransaction(
  hash: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<NodeTransaction | null> {
  return readTransaction(await askNode('eth_getTransactionByHash', { txhash: hash }, chain, signal));
}

export interface NodeReceipt {
  readonly blockNumber: number | null;
  /** 1 for success, 0 for failure; null on chains before Byzantium. */
  readonly status: number | null;
  readonly gasUsed: bigint | null;
  readonly gasPrice: bigint | null;
  readonly layer1Fee: bigint | null;
  readonly contract: string | null;
  /** Number of logs; null if the node does not list them. */
  readonly logs: number | null;
}

/** The receipt; null while the transaction is in no block. */
export async function getNodeReceipt(
  hash: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<NodeReceipt | null> {
  const answer = await askNode('eth_getTransactionReceipt', { txhash: hash }, chain, signal);
  if (!isFields(answer)) return null;
  return {
    blockNumber: numberOf(answer, 'blockNumber'),
    status: numberOf(answer, 'status'),
    gasUsed: bigintOf(answer, 'gasUsed'),
    gasPrice: bigintOf(answer, 'effectiveGasPrice'),
    layer1Fee: bigintOf(answer, 'l1Fee'),
    contract: hexOf(answer, 'contractAddress'),
    logs: Array.isArray(answer['logs']) ? answer['logs'].length : null,
  };
}

export interface NodeBlock {
  readonly number: number;
  readonly hash: string | null;
  readonly parent: string | null;
  readonly time: number | null;
  readonly miner: string | null;
  readonly gasUsed: bigint | null;
  readonly gasLimit: bigint | null;
  readonly baseFee: bigint | null;
  readonly size: number | null;
  /** Empty if the block was asked for without its transactions. */
  readonly transactions: readonly NodeTransaction[];
}

/** The block with this number, or with a tag such as `finalized`; null if the node does not have it. */
export async function getNodeBlock(
  { block, withTransactions }: { readonly block: number | 'finalized'; readonly withTransactions: boolean },
  chain: string | null,
  signal: AbortSignal,
): Promise<NodeBlock | null> {
  const tag = typeof block === 'number' ? `0x${block.toString(16)}` : block;
  const answer = await askNode(
    'eth_getBlockByNumber',
    { tag, boolean: String(withTransactions) },
    chain,
    signal,
  );
  if (!isFields(answer)) return null;
  const number = numberOf(answer, 'number');
  if (number === null) return null;
  const { transactions } = answer;
  return {
    number,
    hash: hexOf(answer, 'hash'),
    parent: hexOf(answer, 'parentHash'),
    time: numberOf(answer, 'timestamp'),
    miner: hexOf(answer, 'miner'),
    gasUsed: bigintOf(answer, 'gasUsed'),
    gasLimit: bigintOf(answer, 'gasLimit'),
    baseFee: bigintOf(answer, 'baseFeePerGas'),
    size: numberOf(answer, 'size'),
    transactions: Array.isArray(transactions)
      ? transactions.flatMap((transaction) => readTransaction(transaction) ?? [])
      : [],
  };
}

/** Calls a function of a contract without changing the chain. Returns the data of the answer. */
export async function callContract(
  call: { readonly to: string; readonly data: string; readonly block: string },
  chain: string | null,
  signal: AbortSignal,
): Promise<string> {
  const { to, data, block } = call;
  const result = await askNode('eth_call', { to, data, tag: block === '' ? 'latest' : block }, chain, signal);
  if (typeof result !== 'string' || !/^0x([0-9a-fA-F]{2})*$/.test(result))
    throw new ApiFailure(200, 'unreadable', 'The answer of the node is no hex data');
  return result;
}

/** Code of an account that lets a contract act for it (EIP-7702): this prefix and the address of the contract. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** The contract to which an account delegates; null for another account or contract. */
export async function getDelegate(
  address: string,
  chain: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  const { value } = await settleAnswer(askNode('eth_getCode', { address }, chain, signal));
  const delegate = typeof value === 'string' ? DELEGATION.exec(value.toLowerCase())?.[1] : undefined;
  return delegate === undefined ? null : `0x${delegate}`;
}

/** Signatures of functions by selector, from all known ABIs. */
export async function getSignatures(
  selectors: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const askedSelectors = [...new Set(selectors)].slice(0, SELECTORS_MAX);
  if (askedSelectors.length === 0) return new Map();
  const body = await getBody(
    urlOf('/signature-database/v1/lookup', { function: askedSelectors.join(',') }),
    signal,
  );
  const result = isFields(body) && isFields(body['result']) ? body['result'] : {};
  const functions = isFields(result['function']) ? result['function'] : {};
  return new Map(
    askedSelectors.flatMap((selector): [string, string][] => {
      const list = functions[selector];
      const firstSignature: unknown = Array.isArray(list) ? list[0] : null;
      return isFields(firstSignature) && typeof firstSignature['name'] === 'string'
        ? [[selector, firstSignature['name']]]
        : [];
    }),
  );
}

/** Most selectors of one request. */
const SELECTORS_MAX = 100;
