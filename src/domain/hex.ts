/** Addresses and hashes as lower-case 0x strings, and the checks that validate them. */

/** Type of a 0x-prefixed lower-case hex string. Addresses have 40 digits, hashes 64. */
export type Hex = `0x${string}`;

export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;
export const ZERO_HASH: Hex = `0x${'0'.repeat(64)}`;

// Searches for a wrong character need no stack, whatever the length of the text. A pattern that repeats a group does.
const NOT_HEX = /[^0-9a-fA-F]/g;
const NOT_LOWER_HEX = /[^0-9a-f]/g;
const HEX_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;

/** True for 0x and `digits` hex digits in any letter case. */
export function isHexOfLength(value: unknown, digits: number): value is Hex {
  return typeof value === 'string' && value.length === digits + 2 && /^0x[0-9a-fA-F]*$/.test(value);
}

export function isAddress(value: unknown): value is Hex {
  return isHexOfLength(value, 40);
}

export function isHash(value: unknown): value is Hex {
  return isHexOfLength(value, 64);
}

/** True for hex of whole bytes, including the empty `0x`. */
export function isHexData(value: unknown): value is Hex {
  return typeof value === 'string' && isWholeBytes(value, NOT_HEX);
}

/** Like `isHexData`, for lower-case digits only. */
export function isLowerHexData(text: string): text is Hex {
  return isWholeBytes(text, NOT_LOWER_HEX);
}

function isWholeBytes(text: string, wrongCharacter: RegExp): boolean {
  if (text.length % 2 !== 0 || !text.startsWith('0x')) return false;
  wrongCharacter.lastIndex = 2;
  return !wrongCharacter.test(text);
}

/** True for a JSON-RPC quantity (hex number) of at most 256 bits. */
export function isQuantity(value: unknown): value is Hex {
  return typeof value === 'string' && HEX_QUANTITY.test(value);
}

export function toLowerHex(value: Hex): Hex {
  return value.toLowerCase() as Hex;
}

export function numberToHex(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** The address in the low 20 bytes of a 32-byte word (an indexed topic or a data word). */
export function addressOfWord(word: string): Hex {
  return `0x${word.slice(-40)}`;
}
