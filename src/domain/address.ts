/** Validates text from people and contracts: addresses in any letter case, symbols and names. */
import { getAddress } from 'ethers';

import { AppError } from '../errors';
import { isAddress, type Hex } from './hex';

const SHOWN_MAX = 80;
/** Description of a valid address, for error texts. */
export const ADDRESS_ALLOWED = '0x and 40 hex digits, in one letter case or with a correct EIP-55 checksum';

/**
 * Parses an address and returns it in lower case. A mixed-case address must have a valid EIP-55 checksum,
 * because a wrong checksum is a typing error. Otherwise throws bad_request, which names `field`.
 */
export function parseAddress(input: string, field = 'address'): Hex {
  const address = findAddress(input);
  if (address !== null) return address;
  const shownInput = input.length > SHOWN_MAX ? `${input.slice(0, SHOWN_MAX)}…` : input;
  throw new AppError('bad_request', `${field}: got "${shownInput}"; allowed: ${ADDRESS_ALLOWED}`);
}

/** Like `parseAddress`, but returns null for an invalid address. */
export function findAddress(input: string): Hex | null {
  const text = input.startsWith('0X') ? `0x${input.slice(2)}` : input;
  if (!isAddress(text)) return null;
  const digits = text.slice(2);
  const lower: Hex = `0x${digits.toLowerCase()}`;
  const isMixedCase = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixedCase && getAddress(lower).slice(2) !== digits ? null : lower;
}

/**
 * Characters that are removed from symbols and names: control characters, bidirectional marks, zero-width and
 * other invisible characters, line separators, private use characters and lone surrogates. U+FFFD is removed
 * too, because it stands for bytes that are not text.
 */
const HOSTILE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\uFFFD]/u;

/** Control characters, bidirectional marks and other format characters, line separators and lone
 * surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/**
 * Returns whether all texts in a JSON value, keys included, are free of UNPRINTABLE characters. The caller
 * must limit the depth.
 */
export function isPrintable(value: unknown): boolean {
  if (typeof value === 'string') return !UNPRINTABLE.test(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, nestedValue]) => isPrintable(name) && isPrintable(nestedValue));
}

/**
 * Makes a text that a contract returned safe to show: strips control and bidi characters, trims, and cuts it to `maxLength`
 * code points. Returns null if no character is left. Stops reading after the last character that it keeps.
 */
export function normaliseText(raw: string, maxLength: number): string | null {
  let cleaned = '';
  let length = 0;
  for (const character of raw) {
    if (HOSTILE.test(character)) continue;
    if (length === 0 && character.trim() === '') continue;
    cleaned += character;
    length += 1;
    if (length === maxLength) break;
  }
  const text = cleaned.trimEnd();
  return text === '' ? null : text;
}
