/**
 * Encodes calls of contract functions, and reads the words of their answers. A contract can answer anything, so an
 * answer without the expected word gives null.
 */
import { selectorOf } from './abi';
import { ZERO_ADDRESS, type Hex } from './hex';

/** A call of a contract function. */
export interface ContractCall {
  readonly to: Hex;
  readonly data: Hex;
  /** Address of the caller; by default the zero address. */
  readonly from?: Hex;
  /** Gas limit; null for the limit of the node. By default it is enough for a token behind proxies. */
  readonly gas?: Hex | null;
  /** Size limit of the answer in bytes. By default it is enough for the tokens and weights of the largest pool. */
  readonly answerBytesMax?: number;
}

/** Length of a hex answer of one word, with `0x`. */
const WORD_END = 66;
const WORD_DIGITS = 64;

const selectors = new Map<string, Hex>();

/**
 * Call data of a function whose arguments are one word each, such as `balanceOf(address)`. A negative integer is encoded
 * in two's complement.
 */
export function callData(signature: string, ...values: readonly (Hex | bigint | number)[]): Hex {
  const selector = selectors.get(signature) ?? selectorOf(signature);
  selectors.set(signature, selector);
  return `${selector}${values.map(encodeWord).join('')}`;
}

function encodeWord(value: Hex | bigint | number): string {
  const digits = typeof value === 'string' ? value.slice(2) : BigInt.asUintN(256, BigInt(value)).toString(16);
  return digits.padStart(WORD_DIGITS, '0');
}

/** Word `index` of an answer as an unsigned integer; null if the call has no answer, or if the answer is shorter. */
export function readUint(answer: Hex | null | undefined, index = 0): bigint | null {
  const start = 2 + index * WORD_DIGITS;
  if (answer == null || answer.length < start + WORD_DIGITS) return null;
  return BigInt(`0x${answer.slice(start, start + WORD_DIGITS)}`);
}

/** Word `index` of an answer as a signed integer of `bits` bits; null also if the word has no such value. */
export function readInt(answer: Hex | null | undefined, index: number, bits: number): bigint | null {
  const word = readUint(answer, index);
  if (word === null) return null;
  const value = BigInt.asIntN(bits, word);
  return BigInt.asUintN(256, value) === word ? value : null;
}

/** The address in word `index` of an answer; null also for the zero address. */
export function readAddress(answer: Hex | null | undefined, index = 0): Hex | null {
  const word = readUint(answer, index);
  if (word === null || word >> 160n !== 0n) return null;
  const address: Hex = `0x${word.toString(16).padStart(40, '0')}`;
  return address === ZERO_ADDRESS ? null : address;
}

/** A number that is the whole answer, as of `totalSupply()`; null for any other answer. */
export function readNumber(answer: Hex | null | undefined): bigint | null {
  return answer?.length === WORD_END ? readUint(answer) : null;
}
