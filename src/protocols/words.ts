/**
 * Reads 32-byte words out of hex text: what the decoders are made of. Fast, so nothing here looks at single digits:
 * that the text is hex at all is the border's promise (ChainLog). Positions count characters, `0x` included.
 */
import type { Hex } from '../domain/hex';

/** Characters of `0x` and one word: the length of a topic. */
const TOPIC_LENGTH = 66;
const WORD_DIGITS = 64;
const DATA_START = 2;
const CODE_OF_EIGHT = 56;
const INT24_DIGITS = 6;
const INT24_SIGN = 0x800000;
const INT24_SPAN = 0x1000000;
const HALF_SPAN = 1n << 128n;

const ZERO_WORD = '0'.repeat(WORD_DIGITS);
const ZERO_HALF = '0'.repeat(32);
const ONES_HALF = 'f'.repeat(32);
const ABOVE_UINT112 = '0'.repeat(36);
const ABOVE_UINT160 = '0'.repeat(24);
const ABOVE_UINT24 = '0'.repeat(58);
const BELOW_INT24 = 'f'.repeat(58);

/** Length of data that holds exactly so many words. */
export function dataLength(words: number): number {
  return DATA_START + WORD_DIGITS * words;
}

/** Where the word of this index begins in data. */
export function wordAt(index: number): number {
  return DATA_START + WORD_DIGITS * index;
}

/** Where the only word of a topic begins. */
export const TOPIC_WORD = DATA_START;

export function isTopic(topic: string | undefined): topic is Hex {
  return topic !== undefined && topic.length === TOPIC_LENGTH;
}

/** True for a topic that is an address: its upper twelve bytes are clean. */
export function isAddressTopic(topic: string | undefined): topic is Hex {
  return isTopic(topic) && topic.startsWith(ABOVE_UINT160, TOPIC_WORD);
}

/** True for a topic that is an int24, sign-extended over the whole word. */
export function isInt24Topic(topic: string | undefined): topic is Hex {
  return isTopic(topic) && isInt24(topic, TOPIC_WORD);
}

export function isUint24Topic(topic: string | undefined): topic is Hex {
  return isTopic(topic) && topic.startsWith(ABOVE_UINT24, TOPIC_WORD);
}

export function isUint112(text: string, position: number): boolean {
  return text.startsWith(ABOVE_UINT112, position);
}

export function isUint128(text: string, position: number): boolean {
  return text.startsWith(ZERO_HALF, position);
}

/** Also true of a clean address word. */
export function isUint160(text: string, position: number): boolean {
  return text.startsWith(ABOVE_UINT160, position);
}

export function isInt24(text: string, position: number): boolean {
  const negative = text.charCodeAt(position + WORD_DIGITS - INT24_DIGITS) >= CODE_OF_EIGHT;
  return text.startsWith(negative ? BELOW_INT24 : ABOVE_UINT24, position);
}

/** The word as an unsigned integer. Most amounts fit 128 bits, where half the digits are enough. */
export function uintAt(text: string, position: number): bigint {
  if (!text.startsWith(ZERO_HALF, position))
    return BigInt(`0x${text.slice(position, position + WORD_DIGITS)}`);
  if (text.startsWith(ZERO_WORD, position)) return 0n;
  return BigInt(`0x${text.slice(position + 32, position + WORD_DIGITS)}`);
}

/** The word as a signed integer, two's complement. */
export function intAt(text: string, position: number): bigint {
  if (text.charCodeAt(position) < CODE_OF_EIGHT) return uintAt(text, position);
  if (text.startsWith(ONES_HALF, position)) {
    return BigInt(`0x${text.slice(position + 32, position + WORD_DIGITS)}`) - HALF_SPAN;
  }
  return BigInt.asIntN(256, BigInt(`0x${text.slice(position, position + WORD_DIGITS)}`));
}

/** The low 24 bits as an unsigned integer; the rest must have been found clean. */
export function uint24At(text: string, position: number): number {
  return parseInt(text.slice(position + WORD_DIGITS - INT24_DIGITS, position + WORD_DIGITS), 16);
}

/** The low 24 bits as a signed integer; the rest must have been found clean. */
export function int24At(text: string, position: number): number {
  const low = uint24At(text, position);
  return low >= INT24_SIGN ? low - INT24_SPAN : low;
}

/** The low 20 bytes of the word; the rest must have been found clean. */
export function addressAt(text: string, position: number): Hex {
  return `0x${text.slice(position + 24, position + WORD_DIGITS)}`;
}
