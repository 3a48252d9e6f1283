/**
 * Reads dynamic arrays of words from ABI-encoded data, for events and answers of contracts. Accepts only Solidity's
 * own layout: arrays in order, with nothing between or after them.
 */
import { isHexData, type Hex } from '../domain/hex';

/** Limit of the elements of one array. Pools have fewer tokens; a longer array counts as malformed. */
export const ARRAY_LENGTH_MAX = 50;

const WORD_BYTES = 32;
const WORD_DIGITS = 64;
const DATA_START = 2;
const ADDRESS_BITS = 160n;
const ADDRESS_DIGITS = 40;

/**
 * Decodes `arrayCount` dynamic arrays of one-word elements, beside `scalarCount` static words, which are
 * skipped. Null for any other layout, such as an offset that is not the next free word, an array that is too long, or words
 * that remain. `headStep` is the distance between the offsets of two arrays, in words. `scalarsFirst` of the static words come
 * before the arrays.
 */
export function readArrays(
  data: Hex,
  arrayCount: number,
  scalarCount = 0,
  lengthMax = ARRAY_LENGTH_MAX,
  { headStep = 1, scalarsFirst = 0 } = {},
): (readonly bigint[])[] | null {
  const heads = arrayCount + scalarCount;
  const words = readWords(data, heads + arrayCount * (1 + lengthMax));
  if (words === null) return null;
  const arrays: (readonly bigint[])[] = [];
  let at = heads;
  for (let index = 0; index < arrayCount; index += 1) {
    const length = words[at];
    if (words[scalarsFirst + index * headStep] !== BigInt(at * WORD_BYTES)) return null;
    if (length === undefined || length > BigInt(lengthMax)) return null;
    const end = at + 1 + Number(length);
    arrays.push(words.slice(at + 1, end));
    at = end;
  }
  // The arrays must end exactly at the end of the data. An array that is longer than the data moves `at`
  // beyond this end.
  return at === words.length ? arrays : null;
}

/** The 32-byte words of the data. Null if the data is not whole words of hex, or has more than `wordsMax`
 * words. */
export function readWords(data: Hex, wordsMax: number): bigint[] | null {
  const digits = data.length - DATA_START;
  if (digits % WORD_DIGITS !== 0 || digits > wordsMax * WORD_DIGITS || !isHexData(data)) return null;
  const words: bigint[] = [];
  for (let at = DATA_START; at < data.length; at += WORD_DIGITS) {
    words.push(BigInt(`0x${data.slice(at, at + WORD_DIGITS)}`));
  }
  return words;
}

/** The words as lower-case addresses. Null if the upper bytes of a word are not zero. */
export function toAddresses(words: readonly bigint[]): Hex[] | null {
  if (words.some((word) => word >> ADDRESS_BITS !== 0n)) return null;
  return words.map((word): Hex => `0x${word.toString(16).padStart(ADDRESS_DIGITS, '0')}`);
}

export function toSigned(word: bigint): bigint {
  return BigInt.asIntN(256, word);
}
