/** Compares the bytes of RowBinary values with Buffer's own methods and a plain two's complement. */
import { RowWriter } from '../../../../src/clickhouse/rows/rowWriter';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

const written = (write: (writer: RowWriter) => void): string => {
  // The initial size is so small that the buffer has to grow.
  const writer = new RowWriter(1);
  writer.u8(7);
  write(writer);
  const bytes = writer.view();
  expect(bytes[0]).toBe(7);
  return bytes.subarray(1).toString('hex');
};

/** Little-endian two's complement, byte by byte. */
function plain(value: bigint, bytes: number): string {
  const digits: string[] = [];
  for (let index = 0; index < bytes; index += 1)
    digits.push(
      Number((value >> BigInt(8 * index)) & 0xffn)
        .toString(16)
        .padStart(2, '0'),
    );
  return digits.join('');
}

test('wide integers of any size and sign are written as little-endian two’s complement', () => {
  const random = new Random(SEED);
  const edges = [
    0n,
    1n,
    -1n,
    2n ** 63n,
    2n ** 64n - 1n,
    2n ** 64n,
    -(2n ** 64n),
    2n ** 127n - 1n,
    -(2n ** 127n),
  ];
  const values = [...edges];
  for (let index = 0; index < 2_000; index += 1) {
    const bits = random.int(1, 126);
    let value = 0n;
    for (let bit = 0; bit < bits; bit += 1) value = value * 2n + BigInt(random.int(0, 1));
    values.push(value, -value);
  }
  for (const value of values) {
    expect(written((w) => w.i256(value))).toBe(plain(value, 32));
    expect(written((w) => w.decimal128(value))).toBe(plain(value, 16));
    if (value >= 0n) expect(written((w) => w.u256(value << 128n))).toBe(plain(value << 128n, 32));
  }
  expect(written((w) => w.u256(2n ** 256n - 1n))).toBe('ff'.repeat(32));
  expect(written((w) => w.u128(2n ** 128n - 1n))).toBe('ff'.repeat(16));
  expect(written((w) => w.i256(-(2n ** 255n)))).toBe(`${'00'.repeat(31)}80`);
});

test('numbers are encoded as by the methods of Buffer', () => {
  const buffer = Buffer.alloc(8);
  for (const value of [0, 1, 255, 65_535, 4_294_967_295]) {
    buffer.writeUInt32LE(value);
    expect(written((w) => w.u32(value))).toBe(buffer.toString('hex', 0, 4));
  }
  for (const value of [0, -1, 2_147_483_647, -2_147_483_648]) {
    buffer.writeInt32LE(value);
    expect(written((w) => w.i32(value))).toBe(buffer.toString('hex', 0, 4));
  }
  for (const value of [0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    buffer.writeBigUInt64LE(BigInt(value));
    expect(written((w) => w.u64(value))).toBe(buffer.toString('hex'));
    expect(written((w) => w.bigU64(BigInt(value)))).toBe(buffer.toString('hex'));
  }
  for (const value of [0, -0.5, 1e-300, Infinity, Math.PI]) {
    buffer.writeDoubleLE(value);
    expect(written((w) => w.f64(value))).toBe(buffer.toString('hex'));
  }
});

test('a number out of the range of its column type is refused and never truncated', () => {
  const writer = new RowWriter();
  expect(() => writer.u8(256)).toThrow('expected a value of UInt8, got 256');
  expect(() => writer.u16(-1)).toThrow('expected a value of UInt16, got -1');
  expect(() => writer.u32(2 ** 32)).toThrow('expected a value of UInt32, got 4294967296');
  expect(() => writer.u32(1.5)).toThrow('expected a value of UInt32, got 1.5');
  expect(() => writer.u32(NaN)).toThrow('expected a value of UInt32, got NaN');
  expect(() => writer.i32(2 ** 31)).toThrow('expected a value of Int32, got 2147483648');
  expect(() => writer.u64(2 ** 53)).toThrow('expected a value of UInt64, got 9007199254740992');
  expect(() => writer.bigU64(2n ** 64n)).toThrow('expected a value of UInt64, got 18446744073709551616');
  const address = `0x${'12'.repeat(20)}`;
  for (const wrong of [
    address.slice(0, -1),
    `${address}56`,
    ...['g', '\u0130', 'é'].map((c) => address.slice(0, -1) + c),
  ])
    expect(() => writer.fixed(wrong, 20)).toThrow(`expected 20 bytes of hex, got ${wrong}`);
  expect(() => writer.fixed(address, 32)).toThrow(`expected 32 bytes of hex, got ${address}`);
});

test('addresses and hashes are written as by Buffer, whether they come for the first time or again', () => {
  const random = new Random(SEED);
  const digits = (count: number): string =>
    Array.from({ length: count }, () => random.pick([...'0123456789abcdef'])).join('');
  // Many texts have the same last digits, so they replace each other.
  const texts = Array.from(
    { length: 300 },
    () => digits(random.pick([36, 60])) + random.pick(['0000', 'abcd']),
  );
  for (let round = 0; round < 2_000; round += 1) {
    const text = random.pick(texts);
    if (random.int(0, 9) === 0)
      expect(() => new RowWriter().fixed(`0x${text.slice(0, -1)}g`, text.length / 2)).toThrow('bytes of hex');
    expect(written((w) => w.fixed(`0x${text}`, text.length / 2))).toBe(text);
  }
});
