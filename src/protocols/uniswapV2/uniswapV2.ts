/**
 * Decodes Uniswap V2 and its forks: constant product, two tokens, and the reserves as the whole state. Events as in
 * UniswapV2Pair.sol and UniswapV2Factory.sol (Uniswap/v2-core).
 */
import type { ChainLog } from '../../domain/block';
import { callData, readAddress, readUint } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, type Pool, type PoolState } from '../../domain/pool';
import { POOL_V2 } from '../../domain/pools/poolShape';
import type {
  BurnEvent,
  MintEvent,
  PoolCreation,
  PoolEvent,
  Protocol,
  SwapEvent,
  SyncEvent,
} from '../protocol';
import { addressAt, addressOfTopic, isAddressTopic, isUint112, isUint160, loadData, uintAt } from '../words';

/** Topic of PairCreated(address indexed token0, address indexed token1, address pair, uint256). */
const PAIR_CREATED: Hex = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9';
/** Topic of Swap(address indexed sender, uint256 amount0In, amount1In, amount0Out, amount1Out, address
 * indexed to). */
const SWAP: Hex = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';
/** Topic of Sync(uint112 reserve0, uint112 reserve1). */
const SYNC: Hex = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
/** Topic of Mint(address indexed sender, uint256 amount0, uint256 amount1). */
const MINT: Hex = '0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f';
/** Topic of Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to). */
const BURN: Hex = '0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496';

const PIPS = 1_000_000n;
const INT256_MAX = (1n << 255n) - 1n;
const INT256_MIN = -(1n << 255n);

export const uniswapV2 = {
  name: 'uniswap_v2',
  hasManyTokens: false,
  poolTypes: [POOL_V2],
  keptTopics: [],
  locksSharesAtZero: true,
  mintsProtocolShares: true,
  feeSplit: null,
  feeChange: null,
  creationTopics: new Set([PAIR_CREATED]),
  eventTopics: new Set([SWAP, SYNC, MINT, BURN]),
  hasSync: true,
  hasShareTransfers: true,
  hasTokenTransfers: false,
  decodeCreation,
  decodeEvent,
  applyEvent,
  spotPrice,
  swapFeePips: ({ feePips }) => feePips,
  quote,
  factCalls: ['token0()', 'token1()'],
  readFacts,
  confirmCalls: (to, { token0, token1 }) => [
    { to, data: callData('getPair(address,address)', token0, token1) },
  ],
  detailCalls: () => [],
  readDetails: (creation) => creation,
  stateCalls: ({ pool: to }) => [{ to, data: callData('getReserves()') }],
  readState,
  lastMoveCalls: () => [],
  readLastMove: ([reserves]) => readUint(reserves, 2),
  listsPools: true,
} satisfies Protocol;

function decodeCreation({ topics, data }: ChainLog): PoolCreation | null {
  const [topic, token0, token1] = topics;
  if (topic !== PAIR_CREATED || topics.length !== 3 || !loadData(data, 2)) return null;
  if (!isAddressTopic(token0) || !isAddressTopic(token1) || !isUint160(0)) return null;
  return {
    pool: addressAt(data, 0),
    token0: addressOfTopic(token0),
    token1: addressOfTopic(token1),
    feePips: null,
    tickSpacing: 0,
  };
}

function decodeEvent(log: ChainLog): PoolEvent | null {
  switch (log.topics[0]) {
    case SYNC:
      return decodeSync(log);
    case SWAP:
      return decodeSwap(log);
    case MINT:
      return decodeMint(log);
    case BURN:
      return decodeBurn(log);
    default:
      return null;
  }
}

function decodeSync({ topics, data }: ChainLog): SyncEvent | null {
  if (topics.length !== 1 || !loadData(data, 2)) return null;
  if (!isUint112(0) || !isUint112(1)) return null;
  return { kind: 'sync', reserve0: uintAt(0), reserve1: uintAt(1) };
}

function decodeSwap({ topics, data }: ChainLog): SwapEvent | null {
  if (topics.length !== 3 || !loadData(data, 4)) return null;
  const sender = topics[1];
  const recipient = topics[2];
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) return null;
  const amount0 = uintAt(0) - uintAt(2);
  const amount1 = uintAt(1) - uintAt(3);
  // Real pairs hold balances below 2^112, so an amount that does not fit a signed 32-byte word is not a real
  // swap.
  if (!isInt256(amount0) || !isInt256(amount1)) return null;
  return {
    kind: 'swap',
    sender: addressOfTopic(sender),
    recipient: addressOfTopic(recipient),
    amount0,
    amount1,
    after: null,
  };
}

function isInt256(value: bigint): boolean {
  return value <= INT256_MAX && value >= INT256_MIN;
}

function decodeMint({ topics, data }: ChainLog): MintEvent | null {
  const sender = topics[1];
  if (topics.length !== 2 || !loadData(data, 2) || !isAddressTopic(sender)) return null;
  return {
    kind: 'mint',
    owner: addressOfTopic(sender),
    amount0: uintAt(0),
    amount1: uintAt(1),
    liquidity: null,
    tickLower: null,
    tickUpper: null,
  };
}

function decodeBurn({ topics, data }: ChainLog): BurnEvent | null {
  const recipient = topics[2];
  if (topics.length !== 3 || !loadData(data, 2)) return null;
  if (!isAddressTopic(topics[1]) || !isAddressTopic(recipient)) return null;
  return {
    kind: 'burn',
    owner: addressOfTopic(recipient),
    amount0: uintAt(0),
    amount1: uintAt(1),
    liquidity: null,
    tickLower: null,
    tickUpper: null,
  };
}

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('token0()')), readAddress(answers.get('token1()'))];
  return token0 === null || token1 === null ? null : { pool, token0, token1, feePips: null, tickSpacing: 0 };
}

function readState([reserves]: readonly (Hex | null)[]): PoolState | null {
  const [reserve0, reserve1] = [readUint(reserves), readUint(reserves, 1)];
  if (reserve0 === null || reserve1 === null) return null;
  return { ...EMPTY_STATE, reserve0: BigInt.asUintN(112, reserve0), reserve1: BigInt.asUintN(112, reserve1) };
}

/** Only a Sync changes the reserves; each mint, burn and swap emits its own Sync. */
function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  if (event.kind !== 'sync') return state;
  if (event.reserve0 === state.reserve0 && event.reserve1 === state.reserve1) return state;
  const { sqrtPriceX96, liquidity, tick } = state;
  return { reserve0: event.reserve0, reserve1: event.reserve1, sqrtPriceX96, liquidity, tick };
}

/** The price reserve1 / reserve0. Both conversions and the division round correctly: relative error below
 * 4e-16. */
function spotPrice(state: PoolState): number | null {
  const price = Number(state.reserve1) / Number(state.reserve0);
  return Number.isFinite(price) && price > 0 ? price : null;
}

/** UniswapV2Library.sol, getAmountOut, with the fee in pips. */
function quote(
  { feePips }: Pick<Pool, 'feePips'>,
  { reserve0, reserve1 }: PoolState,
  amountIn: bigint,
  isToken0In: boolean,
): bigint | null {
  const [reserveIn, reserveOut] = isToken0In ? [reserve0, reserve1] : [reserve1, reserve0];
  if (amountIn <= 0n || reserveIn === 0n || reserveOut === 0n) return null;
  const paid = amountIn * (PIPS - BigInt(feePips));
  return (paid * reserveOut) / (reserveIn * PIPS + paid);
}
