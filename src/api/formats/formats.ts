/**
 * Answers as tables for analysts: CSV, Parquet or Arrow, chosen by the Accept header. Any other Accept header gets
 * JSON, so no request fails because of its header. The table has the same rows as the JSON answer; ClickHouse
 * writes the format.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { OutputFormat } from '../../clickhouse/client/namedQueries';
import type { RouteContext } from '../route';

/** Media types and their ClickHouse formats. Each format includes column names and types. */
export const TABLE_FORMATS = {
  'text/csv': 'CSVWithNames',
  'application/vnd.apache.parquet': 'Parquet',
  'application/vnd.apache.arrow.stream': 'ArrowStream',
} as const satisfies Readonly<Record<string, OutputFormat>>;
type TableType = keyof typeof TABLE_FORMATS;

export const TABLE_TYPES: readonly string[] = Object.keys(TABLE_FORMATS);

/** An answer as a table: a query that reads only columns passed as parameters. */
export interface AnswerTable {
  readonly query: string;
  readonly columns: QueryParams;
  /** The parameters that change for the next page; null if this is the last page. */
  readonly next: Readonly<Record<string, string>> | null;
}

/** The table format that the client prefers over JSON; null if the client prefers JSON. Adds Accept to the
 * header Vary. */
export function chooseTable(ctx: RouteContext): TableType | null {
  ctx.vary('Accept');
  const chosen = ctx.accepts('application/json', ...TABLE_TYPES);
  return isTableType(chosen) ? chosen : null;
}

function isTableType(type: string | false): type is TableType {
  return type !== false && TABLE_TYPES.includes(type);
}

/** Adds a Link header (RFC 8288) for the next page, because a table has no `meta`. */
export function linkNext(ctx: RouteContext, next: AnswerTable['next']): void {
  if (next === null) return;
  const query = new URLSearchParams(ctx.querystring);
  for (const [name, value] of Object.entries(next)) query.set(name, value);
  ctx.set('Link', `<${ctx.path}?${query.toString()}>; rel="next"`);
}

/** The 64 bits of a float. The value is sent as an integer, so it is not rounded on its way to ClickHouse. */
export function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

export function bitsOrNull(value: number | null | undefined): bigint | null {
  return value === null || value === undefined ? null : bitsOf(value);
}
