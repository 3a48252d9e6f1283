/** Error codes and texts of common clients and vendors, copied from real answers. */

export interface RpcRefusal {
  readonly code: number;
  readonly message: string;
}

export type RangeWording = (max: number, span: number) => RpcRefusal;

/** The block range of an eth_getLogs is too wide. */
export const RANGE_WORDINGS: readonly RangeWording[] = [
  // go-ethereum forks, bor, erigon
  (max) => ({ code: -32005, message: `query exceeds max block range ${max}` }),
  (max) => ({ code: -32602, message: `exceed maximum block range: ${max}` }),
  // reth
  (max) => ({ code: -32602, message: `query exceeds max block range ${max}` }),
  // besu
  () => ({ code: -32000, message: 'Requested range exceeds maximum RPC range limit' }),
  // Alchemy
  (max) => ({
    code: -32600,
    message: `Under the Free tier plan, you can make eth_getLogs requests with up to a ${max} block range.`,
  }),
  // QuickNode
  (max) => ({ code: -32614, message: `eth_getLogs is limited to a ${max} range` }),
  // Ankr
  () => ({ code: -32600, message: 'block range is too wide' }),
  // Chainstack
  (max) => ({ code: -32004, message: `Block range limit exceeded. Maximum allowed is ${max} blocks.` }),
  // Cloudflare
  (max) => ({
    code: -32047,
    message: `Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: ${max}`,
  }),
  // dRPC
  (max) => ({ code: 35, message: `ranges over ${max} blocks are not supported on freetier` }),
  // BlockPI, NodeReal
  (max) => ({
    code: -32602,
    message: `eth_getLogs is limited to ${max} block range, please check your params`,
  }),
  (_max, span) => ({ code: -32005, message: `block range is too large: ${span}` }),
];

/** Refusals of a wide range whose code or text does not name the range. */
export const ODD_RANGE_WORDINGS: readonly RangeWording[] = [
  () => ({ code: -32002, message: 'request timed out' }),
  () => ({ code: -32001, message: 'the resource is busy' }),
  () => ({ code: -32005, message: 'please come back with less' }),
  () => ({ code: -32600, message: 'maximum [from, to] blocks distance' }),
  () => ({ code: -32000, message: 'upstream error' }),
];

/** The answer would contain too many logs. */
export const RESULT_WORDINGS: readonly ((max: number) => RpcRefusal)[] = [
  // Infura, go-ethereum behind it
  (max) => ({ code: -32005, message: `query returned more than ${max} results` }),
  // Alchemy
  () => ({
    code: -32602,
    message:
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response.',
  }),
  // reth
  (max) => ({ code: -32602, message: `query exceeds max results ${max}, retry with the range 1-2` }),
  // nethermind, erigon
  () => ({ code: -32005, message: 'logs response size exceeds the limit' }),
  (max) => ({ code: -32000, message: `too many results, max ${max}` }),
];

/** A rate limit inside a 200 response. */
export const RATE_WORDINGS: readonly RpcRefusal[] = [
  { code: -32005, message: 'daily request count exceeded, request rate limited' },
  { code: 429, message: 'Your app has exceeded its compute units per second capacity.' },
  {
    code: -32007,
    message: '50/second request limit reached - reduce calls per second or upgrade your account',
  },
  { code: -32090, message: 'Too many requests, reason: call rate limit exhausted, retry in 10s' },
  { code: -32016, message: 'over rate limit' },
  { code: -32029, message: 'Too Many Requests' },
];

/** The node does not have the block. */
export const UNKNOWN_BLOCK_WORDINGS: readonly RpcRefusal[] = [
  { code: -32000, message: 'header not found' },
  { code: -32000, message: 'unknown block' },
  { code: -32001, message: 'resource not found' },
  { code: -39001, message: 'Unknown block' },
  {
    code: -32602,
    message:
      'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found: block not found',
  },
  { code: -32000, message: 'missing trie node 5f3 (path ) state is not available' },
];

/** The node does not know the `finalized` tag. */
export const NO_TAG_WORDINGS: readonly RpcRefusal[] = [
  { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' },
  { code: -39001, message: 'Unknown block' },
  { code: -32000, message: 'finalized block not found' },
  { code: -32602, message: 'Invalid params' },
];

/** The node does not have eth_getBlockReceipts. */
export const NO_METHOD_WORDINGS: readonly RpcRefusal[] = [
  { code: -32601, message: 'the method eth_getBlockReceipts does not exist/is not available' },
  { code: -32601, message: 'Method not found' },
  { code: -32600, message: 'Unsupported method: eth_getBlockReceipts' },
  { code: -32000, message: 'rpc method is not whitelisted' },
];
