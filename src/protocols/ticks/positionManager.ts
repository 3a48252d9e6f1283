/**
 * Calls of a V3 position manager: INonfungiblePositionManager.sol (Uniswap/v3-periphery; `collect` is the same in those of
 * PancakeSwap, Slipstream and Algebra). `collect` pays out all tokens owed to a position, including fees up to this block, and returns the amounts.
 */
import { callData, type ContractCall } from '../../domain/contractCall';
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

/** A position that an NFT of a position manager stands for, and its pool. */
export interface ManagedPosition {
  readonly manager: Hex;
  readonly tokenId: bigint;
  readonly owner: Hex;
  readonly tickLower: number;
  readonly tickUpper: number;
  /** As in Pool. */
  readonly factory: Hex;
  readonly poolId: Hex | null;
}

/** How the node tells what the owner of a position would be paid beside its liquidity. */
export interface OwedQuestions {
  owedCall(position: ManagedPosition): ContractCall;
  /** Null if the answer does not tell. */
  readOwed(answer: Hex | null | undefined, position: ManagedPosition): Collected | null;
}

/** The manager pays out what it owes by `collect`. */
export const collectQuestions: OwedQuestions = { owedCall: collectCall, readOwed: readCollected };

/** Collects everything owed to the position. Only the owner may call it, even in a dry run. */
function collectCall({ manager, tokenId, owner }: ManagedPosition): ContractCall {
  const signature = 'collect((uint256,address,uint128,uint128))';
  return { to: manager, data: callData(signature, tokenId, owner, NO_LIMIT, NO_LIMIT), from: owner };
}

/** Decodes the answer of `collect`. Null if the call reverted, or if its answer is not two words. */
function readCollected(data: Hex | null | undefined): Collected | null {
  if (data?.length !== ANSWER_LENGTH) return null;
  return { amount0: BigInt(data.slice(0, 66)), amount1: BigInt(`0x${data.slice(66)}`) };
}
