/** CL pools of PancakeSwap Infinity: the manager is the CLPoolManager. One vault holds the tokens of all managers. */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { PoolCreation, Protocol } from '../protocol';
import { createV4Protocol } from '../uniswapV4/v4Pool';
import { dynamicFee } from './dynamicFee';
import { createKeyQuestions, decodeInfinityCreation } from './infinityCreation';

/** Topic of Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, address hooks, uint24 fee,
 * bytes32 parameters, uint160 sqrtPriceX96, int24 tick). */
const INITIALIZE: Hex = '0x426cc62fe6a33a40ba2788c2c87a9c34ee4582b95bc9fa5a7bb7ae70b750b99c';
/** Topic of Swap as of Uniswap V4, with one more uint16: the protocol's part of the fee, in pips. */
const SWAP: Hex = '0x04206ad2b7c0f463bff3dd4f33c5735b0f2957a351e4f79763a4fa9e775dd237';
/** The slot of the map of all pools (test/Extsload.t.sol). */
const POOLS = 4n;
/** LPFeeLibrary.ONE_HUNDRED_PERCENT_FEE and TickMath.MAX_TICK_SPACING. */
const LIMITS = { feeMax: 1_000_000n, stepMax: 0x7fffn };

export const infinityCl = {
  ...createV4Protocol('infinity_cl', {
    initialize: INITIALIZE,
    swap: SWAP,
    swapWords: 7,
    decodeCreation,
    pools: POOLS,
    ...createKeyQuestions(LIMITS),
  }),
  ...dynamicFee,
} satisfies Protocol;

function decodeCreation(log: ChainLog): PoolCreation | null {
  return decodeInfinityCreation(log, { topic: INITIALIZE, words: 5, ...LIMITS });
}
