/** Calls of an ERC-20 token, and decoding of their answers. EIP-20. */
import type { Hex } from '../domain/hex';

/** Selector of balanceOf(address). */
const BALANCE_OF = '0x70a08231';
/** Selectors of allowance(address,address), transfer(address,uint256) and transferFrom(address,address,uint256). */
const [ALLOWANCE, TRANSFER, TRANSFER_FROM] = ['0xdd62ed3e', '0xa9059cbb', '0x23b872dd'] as const;
/** Calldata of `totalSupply()`. */
export const TOTAL_SUPPLY: Hex = '0x18160ddd';
/** Length of a hex answer with `0x` and one word. */
const WORD_END = 66;

/** Calldata of `balanceOf(holder)`. */
export function balanceOfCall(holder: Hex): Hex {
  return `${BALANCE_OF}${wordOf(holder)}`;
}

/** Calldata of `allowance(owner, spender)`. */
export function allowanceCall(owner: Hex, spender: Hex): Hex {
  return `${ALLOWANCE}${wordOf(owner)}${wordOf(spender)}`;
}

/** Calldata of `transfer(to, amount)`. */
export function transferCall(to: Hex, amount: bigint): Hex {
  return `${TRANSFER}${wordOf(to)}${amount.toString(16).padStart(64, '0')}`;
}

/** Calldata of `transferFrom(from, to, amount)`. */
export function transferFromCall(from: Hex, to: Hex, amount: bigint): Hex {
  return `${TRANSFER_FROM}${wordOf(from)}${wordOf(to)}${amount.toString(16).padStart(64, '0')}`;
}

function wordOf(address: Hex): string {
  return address.slice(2).padStart(64, '0');
}

/** A balance or a supply in raw units. Null if the call reverted, or if its answer is shorter than a word. */
export function readBalance(data: Hex | null | undefined): bigint | null {
  if (data == null || data.length < WORD_END) return null;
  return BigInt(data.slice(0, WORD_END));
}
