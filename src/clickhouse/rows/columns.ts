/** Column types of tables and answers: a ClickHouse type, its RowBinary writer and its RowBinary reader. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { RowReader } from './rowReader';
import type { RowWriter } from './rowWriter';

export interface ColumnType<T> {
  /** The type's name in `system.columns`. */
  readonly sql: string;
  write(writer: RowWriter, value: T): void;
  readonly read: (reader: RowReader) => T;
}

function column<T>(sql: string, write: ColumnType<T>['write'], read: ColumnType<T>['read']): ColumnType<T> {
  return { sql, write, read };
}

export const u8 = column<number>(
  'UInt8',
  (w, v) => w.u8(v),
  (r) => r.u8(),
);
export const u16 = column<number>(
  'UInt16',
  (w, v) => w.u16(v),
  (r) => r.u16(),
);
export const u32 = column<number>(
  'UInt32',
  (w, v) => w.u32(v),
  (r) => r.u32(),
);
export const u64 = column<number>(
  'UInt64',
  (w, v) => w.u64(v),
  (r) => r.u64(),
);
/** Column of UInt64 values beyond the integers that a float64 holds exactly. */
export const wideU64 = column<bigint>(
  'UInt64',
  (w, v) => w.bigU64(v),
  (r) => r.bigU64(),
);
export const i32 = column<number>(
  'Int32',
  (w, v) => w.i32(v),
  (r) => r.i32(),
);
export const f64 = column<number>(
  'Float64',
  (w, v) => w.f64(v),
  (r) => r.f64(),
);
export const bool = column<boolean>(
  'Bool',
  (w, v) => w.bool(v),
  (r) => r.bool(),
);
export const u128 = column<bigint>(
  'UInt128',
  (w, v) => w.u128(v),
  (r) => r.u128(),
);
export const u256 = column<bigint>(
  'UInt256',
  (w, v) => w.u256(v),
  (r) => r.u256(),
);
export const i256 = column<bigint>(
  'Int256',
  (w, v) => w.i256(v),
  (r) => r.i256(),
);
/** Column of USD amounts, given as USD times 10^12. */
export const usd = column<bigint>(
  'Decimal(38, 12)',
  (w, v) => w.decimal128(v),
  (r) => r.decimal128(),
);
export const address = column<Hex>(
  'FixedString(20)',
  (w, v) => w.fixed(v, 20),
  (r) => r.hex0x(20),
);
export const hash = column<Hex>(
  'FixedString(32)',
  (w, v) => w.fixed(v, 32),
  (r) => r.hex0x(32),
);
/** A missing topic is stored, and read, as zero bytes. */
export const topic = column<Hex | undefined>(
  'FixedString(32)',
  (w, v) => (v === undefined ? w.zeros(32) : w.fixed(v, 32)),
  (r) => r.hex0x(32),
);
export const text = column<string>(
  'String',
  (w, v) => w.text(v),
  (r) => r.text(),
);
export const hexBytes = column<Hex>(
  'String',
  (w, v) => w.hexString(v),
  (r) => r.text0x(),
);
/** Column of bytes that are no text. Read as a view of the answer. */
export const rawBytes = column<Buffer>(
  'String',
  (w, v) => w.bytes(v),
  (r) => r.slice(),
);
export const lowText = column<string>('LowCardinality(String)', text.write, text.read);

/** Column of texts that are all among the words. */
export function wordOf<K extends string>(...words: readonly K[]): ColumnType<K> {
  const wordByText = new Map<string, K>(words.map((word) => [word, word]));
  return column<K>(lowText.sql, text.write, (r) => {
    const storedText = r.text();
    const word = wordByText.get(storedText);
    if (word === undefined)
      throw new AppError('internal', `got "${storedText}"; expected one of ${words.join(', ')}`);
    return word;
  });
}

export function nullable<T>(inner: ColumnType<T>): ColumnType<T | null> {
  return column<T | null>(
    `Nullable(${inner.sql})`,
    (w, v) => {
      if (v === null) return w.u8(1);
      w.u8(0);
      inner.write(w, v);
    },
    (r) => (r.bool() ? null : inner.read(r)),
  );
}

export function array<T>(inner: ColumnType<T>): ColumnType<readonly T[]> {
  return column<readonly T[]>(
    `Array(${inner.sql})`,
    (w, values) => {
      w.varint(values.length);
      for (const value of values) inner.write(w, value);
    },
    (r) => {
      const values: T[] = [];
      for (let itemsLeft = r.varUint(); itemsLeft > 0; itemsLeft -= 1) values.push(inner.read(r));
      return values;
    },
  );
}

/** A Map(String, T), read as an object. */
export function mapOf<T>(inner: ColumnType<T>): ColumnType<Readonly<Record<string, T>>> {
  return column<Readonly<Record<string, T>>>(
    `Map(String, ${inner.sql})`,
    (w, values) => {
      const entries = Object.entries(values);
      w.varint(entries.length);
      for (const [key, value] of entries) {
        w.text(key);
        inner.write(w, value);
      }
    },
    (r) => Object.fromEntries(Array.from({ length: r.varUint() }, () => [r.text(), inner.read(r)])),
  );
}

/** Column of an Enum8 by name, with the numbers of the schema, ascending. */
export function enum8<K extends string>(numbers: Readonly<Record<K, number>>): ColumnType<K> {
  const names = new Map<number, K>();
  for (const name in numbers) names.set(numbers[name], name);
  return column<K>(
    `Enum8(${[...names].map(([number, name]) => `'${name}' = ${number}`).join(', ')})`,
    (w, v) => w.u8(numbers[v]),
    (r) => {
      const number = r.u8();
      const name = names.get(number);
      if (name === undefined) throw new AppError('internal', `an Enum8 has no name for ${number}`);
      return name;
    },
  );
}
