/** What the node is asked about the ticks of a pool, and the questions of V3 pools: UniswapV3Pool.sol of @uniswap/v3-core. */
import { callData, readInt, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';

/** A pool with ticks or bins. */
export interface AskedPool {
  readonly address: Hex;
  readonly factory: Hex;
  /** As in Pool. */
  readonly pool_id: Hex | null;
}

/** An answer that does not tell is read as null. */
export interface TickQuestions {
  tickCall(pool: AskedPool): ContractCall;
  readTick(answer: Hex | null | undefined): bigint | null;
  /** The answer is one word: a bit for each of 256 multiples of the tick spacing. */
  bitmapCall(pool: AskedPool, word: number): ContractCall;
  netCall(pool: AskedPool, tick: number): ContractCall;
  /** Net liquidity: what becomes active when the price rises over the tick. */
  readNet(answer: Hex | null | undefined): bigint | null;
}

export const v3TickQuestions: TickQuestions = {
  tickCall: ({ address: to }) => ({ to, data: callData('slot0()') }),
  readTick: (answer) => readInt(answer, 1, 24),
  bitmapCall: ({ address: to }, word) => ({ to, data: callData('tickBitmap(int16)', word) }),
  netCall: ({ address: to }, tick) => ({ to, data: callData('ticks(int24)', tick) }),
  readNet: (answer) => readInt(answer, 1, 128),
};
