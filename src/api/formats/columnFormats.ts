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

const COMPRESSION_METHODS = {
  ArrowStream: {
    none: 'none',
    lz4: 'lz4_frame',
    zstd: 'zstd',
    setting: 'output_format_arrow_compression_method',
  },
  Parquet: { none: 'none', lz4: 'lz4', zstd: 'zstd', setting: 'output_format_parquet_compression_method' },
} as const;
const DEFAULT_METHODS = { ArrowStream: 'none', Parquet: 'snappy' } as const;

const CLICKHOUSE_TYPES: Readonly<Record<TableColumn['kind'], string>> = {
  text: 'Nullable(String)',
  integer: 'Nullable(Int64)',
  float: 'Nullable(UInt64)',
  boolean: 'Nullable(UInt8)',
};

/** `compression`: null means the default of the format. */
export function writeColumns(
  runner: QueryRunner,
  columns: readonly TableColumn[],
  format: keyof typeof COMPRESSION_METHODS,
  compression: Compression | null,
): Promise<Buffer> {
  const params: Record<string, QueryParams[string]> = { limit: Math.max(1, columns[0]?.values.length ?? 0) };
  const arrayColumns = columns.map((column, index) => `${arrayOf(column, `c${index}`, params)} AS c${index}`);
  const selectedColumns = columns.map(
    (column, index) => `${expressionOf(column, `c${index}`)} AS ${column.name}`,
  );
  const sql = `SELECT ${selectedColumns.join(', ')} FROM (SELECT 1 AS one) ARRAY JOIN ${arrayColumns.join(', ')} LIMIT {limit:UInt32}`;
  const { setting, ...methods } = COMPRESSION_METHODS[format];
  const method = compression === null ? DEFAULT_METHODS[format] : methods[compression];
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
  const type = CLICKHOUSE_TYPES[kind];
  const arrayParts: string[] = [];
  let partValues: (string | number | bigint | null)[] = [];
  let partLength = 0;
  const addParam = (value: QueryParams[string], type: string): string => {
    const key = `${name}_${Object.keys(params).length}`;
    params[key] = value;
    return `{${key}:${type}}`;
  };
  const endPart = (): void => {
    if (partValues.length > 0 || arrayParts.length === 0)
      arrayParts.push(addParam(partValues, `Array(${type})`));
    [partValues, partLength] = [[], 0];
  };
  for (const value of values) {
    const paramValue = toParam(kind, value);
    const valueLength = typeof paramValue === 'string' ? paramValue.length + 4 : 20;
    if (typeof paramValue === 'string' && valueLength > PARAM_LENGTH_MAX) {
      if (partValues.length > 0) endPart();
      const pieces = splitText(paramValue).map((piece) => addParam(piece, 'String'));
      arrayParts.push(`[CAST(concat(${pieces.join(', ')}), '${type}')]`);
      continue;
    }
    if (partLength + valueLength > PARAM_LENGTH_MAX) endPart();
    partValues.push(paramValue);
    partLength += valueLength;
  }
  if (partValues.length > 0 || arrayParts.length === 0) endPart();
  return arrayParts.length === 1 ? (arrayParts[0] ?? '') : `arrayConcat(${arrayParts.join(', ')})`;
}

function toParam(kind: TableColumn['kind'], value: Cell): string | number | bigint | null {
  if (value === null) return null;
  if (kind === 'text') return String(value);
  return kind === 'float' ? bitsOf(Number(value)) : Number(value);
}

/** Splits a text without cutting a surrogate pair. */
function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let pieceStart = 0; pieceStart < text.length;) {
    let pieceEnd = Math.min(text.length, pieceStart + PARAM_LENGTH_MAX);
    if (pieceEnd < text.length && (text.codePointAt(pieceEnd - 1) ?? 0) > 0xffff) pieceEnd -= 1;
    pieces.push(text.slice(pieceStart, pieceEnd));
    pieceStart = pieceEnd;
  }
  return pieces;
}

/** The 64 bits of a float. */
function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}
