/**
 * Calls of a V3 position manager. INonfungiblePositionManager.sol (Uniswap/v3-periphery; PancakeSwap's is the same):
 * `collect` pays out what a position is owed, fees up to this block included, and answers how much that is.
 */
import type { Hex } from '../domain/hex';

/** collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)). */
const COLLECT = '0xfc6f7865';
const MOST = 'f'.repeat(32).padStart(64, '0');
/** `0x` and two words. */
const ANSWER_LENGTH = 130;

/** Raw units of the pool's two tokens. */
export interface Collected {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Calldata of a `collect` of all that position `tokenId` is owed. Only its owner may make it, also in a dry run. */
export function collectCall(tokenId: bigint, owner: Hex): Hex {
  const id = tokenId.toString(16).padStart(64, '0');
  return `${COLLECT}${id}${owner.slice(2).padStart(64, '0')}${MOST}${MOST}`;
}

/** What `collect` answered; null for a call that reverted and for what is not two words. */
export function readCollected(data: Hex | null | undefined): Collected | null {
  if (data?.length !== ANSWER_LENGTH) return null;
  return { amount0: BigInt(data.slice(0, 66)), amount1: BigInt(`0x${data.slice(66)}`) };
}
