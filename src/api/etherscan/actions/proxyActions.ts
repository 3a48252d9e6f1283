/**
 * module=proxy: read-only calls to the node in a JSON-RPC envelope. `latest` means the newest indexed block. If a
 * method accepts a block hash, the call names the block by hash. Node answers and logs then describe the same
 * block.
 */
import { isHexData, isQuantity, numberToHex, type Hex } from '../../../domain/hex';
import { AppError } from '../../../errors';
import type { HeadSnapshot } from '../../../query/head/headSnapshot';
import { BLOCK_NOT_FOUND } from '../../../query/head/nodeRelay';
import { HeadReplaced, Refusal } from '../../answering';
import type { Action, Actions, Ask, DialectAnswer } from '../action';
import { refuse, TEXTS } from '../answers';
import {
  badFormat,
  findAddressParam,
  findHashParam,
  needAddress,
  numberOf,
  textOf,
  type AskedParams,
} from '../askedParams';
import { askNode } from './nodeActions';

const CALL_BYTES_MAX = 65_536;
/** Gas limit of gas estimates, and of calls that are not cached and go directly to the node. */
const GAS_MAX = 50_000_000;
const REPLY = { jsonrpc: '2.0', id: 1 } as const;
/** Error code of EIP-1474 for a call that reverts. */
const REVERTED = { code: 3, message: 'execution reverted' };

/** Builds the parameters of the node's method from the parameters of the action. */
type ParamsOf = (asked: AskedParams, head: HeadSnapshot) => readonly unknown[];

/** The node's methods that module=proxy passes on. None of them sends or signs transactions. */
const READS: readonly (readonly [method: string, paramsOf: ParamsOf])[] = [
  ['eth_getBlockByNumber', (asked, head) => [blockOf(asked, head), flagOf(asked)]],
  ['eth_getUncleByBlockNumberAndIndex', (asked, head) => [blockOf(asked, head), quantityOf(asked, 'index')]],
  ['eth_getBlockTransactionCountByNumber', (asked, head) => [blockOf(asked, head)]],
  ['eth_getTransactionByHash', (asked) => [hashOf(asked)]],
  [
    'eth_getTransactionByBlockNumberAndIndex',
    (asked, head) => [blockOf(asked, head), quantityOf(asked, 'index')],
  ],
  ['eth_getTransactionCount', (asked, head) => [needAddress(asked), countedAt(asked, head)]],
  ['eth_getTransactionReceipt', (asked) => [hashOf(asked)]],
  ['eth_getCode', (asked, head) => [needAddress(asked), stateOf(asked, head)]],
  [
    'eth_getStorageAt',
    (asked, head) => [needAddress(asked), quantityOf(asked, 'position'), stateOf(asked, head)],
  ],
  ['eth_gasPrice', () => []],
  ['eth_estimateGas', (asked) => [callOf(asked)]],
];

export const proxyActions: Actions = new Map<string, Action>([
  ['eth_blocknumber', getBlockNumber],
  ['eth_call', call],
  ...READS.map(([method, paramsOf]): [string, Action] => [
    method.toLowerCase(),
    (ask) => read(ask, method, paramsOf),
  ]),
]);

function getBlockNumber({ moment }: Ask): DialectAnswer {
  if (moment === null) throw new AppError('unavailable', 'this chain is not indexed here');
  return { ...REPLY, result: numberToHex(moment.head.number) };
}

async function read(ask: Ask, method: string, paramsOf: ParamsOf): Promise<DialectAnswer> {
  const { deps, asked, chainId, moment } = ask;
  if (moment === null) throw new AppError('unavailable', 'this chain is not indexed here');
  const params = paramsOf(asked, moment.head);
  const node = deps.relayOf?.(chainId) ?? null;
  if (node === null) return refuse(TEXTS.action);
  const answer = await node.call(method, params);
  const said = { ...REPLY, ...answer };
  const isGone = 'error' in answer && answer.error.code === BLOCK_NOT_FOUND;
  if (isGone && params.some(isBlockHash)) throw new HeadReplaced(new Refusal(200, said));
  return said;
}

function isBlockHash(param: unknown): boolean {
  return typeof param === 'object' && param !== null && 'blockHash' in param;
}

/**
 * eth_call. A call at the head without value and gas fields is answered from a cache per block. Other calls
 * go to the node, and so does a call that reverts, because the node tells the reason.
 */
async function call(ask: Ask): Promise<DialectAnswer> {
  const { asked } = ask;
  const to = needAddress(asked, 'to');
  const { data, from, ...spent } = callOf(asked);
  const tag = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  const relayCall = (): Promise<DialectAnswer> =>
    read(ask, 'eth_call', (_, head) => [callOf(asked), stateOf(asked, head)]);
  const isPlain = spent.value === undefined && spent.gas === undefined && spent.gasPrice === undefined;
  if (!isPlain || (tag !== 'latest' && tag !== 'pending')) return relayCall();
  const sender = from === undefined ? {} : { from };
  const answers = await askNode(ask, [{ kind: 'call', to, data: data ?? '0x', ...sender }]);
  if (answers === null) return refuse(TEXTS.action);
  const [result = null] = answers;
  if (result !== null) return { ...REPLY, result };
  return ask.deps.relayOf?.(ask.chainId) == null ? { ...REPLY, error: REVERTED } : relayCall();
}

/** A block number, for methods that accept no block hash. */
function blockOf(asked: AskedParams, head: HeadSnapshot): Hex {
  const text = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  if (text === 'latest' || text === 'pending') return numberToHex(head.number);
  if (text === 'finalized' || text === 'safe') return numberToHex(head.finalNumber);
  return numberToHex(text === 'earliest' ? 0 : numberOf(text, 'tag'));
}

/**
 * The state after a block. For the head, the call names the block hash (EIP-1898). After a reorg the node then
 * returns an error and not a wrong answer, and the request is answered at the next head.
 */
function stateOf(asked: AskedParams, head: HeadSnapshot): Hex | { readonly blockHash: Hex } {
  const text = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  return text === 'latest' || text === 'pending' ? { blockHash: head.hash } : blockOf(asked, head);
}

/** A nonce may include pending transactions, which only the node knows, so it is not cached. */
function countedAt(asked: AskedParams, head: HeadSnapshot): ReturnType<typeof stateOf> | 'pending' {
  return textOf(asked, 'tag')?.toLowerCase() === 'pending' ? 'pending' : stateOf(asked, head);
}

function hashOf(asked: AskedParams): Hex {
  const hash = findHashParam(asked, 'txhash');
  if (hash === null) throw badFormat('txhash');
  return hash;
}

/** Whether the answer includes whole transactions. */
function flagOf(asked: AskedParams): boolean {
  const text = (textOf(asked, 'boolean') ?? 'false').toLowerCase();
  if (text !== 'true' && text !== 'false') throw badFormat('boolean');
  return text === 'true';
}

/** Parses a number of at most 256 bits, without leading zeros, as nodes require. */
function quantityOf(asked: AskedParams, name: string): Hex {
  const found = findQuantity(asked, name);
  if (found === undefined) throw badFormat(name);
  return found;
}

function findQuantity(asked: AskedParams, name: string): Hex | undefined {
  const text = textOf(asked, name)?.replace(/^0X/, '0x') ?? null;
  if (text === null) return undefined;
  if (!isQuantity(text) && !/^\d{1,77}$/.test(text)) throw badFormat(name);
  return numberToHex(BigInt(text));
}

interface AskedCall {
  readonly to?: Hex;
  readonly from?: Hex;
  readonly data?: Hex;
  readonly value?: Hex;
  readonly gas?: Hex;
  readonly gasPrice?: Hex;
}

function callOf(asked: AskedParams): AskedCall {
  const at = (name: string): Hex | undefined => findAddressParam(asked, name) ?? undefined;
  const data = textOf(asked, 'data') ?? undefined;
  if (data !== undefined && (!isHexData(data) || data.length > 2 * CALL_BYTES_MAX)) throw badFormat('data');
  const gas = findQuantity(asked, 'gas');
  if (gas !== undefined && BigInt(gas) > BigInt(GAS_MAX)) throw badFormat('gas');
  const given = { to: at('to'), from: at('from'), data, gas };
  const priced = { value: findQuantity(asked, 'value'), gasPrice: findQuantity(asked, 'gasPrice') };
  return dropAbsent({ ...given, ...priced });
}

function dropAbsent(call: Readonly<Record<keyof AskedCall, Hex | undefined>>): AskedCall {
  const { to, from, data, value, gas, gasPrice } = call;
  return {
    ...(to === undefined ? {} : { to }),
    ...(from === undefined ? {} : { from }),
    ...(data === undefined ? {} : { data }),
    ...(value === undefined ? {} : { value }),
    ...(gas === undefined ? {} : { gas }),
    ...(gasPrice === undefined ? {} : { gasPrice }),
  };
}
