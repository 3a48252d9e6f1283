/**
 * Writes RLP from the last byte to the first. When a list is closed, its length is known, so no length is
 * computed beforehand and no bytes are moved. Items of a list are therefore written in reverse order.
 */

const START_BYTES = 1 << 18;
/** First bytes of an empty string and of an empty list. */
const STRING = 0x80;
const LIST = 0xc0;
/** Longest item whose length is part of its first byte. */
const SHORT_MAX = 55;
const ZERO_CHARACTER = 48;

/** A value that cannot be encoded. */
export class EncodeError extends Error {}

/** A value that this program cannot encode, although it may be right: its format is unknown, or fields are missing. */
export class UnknownFormat extends EncodeError {}

export class RlpWriter {
  private buffer: Buffer;
  private start: number;

  /** The writer makes room for more than `startBytes` when it needs it. */
  constructor(startBytes = START_BYTES) {
    this.buffer = Buffer.allocUnsafeSlow(startBytes);
    this.start = startBytes;
  }

  /** Number of bytes written so far. The value before the items of a list is the `mark` for `list`. */
  get size(): number {
    return this.buffer.length - this.start;
  }

  clear(): void {
    this.start = this.buffer.length;
  }

  /** The bytes written after `mark`. They stay valid until `clear`. */
  since(mark: number): Buffer {
    return this.buffer.subarray(this.start, this.buffer.length - mark);
  }

  byte(value: number): void {
    this.reserve(1);
    this.start -= 1;
    this.buffer[this.start] = value;
  }

  /** A string of bytes, given as 0x-prefixed hex. */
  data(hex: unknown, name: string, length?: number): void {
    if (typeof hex !== 'string' || !hex.startsWith('0x')) throw new EncodeError(`${name} is not hex`);
    if (length !== undefined && hex.length !== 2 + 2 * length)
      throw new EncodeError(`${name} does not have ${length} bytes`);
    this.digits(hex.slice(2), name);
  }

  /** An integer, given as 0x-prefixed hex with or without leading zeros. */
  quantity(hex: unknown, name: string): void {
    if (typeof hex !== 'string' || !hex.startsWith('0x')) throw new EncodeError(`${name} is not hex`);
    let from = 2;
    while (hex.charCodeAt(from) === ZERO_CHARACTER) from += 1;
    const digits = hex.slice(from);
    this.digits(digits.length % 2 === 0 ? digits : `0${digits}`, name);
  }

  bytes(bytes: Uint8Array): void {
    this.raw(bytes);
    this.stringHeader(bytes.length);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.start -= bytes.length;
    this.buffer.set(bytes, this.start);
  }

  /** Closes the list of the items written after `mark`. */
  list(mark: number): void {
    this.header(this.size - mark, LIST);
  }

  /** Closes the string of the bytes written after `mark`. */
  string(mark: number): void {
    this.stringHeader(this.size - mark);
  }

  private digits(digits: string, name: string): void {
    const length = digits.length >> 1;
    this.reserve(length);
    this.start -= length;
    if (digits.length % 2 !== 0 || this.buffer.write(digits, this.start, length, 'hex') !== length)
      throw new EncodeError(`${name} is not hex`);
    this.stringHeader(length);
  }

  private stringHeader(length: number): void {
    if (length !== 1 || (this.buffer[this.start] ?? 0) >= STRING) this.header(length, STRING);
  }

  private header(length: number, base: number): void {
    if (length <= SHORT_MAX) return this.byte(base + length);
    let lengthBytes = 0;
    for (let remaining = length; remaining > 0; remaining = Math.floor(remaining / 256)) {
      this.byte(remaining % 256);
      lengthBytes += 1;
    }
    this.byte(base + SHORT_MAX + lengthBytes);
  }

  private reserve(length: number): void {
    if (this.start >= length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.buffer.length + length));
    const start = larger.length - this.size;
    this.buffer.copy(larger, start, this.start);
    this.buffer = larger;
    this.start = start;
  }
}
