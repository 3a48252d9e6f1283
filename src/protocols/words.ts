/**
 * Reads the 32-byte words of a log, for the decoders. Data is converted to bytes once, which is twice as fast as
 * parsing integers from the text. Topics stay text, because an address is a substring of its topic.
 */
import type { Hex } from '../domain/hex';
import { RecentValues } from '../domain/recentValues';

/** Length of a topic: `0x` and one word. */
const TOPIC_LENGTH = 66;
const WORD_DIGITS = 64;
const WORD_BYTES = 32;
const DATA_START = 2;
const CHARACTER_OF_EIGHT = 56;
const INT24_DIGITS = 6;
const INT24_MAX = 0x7fffff;
const INT24_MIN = -0x800000;
const INT24_SPAN = 0x1000000;
const HALF_SPAN = 1n << 128n;

const ABOVE_UINT160 = '0'.repeat(24);
const ABOVE_UINT24 = '0'.repeat(58);
const BELOW_INT24 = 'f'.repeat(58);

/** Largest number of words in the data of any decoded event. */
const WORDS_MAX = 8;
/** The data of the current log. One buffer is enough, because no other code runs between loading and reading. */
const bytes = Buffer.alloc(WORDS_MAX * WORD_BYTES);
const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/**
 * Loads data for the functions below. Returns false if the data is not exactly `words` words of hex; the
 * functions below must then not be called.
 */
export function loadData(data: Hex, words: number): boolean {
  if (data.length !== DATA_START + WORD_DIGITS * words) return false;
  return bytes.write(data.slice(DATA_START), 'hex') === WORD_BYTES * words;
}

/** Whether the loaded word at this index (from 0) is a valid uint112. */
export function isUint112(word: number): boolean {
  return isUint128(word) && view.getUint16(word * WORD_BYTES + 16) === 0;
}

export function isUint128(word: number): boolean {
  return isUint160(word) && view.getUint32(word * WORD_BYTES + 12) === 0;
}

/** Whether the loaded word is a valid uint160; an address is one too. */
export function isUint160(word: number): boolean {
  const at = word * WORD_BYTES;
  return (view.getUint32(at) | view.getUint32(at + 4) | view.getUint32(at + 8)) === 0;
}

export function isUint24(word: number): boolean {
  return uintAt(word) >> 24n === 0n;
}

export function isUint16(word: number): boolean {
  return uintAt(word) >> 16n === 0n;
}

/** Whether the loaded word is a sign-extended int24. */
export function isInt24(word: number): boolean {
  const at = word * WORD_BYTES;
  const low = view.getInt32(at + 28);
  if (low > INT24_MAX || low < INT24_MIN) return false;
  const sign = low < 0 ? -1 : 0;
  for (let position = at; position < at + 28; position += 4) {
    if (view.getInt32(position) !== sign) return false;
  }
  return true;
}

/** The loaded word at this index as an unsigned integer. Most amounts fit 64 or 128 bits. */
export function uintAt(word: number): bigint {
  const at = word * WORD_BYTES;
  if (!isUint128(word)) return (halfAt(at) << 128n) | halfAt(at + 16);
  if ((view.getUint32(at + 16) | view.getUint32(at + 20)) !== 0) return halfAt(at + 16);
  return view.getBigUint64(at + 24);
}

/** The loaded word as a signed integer, two's complement. */
export function intAt(word: number): bigint {
  const at = word * WORD_BYTES;
  if (view.getInt32(at) >= 0) return uintAt(word);
  if (view.getBigInt64(at) === -1n && view.getBigInt64(at + 8) === -1n) return halfAt(at + 16) - HALF_SPAN;
  return BigInt.asIntN(256, (halfAt(at) << 128n) | halfAt(at + 16));
}

/** Whether the loaded word is a sign-extended int128. */
export function isInt128(word: number): boolean {
  return BigInt.asIntN(128, intAt(word)) === intAt(word);
}

/** The 16 bytes from `at` as an unsigned integer. */
function halfAt(at: number): bigint {
  return (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8);
}

/** The loaded word as a number; check `isInt24` first. */
export function int24At(word: number): number {
  return view.getInt32(word * WORD_BYTES + 28);
}

/** The address in the data word at this index; check `isUint160` first. */
export function addressAt(data: Hex, word: number): Hex {
  const end = DATA_START + WORD_DIGITS * (word + 1);
  return `0x${data.slice(end - 40, end)}`;
}

/** True for a topic that is an address, with zeros in the upper twelve bytes. */
export function isAddressTopic(topic: string | undefined): topic is Hex {
  return isTopic(topic) && topic.startsWith(ABOVE_UINT160, DATA_START);
}

/** True for a topic that is a sign-extended int24. */
export function isInt24Topic(topic: string | undefined): topic is Hex {
  if (!isTopic(topic)) return false;
  const negative = topic.charCodeAt(TOPIC_LENGTH - INT24_DIGITS) >= CHARACTER_OF_EIGHT;
  return topic.startsWith(negative ? BELOW_INT24 : ABOVE_UINT24, DATA_START);
}

export function isUint24Topic(topic: string | undefined): topic is Hex {
  return isTopic(topic) && topic.startsWith(ABOVE_UINT24, DATA_START);
}

function isTopic(topic: string | undefined): topic is Hex {
  return topic !== undefined && topic.length === TOPIC_LENGTH;
}

/** Number of remembered addresses in each half of the cache. Both together take about 5 MB. */
const CACHE_ITEMS = 16_384;
const addresses = new RecentValues<Hex, Hex>(CACHE_ITEMS, (topic) => `0x${topic.slice(TOPIC_LENGTH - 40)}`);

export function addressOfTopic(topic: Hex): Hex {
  return addresses.get(topic);
}

export function uint24OfTopic(topic: Hex): number {
  return parseInt(topic.slice(TOPIC_LENGTH - INT24_DIGITS), 16);
}

export function int24OfTopic(topic: Hex): number {
  const low = uint24OfTopic(topic);
  return low > INT24_MAX ? low - INT24_SPAN : low;
}
