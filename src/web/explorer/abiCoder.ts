/**
 * Encodes and decodes values by the contract ABI, https://docs.soliditylang.org/en/latest/abi-spec.html. Integers are
 * bigint, so every uint256 is exact. Pure.
 */

export type AbiType =
  | { readonly kind: 'int'; readonly signed: boolean; readonly bits: number; readonly name: string }
  | { readonly kind: 'address'; readonly name: string }
  | { readonly kind: 'bool'; readonly name: string }
  | { readonly kind: 'bytes'; readonly name: string }
  | { readonly kind: 'string'; readonly name: string }
  | { readonly kind: 'fixedBytes'; readonly size: number; readonly name: string }
  | { readonly kind: 'array'; readonly item: AbiType; readonly length: number | null; readonly name: string }
  | { readonly kind: 'tuple'; readonly parts: readonly AbiPart[]; readonly name: string };

/** A parameter or a field of a tuple. `label` is its name in the source, or empty. */
export interface AbiPart {
  readonly label: string;
  readonly type: AbiType;
}

/** Bytes and addresses are lower-case hex. The values of a tuple are a list. */
export type AbiValue = bigint | boolean | string | readonly AbiValue[];

/** Data that does not fit its types, or a type that Solidity does not have. */
export class AbiFault extends Error {}

const WORD_DIGITS = 64;
/** Most values of one decoding. Short data can name the same bytes again and again. */
const VALUES_MAX = 20_000;
/** Most hex digits that the values of one decoding may have together. */
const DIGITS_MAX = 8_000_000;
/** Deepest nesting of arrays and tuples. */
const DEPTH_MAX = 16;
const PARTS_MAX = 256;
/** Longest array with a length in its type. */
const LENGTH_MAX = 10_000;

/** Reads a parameter of a JSON ABI. Throws AbiFault. */
export function readPart(parameter: unknown, depth = 0): AbiPart {
  if (depth > DEPTH_MAX) throw new AbiFault('the type is nested too deeply');
  const { name, type, components } = fieldsOf(parameter);
  if (typeof type !== 'string') throw new AbiFault('a parameter has no type');
  return { label: typeof name === 'string' ? name : '', type: readType(type, components, depth) };
}

function fieldsOf(parameter: unknown): { name?: unknown; type?: unknown; components?: unknown } {
  return typeof parameter === 'object' && parameter !== null ? parameter : {};
}

function readType(text: string, components: unknown, depth: number): AbiType {
  const [, itemText, length = ''] = /^(.+)\[(\d{0,5})\]$/.exec(text) ?? [];
  if (itemText !== undefined) {
    if (depth > DEPTH_MAX || Number(length) > LENGTH_MAX) throw new AbiFault(`${text} is too large a type`);
    const item = readType(itemText, components, depth + 1);
    const count = length === '' ? null : Number(length);
    return { kind: 'array', item, length: count, name: `${item.name}[${length}]` };
  }
  if (text === 'tuple') {
    if (!Array.isArray(components) || components.length > PARTS_MAX)
      throw new AbiFault('the fields of a tuple are missing');
    const parts = components.map((part: unknown) => readPart(part, depth + 1));
    return { kind: 'tuple', parts, name: `(${parts.map(({ type }) => type.name).join(',')})` };
  }
  return readPlainType(text);
}

function readPlainType(text: string): AbiType {
  if (text === 'address' || text === 'bool' || text === 'bytes' || text === 'string')
    return { kind: text, name: text };
  if (text === 'function') return { kind: 'fixedBytes', size: 24, name: text };
  const [, prefix = '', digits = ''] = /^(uint|int|bytes)(\d{0,3})$/.exec(text) ?? [];
  const size = Number(digits);
  if (prefix === 'bytes' && size >= 1 && size <= 32) return { kind: 'fixedBytes', size, name: text };
  const bits = digits === '' ? 256 : size;
  if (/int$/.test(prefix) && bits % 8 === 0 && bits >= 8 && bits <= 256)
    return { kind: 'int', signed: prefix === 'int', bits, name: `${prefix}${bits}` };
  throw new AbiFault(`the type ${text} is not supported`);
}

/** Least and greatest value of an integer type. */
export function rangeOf(bits: number, signed: boolean): readonly [min: bigint, max: bigint] {
  const signBit = 1n << BigInt(bits - 1);
  return signed ? [-signBit, signBit - 1n] : [0n, signBit * 2n - 1n];
}

function isDynamic(type: AbiType): boolean {
  if (type.kind === 'array') return type.length === null || isDynamic(type.item);
  if (type.kind === 'tuple') return type.parts.some((part) => isDynamic(part.type));
  return type.kind === 'bytes' || type.kind === 'string';
}

/** Length of the head in hex digits. The head is the value, or the offset of a value of dynamic length. */
function headDigitsOf(type: AbiType): number {
  if (isDynamic(type)) return WORD_DIGITS;
  if (type.kind === 'array') return (type.length ?? 0) * headDigitsOf(type.item);
  if (type.kind === 'tuple') return type.parts.reduce((sum, part) => sum + headDigitsOf(part.type), 0);
  return WORD_DIGITS;
}

const wordOf = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(WORD_DIGITS, '0');
const padRight = (hex: string): string => hex.padEnd(Math.ceil(hex.length / WORD_DIGITS) * WORD_DIGITS, '0');

/** Encodes values that have already been checked against their types. Hex without 0x. */
export function encode(types: readonly AbiType[], values: readonly AbiValue[]): string {
  let offset = types.reduce((sum, type) => sum + headDigitsOf(type), 0);
  const heads: string[] = [];
  const tails: string[] = [];
  types.forEach((type, index) => {
    const encodedValue = encodeValue(type, values[index] ?? '');
    if (!isDynamic(type)) return void heads.push(encodedValue);
    heads.push(wordOf(BigInt(offset / 2)));
    tails.push(encodedValue);
    offset += encodedValue.length;
  });
  return heads.join('') + tails.join('');
}

function encodeValue(type: AbiType, value: AbiValue): string {
  if (type.kind === 'array' || type.kind === 'tuple') {
    const values = Array.isArray(value) ? value : [];
    if (type.kind === 'tuple')
      return encode(
        type.parts.map((part) => part.type),
        values,
      );
    const body = encode(
      values.map(() => type.item),
      values,
    );
    return type.length === null ? wordOf(BigInt(values.length)) + body : body;
  }
  if (typeof value === 'bigint') return wordOf(value);
  if (typeof value === 'boolean') return wordOf(value ? 1n : 0n);
  const text = typeof value === 'string' ? value : '';
  if (type.kind === 'address') return wordOf(BigInt(text));
  const digits = type.kind === 'string' ? hexOfText(text) : text.slice(2);
  return type.kind === 'fixedBytes' ? padRight(digits) : wordOf(BigInt(digits.length / 2)) + padRight(digits);
}

function hexOfText(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Decodes hex with 0x. Throws AbiFault if the data does not fit the types. */
export function decode(types: readonly AbiType[], data: string): AbiValue[] {
  return new Decoder(data.slice(2).toLowerCase()).decodeList(types, 0);
}

class Decoder {
  private readonly data: string;
  private valuesRead = 0;
  private digitsRead = 0;

  constructor(data: string) {
    this.data = data;
  }

  /** The values of types whose heads stand one after another from `start`, counted in hex digits. */
  decodeList(types: readonly AbiType[], start: number): AbiValue[] {
    let headStart = start;
    return types.map((type) => {
      const valueStart = isDynamic(type) ? start + this.readSize(headStart) * 2 : headStart;
      headStart += headDigitsOf(type);
      return this.decodeValue(type, valueStart);
    });
  }

  private decodeValue(type: AbiType, start: number): AbiValue {
    this.valuesRead += 1;
    if (this.valuesRead > VALUES_MAX) throw new AbiFault('the data has too many values');
    if (type.kind === 'tuple')
      return this.decodeList(
        type.parts.map((part) => part.type),
        start,
      );
    if (type.kind === 'array') {
      const count = type.length ?? this.readSize(start);
      if (count > VALUES_MAX) throw new AbiFault('the data has too many values');
      return this.decodeList(
        new Array<AbiType>(count).fill(type.item),
        type.length === null ? start + WORD_DIGITS : start,
      );
    }
    if (type.kind === 'bytes' || type.kind === 'string') {
      const digits = this.takeDigits(start + WORD_DIGITS, this.readSize(start) * 2);
      return type.kind === 'bytes' ? `0x${digits}` : textOfHex(digits);
    }
    return readWord(type, this.takeDigits(start, WORD_DIGITS));
  }

  private takeDigits(start: number, count: number): string {
    if (start + count > this.data.length) throw new AbiFault('the data is too short for its types');
    this.digitsRead += count;
    if (this.digitsRead > DIGITS_MAX) throw new AbiFault('the data has too many values');
    return this.data.slice(start, start + count);
  }

  /**
   * An offset or a length in bytes, or a number of items. The limit is coarse, because it counts hex digits: two are a byte,
   * and an item has at least 64. `takeDigits` checks the end of the data.
   */
  private readSize(start: number): number {
    const size = BigInt(`0x${this.takeDigits(start, WORD_DIGITS)}`);
    if (size > BigInt(this.data.length)) throw new AbiFault('the data is too short for its types');
    return Number(size);
  }
}

/** Bits outside of the type must be zero, or copies of the sign. Otherwise the data is of another type. */
function readWord(type: AbiType, digits: string): AbiValue {
  const value = BigInt(`0x${digits}`);
  if (type.kind === 'int') {
    const number = type.signed ? BigInt.asIntN(256, value) : value;
    const [min, max] = rangeOf(type.bits, type.signed);
    if (number < min || number > max) throw new AbiFault(`the data is no ${type.name}`);
    return number;
  }
  if (type.kind === 'bool') {
    if (value > 1n) throw new AbiFault('the data is no bool');
    return value === 1n;
  }
  if (type.kind === 'address') {
    if (value >= 1n << 160n) throw new AbiFault('the data is no address');
    return `0x${digits.slice(-40)}`;
  }
  const length = type.kind === 'fixedBytes' ? type.size * 2 : WORD_DIGITS;
  if (/[^0]/.test(digits.slice(length))) throw new AbiFault(`the data is no ${type.name}`);
  return `0x${digits.slice(0, length)}`;
}

function textOfHex(digits: string): string {
  const bytes = (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
