/**
 * Bonding curves with virtual reserves, as Virtuals Protocol has them (Virtual-Protocol/protocol-contracts, contracts/fun
 * and contracts/launchpadv2: FFactory, FPair, FRouter). A new token is sold along x·y = k. At a threshold all tokens leave
 * the pool in one transaction, which opens a pool of a DEX.
 */
import type { ChainLog } from '../../domain/block';
import { callData, readAddress, readUint } from '../../domain/contractCall';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import { POOL_V3 } from '../../domain/pools/poolShape';
import type {
  BurnEvent,
  MintEvent,
  PoolCreation,
  PoolEvent,
  PoolTerms,
  Protocol,
  SwapEvent,
} from '../protocol';
import { TICK_MAX } from '../ticks/tickMath';
import { uniswapV2 } from '../uniswapV2/uniswapV2';
import { v3SpotPrice } from '../uniswapV3/v3State';
import { isUint128, loadData, uintAt } from '../words';
import { toLiquidity, toReserves } from './virtualReserves';

/** Topic of Mint(uint256 reserve0, uint256 reserve1): the first virtual reserves. */
const MINT: Hex = '0xcc9c58b575eabd3f6a1ee653e91fcea3ff546867ffc3782a3bbca1f9b6dbb8df';
/** Topic of Swap(uint256 amount0In, uint256 amount0Out, uint256 amount1In, uint256 amount1Out). */
const SWAP: Hex = '0x298c349c742327269dc8de6ad66687767310c948ea309df826f5bd103e19d207';

const PIPS = 1_000_000n;
/** The factory counts taxes in percent. */
const PIPS_PER_PERCENT = 10_000;
const PERCENT_MAX = 99n;

const NO_CURVE = { sqrtPriceX96: 0n, tick: 0, liquidity: 0n };

export const bondingCurve = {
  name: 'bonding_curve',
  hasManyTokens: false,
  poolTypes: [POOL_V3],
  keptTopics: [],
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: null,
  creationTopics: uniswapV2.creationTopics,
  eventTopics: new Set([MINT, SWAP]),
  hasSync: false,
  hasShareTransfers: false,
  hasTokenTransfers: true,
  decodeCreation: uniswapV2.decodeCreation,
  decodeEvent,
  readTransfer,
  applyEvent,
  spotPrice: (state) => (state.liquidity === 0n ? null : v3SpotPrice(state)),
  swapFeePips: ({ feePips }) => feePips,
  quote,
  factCalls: ['tokenA()', 'tokenB()'],
  readFacts,
  confirmCalls: (to, { token0, token1 }) => [
    { to, data: callData('getPair(address,address)', token0, token1) },
  ],
  detailCalls: (to) => [{ to, data: callData('sellTax()') }],
  readDetails,
  stateCalls: ({ pool, token0, token1 }) => [
    { to: pool, data: callData('getReserves()') },
    { to: token0, data: callData('balanceOf(address)', pool) },
    { to: token1, data: callData('balanceOf(address)', pool) },
  ],
  readState,
  lastMoveCalls: () => [],
  readLastMove: () => null,
  listsPools: false,
} satisfies Protocol;

/** The events have no indexed word. A swap event needs the state before it for the price after it. */
function decodeEvent({ topics, data }: ChainLog, state: PoolState): PoolEvent | null {
  if (topics.length !== 1) return null;
  return topics[0] === MINT ? decodeMint(data, state) : topics[0] === SWAP ? decodeSwap(data, state) : null;
}

/** The first virtual reserves as a position from the first price upwards. It has no owner, because it cannot be burned. */
function decodeMint(data: Hex, state: PoolState): MintEvent | null {
  if (!loadData(data, 2) || !isUint128(0) || !isUint128(1) || state.liquidity !== 0n) return null;
  const [virtual0, virtual1] = [uintAt(0), uintAt(1)];
  const after = toLiquidity({ virtual0, virtual1 });
  if (after === null) return null;
  return {
    kind: 'mint',
    owner: ZERO_ADDRESS,
    amount0: virtual0,
    amount1: 0n,
    liquidity: after.liquidity,
    tickLower: after.tick,
    tickUpper: TICK_MAX,
    after,
  };
}

function decodeSwap(data: Hex, state: PoolState): SwapEvent | null {
  if (!loadData(data, 4) || ![0, 1, 2, 3].every(isUint128)) return null;
  const amount0 = uintAt(0) - uintAt(1);
  const amount1 = uintAt(2) - uintAt(3);
  const before = toReserves(state);
  const after =
    before && toLiquidity({ virtual0: before.virtual0 + amount0, virtual1: before.virtual1 + amount1 });
  // The event names nobody.
  return { kind: 'swap', sender: ZERO_ADDRESS, recipient: ZERO_ADDRESS, amount0, amount1, after };
}

/** The end of the curve: the last of the token that it sells leaves the pool. */
function readTransfer(state: PoolState, moved0: bigint, moved1: bigint): BurnEvent | null {
  if (state.liquidity === 0n || moved0 >= 0n || state.reserve0 + moved0 > 0n) return null;
  return {
    kind: 'burn',
    owner: ZERO_ADDRESS,
    amount0: -moved0,
    amount1: moved1 < 0n ? -moved1 : 0n,
    liquidity: null,
    tickLower: null,
    tickUpper: null,
  };
}

/** The balances follow all Transfers of the tokens, also where the pair emits no event. */
function applyEvent(state: PoolState, event: PoolEvent): PoolState {
  const { reserve0, reserve1 } = state;
  switch (event.kind) {
    case 'mint':
    case 'swap':
      return { ...(event.after ?? NO_CURVE), reserve0, reserve1 };
    case 'burn':
      return { ...state, liquidity: 0n };
    default:
      return state;
  }
}

/** A curve pays out what x·y = k gives, less the tax of a sale. It has no more than its balance. */
function quote(
  { feePips }: PoolTerms,
  state: PoolState,
  amountIn: bigint,
  isToken0In: boolean,
): bigint | null {
  const before = toReserves(state);
  if (before === null || amountIn <= 0n) return null;
  const tax = (amount: bigint): bigint => (amount * BigInt(feePips)) / PIPS;
  const { virtual0, virtual1 } = before;
  const out = isToken0In
    ? (virtual1 * amountIn) / (virtual0 + amountIn)
    : (virtual0 * (amountIn - tax(amountIn))) / (virtual1 + amountIn - tax(amountIn));
  if (out > (isToken0In ? state.reserve1 : state.reserve0)) return null;
  return isToken0In ? out - tax(out) : out;
}

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('tokenA()')), readAddress(answers.get('tokenB()'))];
  return token0 === null || token1 === null ? null : { pool, token0, token1, feePips: null, tickSpacing: 0 };
}

/** The tax of now. No event tells a later change, nor the higher tax of purchases soon after the start. */
function readDetails(creation: PoolCreation, [answer]: readonly (Hex | null)[]): PoolCreation {
  const percent = readUint(answer);
  const feePips = percent === null || percent > PERCENT_MAX ? null : Number(percent) * PIPS_PER_PERCENT;
  return { ...creation, feePips };
}

function readState([reserves, balance0, balance1]: readonly (Hex | null)[]): PoolState | null {
  const [virtual0, virtual1] = [readUint(reserves), readUint(reserves, 1)];
  const [reserve0, reserve1] = [readUint(balance0), readUint(balance1)];
  if (virtual0 === null || virtual1 === null || reserve0 === null || reserve1 === null) return null;
  // A curve that ended keeps its virtual reserves.
  const curve = reserve0 === 0n ? null : toLiquidity({ virtual0, virtual1 });
  return { ...(curve ?? NO_CURVE), reserve0, reserve1 };
}
