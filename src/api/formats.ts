/**
 * Answers as tables for analysts: CSV, Parquet or Arrow, as the Accept header says; JSON in every other case, so that no
 * call fails for its Accept. The rows are those of the JSON answer; ClickHouse writes the format.
 */
import type { QueryParams } from '../clickhouse/client/database';
import type { OutputFormat } from '../clickhouse/client/namedQueries';
import type { RouteContext } from './route';

/** The media types and what the server calls them; each needs the columns' names and types to be in the answer. */
export const TABLE_FORMATS = {
  'text/csv': 'CSVWithNames',
  'application/vnd.apache.parquet': 'Parquet',
  'application/vnd.apache.arrow.stream': 'ArrowStream',
} as const satisfies Readonly<Record<string, OutputFormat>>;
export type TableType = keyof typeof TABLE_FORMATS;

export const TABLE_TYPES: readonly string[] = Object.keys(TABLE_FORMATS);

/** An answer as a table: a query that reads nothing but the columns it is given. */
export interface Table {
  readonly query: string;
  readonly columns: QueryParams;
  /** Parameters that the next page differs in; null: there is none. */
  readonly next: Readonly<Record<string, string>> | null;
}

/** What the client would rather have than JSON; null: JSON. Says in Vary that it was looked at. */
export function chooseTable(ctx: RouteContext): TableType | null {
  ctx.vary('Accept');
  const chosen = ctx.accepts('application/json', ...TABLE_TYPES);
  return isTableType(chosen) ? chosen : null;
}

function isTableType(type: string | false): type is TableType {
  return type !== false && TABLE_TYPES.includes(type);
}

/** What a table cannot say of its next page stands in the header Link (RFC 8288). */
export function linkNext(ctx: RouteContext, next: Table['next']): void {
  if (next === null) return;
  const query = new URLSearchParams(ctx.querystring);
  for (const [name, value] of Object.entries(next)) query.set(name, value);
  ctx.set('Link', `<${ctx.path}?${query.toString()}>; rel="next"`);
}

/** The 64 bits of a float: what goes to the server as text must not be rounded. */
export function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
}

/** The same where there may be none. */
export function bitsOrNull(value: number | null | undefined): bigint | null {
  return value === null || value === undefined ? null : bitsOf(value);
}
