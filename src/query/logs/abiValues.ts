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

/** A type, prepared for decoding. `heads` is the number of bytes of the value in the head of its parent. 0
 * means that the head has an offset. */
export type Layout = { readonly heads: number } & (
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

const WORD = 32;
/**
 * Limit on the size of decoded values: characters of output per byte of data, including names and types of
 * tuple fields. Tuples with short names need 5 characters per byte.
 */
const TEXT_PER_BYTE = 8;
const TEXT_MIN = 4_096;
/** Number of characters for quotes, commas and keys of a value. */
const TEXT_PER_VALUE = 40;

/** Prepares a type for decoding. Throws for an unknown type. */
export function layoutOf(type: ParamType): Layout {
  if (type.isArray()) {
    const item = layoutOf(type.arrayChildren);
    const length = type.arrayLength < 0 ? null : type.arrayLength;
    return { kind: 'list', item, length, heads: length === null ? 0 : length * item.heads };
  }
  if (type.isTuple()) {
    const fields = type.components.map((component) => ({
      name: component.name,
      type: component.format('sighash'),
      layout: layoutOf(component),
    }));
    const isDynamic = fields.some(({ layout }) => layout.heads === 0);
    return { kind: 'tuple', fields, heads: isDynamic ? 0 : sumOfHeads(fields) };
  }
  if (type.type === 'bytes' || type.type === 'string') return { kind: type.type, heads: 0 };
  const read = wordReaderOf(type.type);
  if (read === null) throw new Error(`unknown ABI type ${type.type}`);
  return { kind: 'word', read, heads: WORD };
}

const headOf = ({ heads }: Layout): number => heads || WORD;

function sumOfHeads(fields: readonly FieldLayout[]): number {
  return fields.reduce((sum, { layout }) => sum + headOf(layout), 0);
}

/** The value is in the log's data, but after the first bytes that are kept. */
class NotKept extends Error {}

/**
 * The values of parameters in their order. `kept` has the first bytes of the data, whose full length is
 * `bytes`. Throws for invalid encoding, and for values far longer than the data.
 */
export function readValues(layouts: readonly Layout[], kept: Buffer, bytes: number): ReadValue[] {
  const reader = new ValueReader(kept, bytes);
  let at = 0;
  return layouts.map((layout) => {
    const head = at;
    at += headOf(layout);
    return reader.readWhole(layout, head);
  });
}

class ValueReader {
  private truncated = false;
  private textLeft: number;

  constructor(
    private readonly kept: Buffer,
    private readonly bytes: number,
  ) {
    this.textLeft = TEXT_MIN + TEXT_PER_BYTE * bytes;
  }

  readWhole(layout: Layout, head: number): ReadValue {
    this.truncated = false;
    try {
      return { ...this.read(layout, 0, head), truncated: this.truncated };
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      return { value: null, truncated: true };
    }
  }

  /** `base` is the position from which the offset in the head counts. */
  private read(layout: Layout, base: number, head: number): Decoded {
    const at = layout.heads === 0 ? base + this.number(head) : head;
    switch (layout.kind) {
      case 'word':
        return { value: this.word(layout.read, at) };
      case 'list':
        return this.list(layout.item, layout.length, at);
      case 'tuple':
        return { value: this.tuple(layout.fields, at) };
      default:
        return this.text(layout.kind, at);
    }
  }

  private word(read: WordReader, at: number): string | boolean {
    const value = read(this.take(at, WORD).toString('hex'));
    this.spend(String(value).length);
    return value;
  }

  private tuple(fields: readonly FieldLayout[], base: number): DecodedField[] {
    let at = base;
    return fields.map(({ name, type, layout }) => {
      const head = at;
      at += headOf(layout);
      this.spend(name.length + type.length + TEXT_PER_VALUE);
      return { name, type, ...this.read(layout, base, head) };
    });
  }

  /** The items of an array. Items without any kept byte are left out. */
  private list(item: Layout, length: number | null, at: number): Decoded {
    const base = length === null ? at + WORD : at;
    const count = length ?? this.number(at);
    if (count * WORD > this.bytes) throw new RangeError('the list is longer than the data');
    const items: Decoded[] = [];
    try {
      for (let index = 0; index < count; index += 1) {
        this.spend(3);
        items.push(this.read(item, base, base + index * headOf(item)));
      }
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
      this.truncated = true;
    }
    const value = items.map((each) => each.value);
    const hasRaw = items.some(({ raw }) => raw !== undefined);
    return hasRaw ? { value, raw: items.map(({ raw = null }) => raw) } : { value };
  }

  private text(kind: 'bytes' | 'string', at: number): Decoded {
    const length = this.number(at);
    const from = at + WORD;
    // Encoders pad data to a whole word.
    if (from + Math.ceil(length / WORD) * WORD > this.bytes)
      throw new RangeError('the value ends after the data');
    if (length > 0 && from >= this.kept.length) throw new NotKept();
    const value = this.kept.subarray(from, from + length);
    const isCut = value.length < length;
    if (isCut) this.truncated = true;
    this.spend(2 * value.length);
    if (kind === 'bytes') return { value: toHex(value) };
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return { value: decoder.decode(value, { stream: isCut }) };
    } catch {
      this.spend(2 * value.length);
      return { value: new TextDecoder('utf-8', { ignoreBOM: true }).decode(value), raw: toHex(value) };
    }
  }

  /** Reads a length or an offset. */
  private number(at: number): number {
    const word = this.take(at, WORD);
    const high = word.subarray(0, 26).some((byte) => byte !== 0);
    if (high) throw new RangeError('the length or offset exceeds 6 bytes');
    return word.readUIntBE(26, 6);
  }

  private take(at: number, length: number): Buffer {
    if (at + length > this.bytes) throw new RangeError('the value ends after the data');
    if (at + length > this.kept.length) throw new NotKept();
    return this.kept.subarray(at, at + length);
  }

  private spend(text: number): void {
    this.textLeft -= text;
    if (this.textLeft < 0) throw new RangeError('the decoded values are much longer than the data');
  }
}

const toHex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;

/** Readers of one-word types. As in ethers, unused high bits are cut off, except for an address. */
export function wordReaderOf(type: string): WordReader | null {
  if (type === 'address') return readAddressWord;
  if (type === 'bool') return (word) => BigInt(`0x${word}`) !== 0n;
  const bytes = /^bytes(\d+)$/.exec(type)?.[1];
  if (bytes !== undefined) return (word) => `0x${word.slice(0, 2 * Number(bytes))}`;
  const [, sign, bits] = /^(u?)int(\d+)$/.exec(type) ?? [];
  if (bits === undefined) return null;
  const cut = sign === 'u' ? BigInt.asUintN : BigInt.asIntN;
  return (word) => cut(Number(bits), BigInt(`0x${word}`)).toString();
}

function readAddressWord(word: string): string {
  if (!word.startsWith('0'.repeat(24))) throw new Error('the word of an address begins with non-zero bytes');
  return `0x${word.slice(24)}`;
}
