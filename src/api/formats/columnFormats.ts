/**
 * Writes columns as Parquet or Arrow. ClickHouse writes the file from columns that the query gets as parameters, so the
 * query reads no table. Floats are sent as their 64 bits, so no value is rounded.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { Cell, TableColumn } from './listTable';

export type Compression = 'none' | 'lz4' | 'zstd';

/** A longer parameter is split. ClickHouse refuses a form field of more than 128 KiB. */
const PARAM_LENGTH_MAX = 24_000;

const METHODS = {
  ArrowStream: {
    none: 'none',
    lz4: 'lz4_frame',
    zstd: 'zstd',
    setting: 'output_format_arrow_compression_method',
  },
  Parquet: { none: 'none', lz4: 'lz4', zstd: 'zstd', setting: 'output_format_parquet_compression_method' },
} as const;
const DEFAULTS = { ArrowStream: 'none', Parquet: 'snappy' } as const;

const TYPES: Readonly<Record<TableColumn['kind'], string>> = {
  text: 'Nullable(String)',
  integer: 'Nullable(Int64)',
  float: 'Nullable(UInt64)',
  boolean: 'Nullable(UInt8)',
};

/** `compression`: null means the default of the format. */
export function writeColumns(
  runner: QueryRunner,
  columns: readonly TableColumn[],
  format: keyof typeof METHODS,
  compression: Compression | null,
): Promise<Buffer> {
  const params: Record<string, QueryParams[string]> = { limit: Math.max(1, columns[0]?.values.length ?? 0) };
  const joined = columns.map((column, at) => `${arrayOf(column, `c${at}`, params)} AS c${at}`);
  const selected = columns.map((column, at) => `${expressionOf(column, `c${at}`)} AS ${column.name}`);
  const sql = `SELECT ${selected.join(', ')} FROM (SELECT 1 AS one) ARRAY JOIN ${joined.join(', ')} LIMIT {limit:UInt32}`;
  const { setting, ...methods } = METHODS[format];
  const method = compression === null ? DEFAULTS[format] : methods[compression];
  return runner.writeMade('formats/write_columns', sql, params, format, { [setting]: method });
}

function expressionOf({ kind }: TableColumn, name: string): string {
  if (kind === 'float') return `if(isNull(${name}), NULL, reinterpretAsFloat64(assumeNotNull(${name})))`;
  return kind === 'boolean' ? `CAST(${name}, 'Nullable(Bool)')` : name;
}

/** The expression of the column's array. Adds its values to `params`, in parts of limited length. */
function arrayOf(
  { kind, values }: TableColumn,
  name: string,
  params: Record<string, QueryParams[string]>,
): string {
  const type = TYPES[kind];
  const parts: string[] = [];
  let part: (string | number | bigint | null)[] = [];
  let length = 0;
  const add = (value: QueryParams[string], as: string): string => {
    const key = `${name}_${Object.keys(params).length}`;
    params[key] = value;
    return `{${key}:${as}}`;
  };
  const flush = (): void => {
    if (part.length > 0 || parts.length === 0) parts.push(add(part, `Array(${type})`));
    [part, length] = [[], 0];
  };
  for (const value of values) {
    const cell = toParam(kind, value);
    const size = typeof cell === 'string' ? cell.length + 4 : 20;
    if (typeof cell === 'string' && size > PARAM_LENGTH_MAX) {
      if (part.length > 0) flush();
      const pieces = splitText(cell).map((piece) => add(piece, 'String'));
      parts.push(`[CAST(concat(${pieces.join(', ')}), '${type}')]`);
      continue;
    }
    if (length + size > PARAM_LENGTH_MAX) flush();
    part.push(cell);
    length += size;
  }
  if (part.length > 0 || parts.length === 0) flush();
  return parts.length === 1 ? (parts[0] ?? '') : `arrayConcat(${parts.join(', ')})`;
}

function toParam(kind: TableColumn['kind'], value: Cell): string | number | bigint | null {
  if (value === null) return null;
  if (kind === 'text') return String(value);
  return kind === 'float' ? bitsOf(Number(value)) : Number(value);
}

/** Splits a text without cutting a surrogate pair. */
function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + PARAM_LENGTH_MAX);
    if (to < text.length && (text.codePointAt(to - 1) ?? 0) > 0xffff) to -= 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** The 64 bits of a float. */
function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}
