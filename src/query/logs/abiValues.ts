/**
 * Decodes ABI-encoded values from a log's data, even if only the first bytes of the data are kept. Several
 * offsets may point to the same bytes, so a few kilobytes could expand to gigabytes. Work and result are
 * therefore limited by the length of the data. Encoding:
 * https://docs.soliditylang.org/en/latest/abi-spec.html
 */
import type { ParamType } from 'ethers';

type DecodedValue = string | boolean | readonly DecodedValue[] | readonly DecodedField[];

/** The bytes of a text that is not valid UTF-8, as hex. Of an array: one entry per item, null for a valid text. */
export type RawText = string | readonly (RawText | null)[];

export interface DecodedField {
  readonly name: string;
  /** The type as written in a signature. */
  readonly type: string;
  readonly value: DecodedValue;
  readonly raw?: RawText;
}

type Decoded = Pick<DecodedField, 'value' | 'raw'>;

/** Decodes a word of 64 lower-case hex digits. Throws for an invalid word. */
export type WordReader = (word: string) => string | boolean;

/** A type, prepared for decoding. `headBytes` is the number of bytes of the value in the head of its parent. 0
 * means that the head has an offset. */
export type Layout = { readonly headBytes: number } & (
  | { readonly kind: 'word'; readonly read: WordReader }
  | { readonly kind: 'bytes' | 'string' }
  | { readonly kind: 'list'; readonly item: Layout; readonly length: number | null }
  | { readonly kind: 'tuple'; readonly fields: readonly FieldLayout[] }
);

interface FieldLayout {
  readonly name: string;
  readonly type: string;
  readonly layout: Layout;
}

interface ReadValue {
  /** The value; null if the log has none of the value's bytes. */
  readonly value: DecodedValue | null;
  readonly raw?: RawText;
  /** True if the log lacks a part of the value. */
  readonly truncated: boolean;
}

const WORD_BYTES = 32;
/**
 * Limit on the size of decoded values: characters of output per byte of data, including names and types of
 * tuple fields. Tuples with short names need 5 characters per byte.
 */
const CHARS_PER_BYTE = 8;
const CHARS_MIN = 4_096;
/** Number of characters for quotes, commas and keys of a value. */
const CHARS_PER_VALUE = 40;

/** Prepares a type for decoding. Throws for an unknown type. */
export function layoutOf(type: ParamType): Layout {
  if (type.isArray()) {
    const item = layoutOf(type.arrayChildren);
    const length = type.arrayLength < 0 ? null : type.arrayLength;
    return { kind: 'list', item, length, headBytes: length === null ? 0 : length * item.headBytes };
  }
  if (type.isTuple()) {
    const fields = type.components.map((component) => ({
      name: component.name,
      type: component.format('sighash'),
      layout: layoutOf(component),
    }));
    const isDynamic = fields.some(({ layout }) => layout.headBytes === 0);
    return { kind: 'tuple', fields, headBytes: isDynamic ? 0 : sumOfHeadBytes(fields) };
  }
  if (type.type === 'bytes' || type.type === 'string') return { kind: type.type, headBytes: 0 };
  const read = wordReaderOf(type.type);
  if (read === null) throw new Error(`unknown ABI type ${type.type}`);
  return { kind: 'word', read, headBytes: WORD_BYTES };
}

const headBytesOf = ({ headBytes }: Layout): number => headBytes || WORD_BYTES;

function sumOfHeadBytes(fields: readonly FieldLayout[]): number {
  return fields.reduce((sum, { layout }) => sum + headBytesOf(layout), 0);
}

/** The value is in the log's data, but after the first bytes that are kept. */
class NotKept extends Error {}

/**
 * The values of parameters in their order. `keptData` has the first bytes of the data, whose full length is
 * `dataBytes`. Throws for invalid encoding, and for values far longer than the data.
 */
export function readValues(layouts: readonly Layout[], keptData: Buffer, dataBytes: number): ReadValue[] {
  const reader = new ValueReader(keptData, dataBytes);
  let headStart = 0;
  return layouts.map((layout) => {
    const valueHead = headStart;
    headStart += headBytesOf(layout);
    return reader.readWhole(layout, valueHead);
  });
}

class ValueReader {
  private truncated = false;
  private charsLeft: number;

  constructor(
    private readonly keptData: Buffer,
    private readonly dataBytes: number,
  ) {
    this.charsLeft = CHARS_MIN + CHARS_PER_BYTE * dataBytes;
  }

  readWhole(layout: Layout, headStart: number): ReadValue {
    this.truncated = false;
    try {
      return { ...this.read(layout, 0, headStart), truncated: this.truncated };
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      return { value: null, truncated: true };
    }
  }

  /** `offsetBase` is the position from which the offset in the head counts. */
  private read(layout: Layout, offsetBase: number, headStart: number): Decoded {
    const valueStart = layout.headBytes === 0 ? offsetBase + this.readLength(headStart) : headStart;
    switch (layout.kind) {
      case 'word':
        return { value: this.readWord(layout.read, valueStart) };
      case 'list':
        return this.readList(layout.item, layout.length, valueStart);
      case 'tuple':
        return { value: this.readTuple(layout.fields, valueStart) };
      default:
        return this.readText(layout.kind, valueStart);
    }
  }

  private readWord(read: WordReader, wordStart: number): string | boolean {
    const value = read(this.takeBytes(wordStart, WORD_BYTES).toString('hex'));
    this.spendChars(String(value).length);
    return value;
  }

  private readTuple(fields: readonly FieldLayout[], tupleStart: number): DecodedField[] {
    let headStart = tupleStart;
    return fields.map(({ name, type, layout }) => {
      const fieldHead = headStart;
      headStart += headBytesOf(layout);
      this.spendChars(name.length + type.length + CHARS_PER_VALUE);
      return { name, type, ...this.read(layout, tupleStart, fieldHead) };
    });
  }

  /** The items of an array. Items without any kept byte are left out. */
  private readList(item: Layout, length: number | null, listStart: number): Decoded {
    const itemsStart = length === null ? listStart + WORD_BYTES : listStart;
    const count = length ?? this.readLength(listStart);
    if (count * WORD_BYTES > this.dataBytes) throw new RangeError('the list is longer than the data');
    const items: Decoded[] = [];
    try {
      for (let index = 0; index < count; index += 1) {
        this.spendChars(3);
        items.push(this.read(item, itemsStart, itemsStart + index * headBytesOf(item)));
      }
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      this.truncated = true;
    }
    const value = items.map((item) => item.value);
    const hasRaw = items.some(({ raw }) => raw !== undefined);
    return hasRaw ? { value, raw: items.map(({ raw = null }) => raw) } : { value };
  }

  private readText(kind: 'bytes' | 'string', textStart: number): Decoded {
    const length = this.readLength(textStart);
    const bytesStart = textStart + WORD_BYTES;
    // Encoders pad data to a whole word.
    if (bytesStart + Math.ceil(length / WORD_BYTES) * WORD_BYTES > this.dataBytes)
      throw new RangeError('the value ends after the data');
    if (length > 0 && bytesStart >= this.keptData.length) throw new NotKept();
    const keptBytes = this.keptData.subarray(bytesStart, bytesStart + length);
    const isCut = keptBytes.length < length;
    if (isCut) this.truncated = true;
    this.spendChars(2 * keptBytes.length);
    if (kind === 'bytes') return { value: toHex(keptBytes) };
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return { value: decoder.decode(keptBytes, { stream: isCut }) };
    } catch {
      this.spendChars(2 * keptBytes.length);
      return {
        value: new TextDecoder('utf-8', { ignoreBOM: true }).decode(keptBytes),
        raw: toHex(keptBytes),
      };
    }
  }

  /** Reads a length or an offset. */
  private readLength(wordStart: number): number {
    const word = this.takeBytes(wordStart, WORD_BYTES);
    const isTooLarge = word.subarray(0, 26).some((byte) => byte !== 0);
    if (isTooLarge) throw new RangeError('the length or offset exceeds 6 bytes');
    return word.readUIntBE(26, 6);
  }

  private takeBytes(start: number, length: number): Buffer {
    if (start + length > this.dataBytes) throw new RangeError('the value ends after the data');
    if (start + length > this.keptData.length) throw new NotKept();
    return this.keptData.subarray(start, start + length);
  }

  private spendChars(chars: number): void {
    this.charsLeft -= chars;
    if (this.charsLeft < 0) throw new RangeError('the decoded values are much longer than the data');
  }
}

const toHex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;

/** Readers of one-word types. As in ethers, unused high bits are cut off, except for an address. */
export function wordReaderOf(type: string): WordReader | null {
  if (type === 'address') return readAddressWord;
  if (type === 'bool') return (word) => BigInt(`0x${word}`) !== 0n;
  const byteCount = /^bytes(\d+)$/.exec(type)?.[1];
  if (byteCount !== undefined) return (word) => `0x${word.slice(0, 2 * Number(byteCount))}`;
  const [, unsignedMark, bitCount] = /^(u?)int(\d+)$/.exec(type) ?? [];
  if (bitCount === undefined) return null;
  const cutToBits = unsignedMark === 'u' ? BigInt.asUintN : BigInt.asIntN;
  return (word) => cutToBits(Number(bitCount), BigInt(`0x${word}`)).toString();
}

function readAddressWord(word: string): string {
  if (!word.startsWith('0'.repeat(24))) throw new Error('the word of an address begins with non-zero bytes');
  return `0x${word.slice(24)}`;
}
