/**
 * Calls of a V3 position manager: INonfungiblePositionManager.sol (Uniswap/v3-periphery; PancakeSwap's is the same).
 * `collect` pays out all tokens owed to a position, including fees up to this block, and returns the amounts.
 */
import { callData } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';

/** The largest uint128: no limit. */
const NO_LIMIT = 2n ** 128n - 1n;
/** Length of a hex answer with `0x` and two words. */
const ANSWER_LENGTH = 130;

/** Amounts of the pool's two tokens in raw units. */
export interface Collected {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Calldata that collects everything owed to position `tokenId`. Only the owner may call it, even in a dry run. */
export function collectCall(tokenId: bigint, owner: Hex): Hex {
  return callData('collect((uint256,address,uint128,uint128))', tokenId, owner, NO_LIMIT, NO_LIMIT);
}

/** Decodes the answer of `collect`. Null if the call reverted, or if its answer is not two words. */
export function readCollected(data: Hex | null | undefined): Collected | null {
  if (data?.length !== ANSWER_LENGTH) return null;
  return { amount0: BigInt(data.slice(0, 66)), amount1: BigInt(`0x${data.slice(66)}`) };
}
