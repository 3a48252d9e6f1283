/**
 * Writes ClickHouse's RowBinary into a growing buffer. Hex strings become bytes, and integers are
 * little-endian. A value out of range throws a RangeError, which means a bug in the caller. Format:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
import { RecentBytes } from './recentBytes';

const START_BYTES = 1 << 16;

const recentBytes = new RecentBytes();

export class RowWriter {
  private buffer: Buffer;
  /** A view of the same bytes. DataView writes numbers faster than Buffer's methods. */
  private words: DataView;
  private position = 0;

  constructor(startBytes = START_BYTES) {
    this.buffer = Buffer.allocUnsafeSlow(startBytes);
    this.words = viewOf(this.buffer);
  }

  get length(): number {
    return this.position;
  }

  /** A view of the bytes written so far, valid until the next reset. */
  view(): Buffer {
    return this.buffer.subarray(0, this.position);
  }

  reset(): void {
    this.position = 0;
  }

  private reserve(bytes: number): number {
    const start = this.position;
    const end = start + bytes;
    if (end > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, start);
      this.buffer = larger;
      this.words = viewOf(larger);
    }
    this.position = end;
    return start;
  }

  u8(value: number): void {
    if ((value & 0xff) !== value) throw outOfRange('UInt8', value);
    const start = this.reserve(1);
    this.buffer[start] = value;
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  u16(value: number): void {
    if ((value & 0xffff) !== value) throw outOfRange('UInt16', value);
    const start = this.reserve(2);
    this.words.setUint16(start, value, true);
  }

  u32(value: number): void {
    if (value >>> 0 !== value) throw outOfRange('UInt32', value);
    const start = this.reserve(4);
    this.words.setUint32(start, value, true);
  }

  i32(value: number): void {
    if ((value | 0) !== value) throw outOfRange('Int32', value);
    const start = this.reserve(4);
    this.words.setInt32(start, value, true);
  }

  /** Writes an unsigned 64-bit value, given as a safe integer. */
  u64(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw outOfRange('UInt64', value);
    const start = this.reserve(8);
    const high = Math.floor(value / 2 ** 32);
    this.words.setUint32(start, value - high * 2 ** 32, true);
    this.words.setUint32(start + 4, high, true);
  }

  /** Writes any unsigned 64-bit value. */
  bigU64(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) throw outOfRange('UInt64', value);
    const start = this.reserve(8);
    this.words.setBigUint64(start, value, true);
  }

  f64(value: number): void {
    const start = this.reserve(8);
    this.words.setFloat64(start, value, true);
  }

  /** Writes an integer of `bytes` bytes (16 or 32) in two's complement. */
  private wide(value: bigint, bytes: number): void {
    const start = this.reserve(bytes);
    this.words.setBigUint64(start, BigInt.asUintN(64, value), true);
    let remaining = value >> 64n;
    let offset = 8;
    // Most values fit into one or two words. The remaining bytes only repeat the sign.
    for (; offset < bytes && remaining !== 0n && remaining !== -1n; offset += 8) {
      this.words.setBigUint64(start + offset, BigInt.asUintN(64, remaining), true);
      remaining >>= 64n;
    }
    const sign = value < 0n ? 0xffff_ffff : 0;
    for (; offset < bytes; offset += 4) this.words.setUint32(start + offset, sign, true);
  }

  u128(value: bigint): void {
    this.wide(value, 16);
  }

  u256(value: bigint): void {
    this.wide(value, 32);
  }

  i256(value: bigint): void {
    this.wide(value, 32);
  }

  /** Writes a Decimal(38, S), given as the value times 10^S. */
  decimal128(scaled: bigint): void {
    this.wide(scaled, 16);
  }

  /** Writes 0x-hex of exactly `bytes` bytes: 20 or 32. */
  fixed(hex: string, bytes: number): void {
    const start = this.reserve(bytes);
    if (!recentBytes.write(hex, bytes, this.words, start))
      throw new RangeError(`expected ${bytes} bytes of hex, got ${hex}`);
  }

  zeros(bytes: number): void {
    const start = this.reserve(bytes);
    this.buffer.fill(0, start, start + bytes);
  }

  varint(value: number): void {
    let remaining = value;
    while (remaining > 0x7f) {
      this.u8((remaining & 0x7f) | 0x80);
      remaining = Math.floor(remaining / 128);
    }
    this.u8(remaining);
  }

  /** Writes a UTF-8 string with its length. */
  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.varint(bytes);
    const start = this.reserve(bytes);
    this.buffer.write(value, start, bytes, 'utf8');
  }

  /** Writes a String of bytes. */
  bytes(value: Buffer): void {
    this.varint(value.length);
    const start = this.reserve(value.length);
    value.copy(this.buffer, start);
  }

  /** Writes a String with the bytes of 0x-hex data. */
  hexString(hex: string): void {
    const bytes = (hex.length - 2) >> 1;
    this.varint(bytes);
    const start = this.reserve(bytes);
    if (bytes > 0) this.buffer.write(hex.slice(2), start, bytes, 'hex');
  }
}

function outOfRange(type: string, value: number | bigint): RangeError {
  return new RangeError(`expected a value of ${type}, got ${value}`);
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}
