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
const JSON_RPC_FIELDS = { jsonrpc: '2.0', id: 1 } as const;
/** Error code of EIP-1474 for a call that reverts. */
const REVERT_ERROR = { code: 3, message: 'execution reverted' };

/** Builds the parameters of the node's method from the parameters of the action. */
type ParamsOf = (asked: AskedParams, head: HeadSnapshot) => readonly unknown[];

/** The node's methods that module=proxy passes on. None of them sends or signs transactions. */
const NODE_METHODS: readonly (readonly [method: string, paramsOf: ParamsOf])[] = [
  ['eth_getBlockByNumber', (asked, head) => [blockOf(asked, head), withTransactionsOf(asked)]],
  ['eth_getUncleByBlockNumberAndIndex', (asked, head) => [blockOf(asked, head), quantityOf(asked, 'index')]],
  ['eth_getBlockTransactionCountByNumber', (asked, head) => [blockOf(asked, head)]],
  ['eth_getTransactionByHash', (asked) => [hashOf(asked)]],
  [
    'eth_getTransactionByBlockNumberAndIndex',
    (asked, head) => [blockOf(asked, head), quantityOf(asked, 'index')],
  ],
  ['eth_getTransactionCount', (asked, head) => [needAddress(asked), nonceBlockOf(asked, head)]],
  ['eth_getTransactionReceipt', (asked) => [hashOf(asked)]],
  ['eth_getCode', (asked, head) => [needAddress(asked), blockRefOf(asked, head)]],
  [
    'eth_getStorageAt',
    (asked, head) => [needAddress(asked), quantityOf(asked, 'position'), blockRefOf(asked, head)],
  ],
  ['eth_gasPrice', () => []],
  ['eth_estimateGas', (asked) => [callOf(asked)]],
];

export const proxyActions: Actions = new Map<string, Action>([
  ['eth_blocknumber', getBlockNumber],
  ['eth_call', callContract],
  ...NODE_METHODS.map(([method, paramsOf]): [string, Action] => [
    method.toLowerCase(),
    (ask) => relayToNode(ask, method, paramsOf),
  ]),
]);

function getBlockNumber({ chainAtHead }: Ask): DialectAnswer {
  if (chainAtHead === null) throw new AppError('unavailable', 'this chain is not indexed here');
  return { ...JSON_RPC_FIELDS, result: numberToHex(chainAtHead.head.number) };
}

async function relayToNode(ask: Ask, method: string, paramsOf: ParamsOf): Promise<DialectAnswer> {
  const { deps, asked, chainId, chainAtHead } = ask;
  if (chainAtHead === null) throw new AppError('unavailable', 'this chain is not indexed here');
  const params = paramsOf(asked, chainAtHead.head);
  const node = deps.relayOf?.(chainId) ?? null;
  if (node === null) return refuse(TEXTS.unavailableAction);
  const answer = await node.call(method, params);
  const envelope = { ...JSON_RPC_FIELDS, ...answer };
  const isGone = 'error' in answer && answer.error.code === BLOCK_NOT_FOUND;
  if (isGone && params.some(isBlockHash)) throw new HeadReplaced(new Refusal(200, envelope));
  return envelope;
}

function isBlockHash(param: unknown): boolean {
  return typeof param === 'object' && param !== null && 'blockHash' in param;
}

/**
 * eth_call. A call at the head without value and gas fields is answered from a cache per block. Other calls
 * go to the node, and so does a call that reverts, because the node tells the reason.
 */
async function callContract(ask: Ask): Promise<DialectAnswer> {
  const { asked } = ask;
  const to = needAddress(asked, 'to');
  const { data, from, ...valueAndGas } = callOf(asked);
  const tag = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  const relayCall = (): Promise<DialectAnswer> =>
    relayToNode(ask, 'eth_call', (_, head) => [callOf(asked), blockRefOf(asked, head)]);
  const hasNoValueOrGas =
    valueAndGas.value === undefined && valueAndGas.gas === undefined && valueAndGas.gasPrice === undefined;
  if (!hasNoValueOrGas || (tag !== 'latest' && tag !== 'pending')) return relayCall();
  const senderField = from === undefined ? {} : { from };
  const answers = await askNode(ask, [{ kind: 'call', to, data: data ?? '0x', ...senderField }]);
  if (answers === null) return refuse(TEXTS.unavailableAction);
  const [result = null] = answers;
  if (result !== null) return { ...JSON_RPC_FIELDS, result };
  // The call reverts. Only the node tells the reason.
  const node = ask.deps.relayOf?.(ask.chainId) ?? null;
  return node === null ? { ...JSON_RPC_FIELDS, error: REVERT_ERROR } : relayCall();
}

/** A block number, for methods that accept no block hash. */
function blockOf(asked: AskedParams, head: HeadSnapshot): Hex {
  const tag = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  if (tag === 'latest' || tag === 'pending') return numberToHex(head.number);
  if (tag === 'finalized' || tag === 'safe') return numberToHex(head.finalNumber);
  return numberToHex(tag === 'earliest' ? 0 : numberOf(tag, 'tag'));
}

/**
 * The state after a block. For the head, the call names the block hash (EIP-1898). After a reorg the node then
 * returns an error and not a wrong answer, and the request is answered at the next head.
 */
function blockRefOf(asked: AskedParams, head: HeadSnapshot): Hex | { readonly blockHash: Hex } {
  const tag = (textOf(asked, 'tag') ?? 'latest').toLowerCase();
  return tag === 'latest' || tag === 'pending' ? { blockHash: head.hash } : blockOf(asked, head);
}

/** A nonce may include pending transactions, which only the node knows, so it is not cached. */
function nonceBlockOf(asked: AskedParams, head: HeadSnapshot): ReturnType<typeof blockRefOf> | 'pending' {
  return textOf(asked, 'tag')?.toLowerCase() === 'pending' ? 'pending' : blockRefOf(asked, head);
}

function hashOf(asked: AskedParams): Hex {
  const hash = findHashParam(asked, 'txhash');
  if (hash === null) throw badFormat('txhash');
  return hash;
}

/** Whether the answer includes whole transactions. */
function withTransactionsOf(asked: AskedParams): boolean {
  const text = (textOf(asked, 'boolean') ?? 'false').toLowerCase();
  if (text !== 'true' && text !== 'false') throw badFormat('boolean');
  return text === 'true';
}

/** Parses a number of at most 256 bits, without leading zeros, as nodes require. */
function quantityOf(asked: AskedParams, name: string): Hex {
  const quantity = findQuantity(asked, name);
  if (quantity === undefined) throw badFormat(name);
  return quantity;
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
  const addressParam = (name: string): Hex | undefined => findAddressParam(asked, name) ?? undefined;
  const data = textOf(asked, 'data') ?? undefined;
  if (data !== undefined && (!isHexData(data) || data.length > 2 * CALL_BYTES_MAX)) throw badFormat('data');
  const gas = findQuantity(asked, 'gas');
  if (gas !== undefined && BigInt(gas) > BigInt(GAS_MAX)) throw badFormat('gas');
  const plainFields = { to: addressParam('to'), from: addressParam('from'), data, gas };
  const pricedFields = { value: findQuantity(asked, 'value'), gasPrice: findQuantity(asked, 'gasPrice') };
  return dropAbsent({ ...plainFields, ...pricedFields });
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
