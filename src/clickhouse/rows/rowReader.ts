/**
 * Reads ClickHouse's RowBinary, the counterpart of rowWriter, for frequent reads of many rows. Integers are
 * little-endian. Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */
import type { Hex } from '../../domain/hex';

const TWO_32 = 4_294_967_296;

export class RowReader {
  private offset = 0;

  constructor(private readonly bytes: Buffer) {}

  get position(): number {
    return this.offset;
  }

  /** Whether all bytes were read. Reading further throws a RangeError. */
  get done(): boolean {
    return this.offset >= this.bytes.length;
  }

  private take(bytes: number): number {
    const { offset: start } = this;
    this.offset = start + bytes;
    return start;
  }

  u8(): number {
    return this.bytes.readUInt8(this.take(1));
  }

  bool(): boolean {
    return this.u8() !== 0;
  }

  u16(): number {
    return this.bytes.readUInt16LE(this.take(2));
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }

  /** Reads a UInt64 as a float: exact up to 2^53, as for ords and counts. Larger values are rounded. */
  u64(): number {
    const start = this.take(8);
    return this.bytes.readUInt32LE(start) + this.bytes.readUInt32LE(start + 4) * TWO_32;
  }

  /** Reads a UInt64 exactly. */
  bigU64(): bigint {
    return this.bytes.readBigUInt64LE(this.take(8));
  }

  f64(): number {
    return this.bytes.readDoubleLE(this.take(8));
  }

  u256(): bigint {
    const start = this.take(32);
    let value = 0n;
    for (let word = 24; word >= 0; word -= 8) {
      const wordValue = this.bytes.readBigUInt64LE(start + word);
      // Most amounts fit into 64 or 128 bits, so those words are read first.
      if (value !== 0n) value = (value << 64n) | wordValue;
      else if (wordValue !== 0n) value = wordValue;
    }
    return value;
  }

  i32(): number {
    return this.bytes.readInt32LE(this.take(4));
  }

  u128(): bigint {
    const start = this.take(16);
    const low = this.bytes.readBigUInt64LE(start);
    const high = this.bytes.readBigUInt64LE(start + 8);
    return high === 0n ? low : (high << 64n) | low;
  }

  i256(): bigint {
    return BigInt.asIntN(256, this.u256());
  }

  /** Reads a Decimal(38, s) as an integer in units of 10^-s. */
  decimal128(): bigint {
    const start = this.take(16);
    const low = this.bytes.readBigUInt64LE(start);
    const high = this.bytes.readBigInt64LE(start + 8);
    return high === 0n ? low : (high << 64n) | low;
  }

  /** Reads a FixedString as lower-case hex without 0x. */
  hex(bytes: number): string {
    const start = this.take(bytes);
    return this.bytes.toString('hex', start, start + bytes);
  }

  /** Reads a FixedString as 0x-hex. */
  hex0x(bytes: number): Hex {
    return `0x${this.hex(bytes)}`;
  }

  /** Reads a String as 0x-hex. */
  text0x(): Hex {
    return this.hex0x(this.varUint());
  }

  /** Reads a String as UTF-8 text. */
  text(): string {
    const bytes = this.varUint();
    const start = this.take(bytes);
    return this.bytes.toString('utf8', start, start + bytes);
  }

  /** Reads a Nullable(T); `read` reads the T. */
  orNull<T>(read: () => T): T | null {
    return this.bool() ? null : read();
  }

  skip(bytes: number): void {
    this.take(bytes);
  }

  /** Reads a String as a view of its bytes. */
  slice(): Buffer {
    const bytes = this.varUint();
    const start = this.take(bytes);
    return this.bytes.subarray(start, start + bytes);
  }

  /** Reads a LEB128 number, which ClickHouse uses for lengths. */
  varUint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
}
