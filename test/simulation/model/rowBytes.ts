/**
 * Decodes rows of ClickHouse's RowBinary by type names. Shares no code with the product, so that an encoding error
 * shows here.
 */

/**
 * Fields by column. Integers up to 64 bits are numbers (bigints inside arrays), larger integers are bigints.
 * Bytes are 0x-hex.
 */
export type Fields = Readonly<Record<string, unknown>>;

interface RowShape {
  readonly columns: readonly string[];
  readonly types: readonly string[];
}

interface Cursor {
  readonly bytes: Buffer;
  position: number;
}

interface FieldCode {
  skip(cursor: Cursor): void;
  read(cursor: Cursor): unknown;
}

const readVarint = (cursor: Cursor): number => {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = cursor.bytes[cursor.position]!;
    cursor.position += 1;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
};

function fixedCode(size: number, readValue: (bytes: Buffer, at: number) => unknown): FieldCode {
  return {
    skip(cursor) {
      cursor.position += size;
    },
    read(cursor) {
      const value = readValue(cursor.bytes, cursor.position);
      cursor.position += size;
      return value;
    },
  };
}

function readWide(bytes: Buffer, offset: number, size: number, isSigned: boolean): bigint {
  let value = 0n;
  for (let word = size - 8; word >= 0; word -= 8) {
    const part = bytes.readBigUInt64LE(offset + word);
    value = value === 0n ? part : (value << 64n) | part;
  }
  return isSigned ? BigInt.asIntN(size * 8, value) : value;
}

function textCode(asHex: boolean): FieldCode {
  return {
    skip(cursor) {
      const length = readVarint(cursor);
      cursor.position += length;
    },
    read(cursor) {
      const length = readVarint(cursor);
      const value = cursor.bytes.toString(asHex ? 'hex' : 'utf8', cursor.position, cursor.position + length);
      cursor.position += length;
      return asHex ? `0x${value}` : value;
    },
  };
}

function nullableCode(inner: FieldCode): FieldCode {
  const isNull = (cursor: Cursor): boolean => {
    cursor.position += 1;
    return cursor.bytes[cursor.position - 1] === 1;
  };
  return {
    skip(cursor) {
      if (!isNull(cursor)) inner.skip(cursor);
    },
    read: (cursor) => (isNull(cursor) ? null : inner.read(cursor)),
  };
}

function arrayCode(inner: FieldCode): FieldCode {
  return {
    skip(cursor) {
      for (let remainingItems = readVarint(cursor); remainingItems > 0; remainingItems -= 1)
        inner.skip(cursor);
    },
    read(cursor) {
      const items: unknown[] = [];
      for (let remainingItems = readVarint(cursor); remainingItems > 0; remainingItems -= 1)
        items.push(inner.read(cursor));
      return items;
    },
  };
}

const SIMPLE: Readonly<Record<string, FieldCode>> = {
  UInt8: fixedCode(1, (bytes, at) => bytes[at]),
  Bool: fixedCode(1, (bytes, at) => bytes[at] === 1),
  UInt16: fixedCode(2, (bytes, at) => bytes.readUInt16LE(at)),
  UInt32: fixedCode(4, (bytes, at) => bytes.readUInt32LE(at)),
  Int32: fixedCode(4, (bytes, at) => bytes.readInt32LE(at)),
  UInt64: fixedCode(8, (bytes, at) => Number(bytes.readBigUInt64LE(at))),
  Float64: fixedCode(8, (bytes, at) => bytes.readDoubleLE(at)),
  UInt128: fixedCode(16, (bytes, at) => readWide(bytes, at, 16, false)),
  UInt256: fixedCode(32, (bytes, at) => readWide(bytes, at, 32, false)),
  Int256: fixedCode(32, (bytes, at) => readWide(bytes, at, 32, true)),
  'Decimal(38, 12)': fixedCode(16, (bytes, at) => readWide(bytes, at, 16, true)),
  'FixedString(20)': fixedCode(20, (bytes, at) => `0x${bytes.toString('hex', at, at + 20)}`),
  'FixedString(32)': fixedCode(32, (bytes, at) => `0x${bytes.toString('hex', at, at + 32)}`),
  String: textCode(false),
  'LowCardinality(String)': textCode(false),
};
const WIDE_WORD = fixedCode(8, (bytes, at) => bytes.readBigUInt64LE(at));

function codeOf(type: string, column: string): FieldCode {
  const simpleCode = SIMPLE[type];
  if (type === 'String' && column === 'data') return textCode(true);
  if (simpleCode !== undefined) return simpleCode;
  const nestedType = /^(Nullable|Array)\((.*)\)$/.exec(type);
  if (nestedType?.[1] === 'Nullable') return nullableCode(codeOf(nestedType[2]!, column));
  if (nestedType?.[1] === 'Array')
    return arrayCode(nestedType[2] === 'UInt64' ? WIDE_WORD : codeOf(nestedType[2]!, column));
  if (!type.startsWith('Enum8(')) throw new Error(`the model does not implement the type ${type}`);
  const wordByNumber = new Map(
    [...type.matchAll(/'(\w+)' = (\d+)/g)].map(([, name, number]) => [Number(number), name]),
  );
  return fixedCode(1, (bytes, at) => wordByNumber.get(bytes[at]!));
}

/** Splits and decodes rows of one table. */
export class RowCode {
  private readonly codes: readonly FieldCode[];

  constructor(private readonly shape: RowShape) {
    this.codes = shape.types.map((type, index) => codeOf(type, shape.columns[index]!));
  }

  /** The bytes of each row, without the commit at the start of head rows. */
  split(body: Buffer, withCommit: boolean): { readonly commit: number; readonly bytes: Buffer }[] {
    const rows: { commit: number; bytes: Buffer }[] = [];
    const cursor: Cursor = { bytes: body, position: 0 };
    while (cursor.position < body.length) {
      const commit = withCommit ? Number(body.readBigUInt64LE(cursor.position)) : 0;
      if (withCommit) cursor.position += 8;
      const start = cursor.position;
      for (const code of this.codes) code.skip(cursor);
      rows.push({ commit, bytes: body.subarray(start, cursor.position) });
    }
    if (cursor.position !== body.length) throw new Error(`a row of ${this.shape.columns.join()} is cut off`);
    return rows;
  }

  read(bytes: Buffer): Fields {
    const cursor: Cursor = { bytes, position: 0 };
    const fields: Record<string, unknown> = {};
    this.codes.forEach((code, index) => {
      fields[this.shape.columns[index]!] = code.read(cursor);
    });
    return fields;
  }
}
