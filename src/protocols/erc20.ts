/** Calls of an ERC-20 token, and decoding of their answers. EIP-20. */
import type { Hex } from '../domain/hex';

/** Selector of balanceOf(address). */
const BALANCE_OF = '0x70a08231';
/** Calldata of `totalSupply()`. */
export const TOTAL_SUPPLY: Hex = '0x18160ddd';
/** Length of a hex answer with `0x` and one word. */
const WORD_END = 66;

/** Calldata of `balanceOf(holder)`. */
export function balanceOfCall(holder: Hex): Hex {
  return `${BALANCE_OF}${holder.slice(2).padStart(64, '0')}`;
}

/** A balance or a supply in raw units. Null if the call reverted, or if its answer is shorter than a word. */
export function readBalance(data: Hex | null | undefined): bigint | null {
  if (data == null || data.length < WORD_END) return null;
  return BigInt(data.slice(0, WORD_END));
}
