/** Column types for table descriptors: a ClickHouse type and its RowBinary writer. */
import type { Hex } from '../../domain/hex';
import type { RowWriter } from './rowWriter';

export interface ColumnType<T> {
  /** The type's name in `system.columns`. */
  readonly sql: string;
  write(writer: RowWriter, value: T): void;
}

function column<T>(sql: string, write: (writer: RowWriter, value: T) => void): ColumnType<T> {
  return { sql, write };
}

export const u8 = column<number>('UInt8', (w, v) => w.u8(v));
export const u16 = column<number>('UInt16', (w, v) => w.u16(v));
export const u32 = column<number>('UInt32', (w, v) => w.u32(v));
export const u64 = column<number>('UInt64', (w, v) => w.u64(v));
/** Column of UInt64 values beyond the integers that a float64 holds exactly. */
export const wideU64 = column<bigint>('UInt64', (w, v) => w.bigU64(v));
export const i32 = column<number>('Int32', (w, v) => w.i32(v));
export const f64 = column<number>('Float64', (w, v) => w.f64(v));
export const bool = column<boolean>('Bool', (w, v) => w.bool(v));
export const u128 = column<bigint>('UInt128', (w, v) => w.u128(v));
export const u256 = column<bigint>('UInt256', (w, v) => w.u256(v));
export const i256 = column<bigint>('Int256', (w, v) => w.i256(v));
/** Column of USD amounts, given as USD times 10^12. */
export const usd = column<bigint>('Decimal(38, 12)', (w, v) => w.decimal128(v));
export const address = column<Hex>('FixedString(20)', (w, v) => w.fixed(v, 20));
export const hash = column<Hex>('FixedString(32)', (w, v) => w.fixed(v, 32));
/** A missing topic is stored as zero bytes. */
export const topic = column<Hex | undefined>('FixedString(32)', (w, v) =>
  v === undefined ? w.zeros(32) : w.fixed(v, 32),
);
export const text = column<string>('String', (w, v) => w.text(v));
export const hexBytes = column<Hex>('String', (w, v) => w.hexString(v));
export const lowText = column<string>('LowCardinality(String)', (w, v) => w.text(v));

export function nullable<T>(inner: ColumnType<T>): ColumnType<T | null> {
  return column<T | null>(`Nullable(${inner.sql})`, (w, v) => {
    if (v === null) return w.u8(1);
    w.u8(0);
    inner.write(w, v);
  });
}

export function array<T>(inner: ColumnType<T>): ColumnType<readonly T[]> {
  return column<readonly T[]>(`Array(${inner.sql})`, (w, values) => {
    w.varint(values.length);
    for (const value of values) inner.write(w, value);
  });
}

/** Column of an Enum8 by name, with the numbers of the schema. */
export function enum8<K extends string>(numbers: Readonly<Record<K, number>>): ColumnType<K> {
  const words = Object.entries<number>(numbers).map(([name, number]) => `'${name}' = ${number}`);
  return column<K>(`Enum8(${words.join(', ')})`, (w, v) => w.u8(numbers[v]));
}
