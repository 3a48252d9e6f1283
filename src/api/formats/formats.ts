/**
 * Answers as tables for analysts: CSV, Parquet or Arrow, chosen by the parameter `format` or the Accept header. Any
 * other Accept header gets JSON, so no request fails because of its header. The table has the same rows as the JSON
 * answer.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { parsedParam, type Params, type ParsedOf } from '../params';
import type { RouteContext } from '../route';
import { writeColumns, type Compression } from './columnFormats';
import { writeCsv } from './csv';
import type { ListTable } from './listTable';

const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
} as const;
type Format = keyof typeof MEDIA_TYPES;

const FORMATS = ['json', 'csv', 'parquet', 'arrow'] as const satisfies readonly Format[];
const COMPRESSIONS = ['none', 'lz4', 'zstd'] as const satisfies readonly Compression[];

/** Media types of the tables, for the OpenAPI document. */
export const TABLE_TYPES: readonly string[] = [MEDIA_TYPES.csv, MEDIA_TYPES.parquet, MEDIA_TYPES.arrow];

/** Parameters that every list accepts for answers as tables. */
export const FORMAT_PARAMS = {
  format: parsedParam({
    parse: (text) => FORMATS.find((format) => format === text) ?? null,
    allowed: `one of ${FORMATS.join(', ')}`,
    doc: { type: 'string', enum: FORMATS },
    description: 'Format of the answer. Overrides the Accept header',
  }),
  compression: parsedParam({
    parse: (text) => COMPRESSIONS.find((compression) => compression === text) ?? null,
    allowed: `one of ${COMPRESSIONS.join(', ')}`,
    doc: { type: 'string', enum: COMPRESSIONS },
    description:
      'Compression inside an Arrow or Parquet file. Without it, Arrow is uncompressed and Parquet uses Snappy, which ' +
      'every reader supports. JSON and CSV ignore it',
  }),
} as const satisfies Params;

type TableFormat = Exclude<Format, 'json'>;

/** The chosen table; null for JSON. */
interface TableEncoding {
  readonly format: TableFormat;
  /** Null means uncompressed. */
  readonly compression: Compression | null;
}

/** The table format that the client asks for; null if the client asks for JSON. Adds Accept to the header Vary. */
export function chooseTableEncoding(
  ctx: RouteContext,
  { format, compression }: ParsedOf<typeof FORMAT_PARAMS>,
): TableEncoding | null {
  ctx.vary('Accept');
  const chosenFormat = format ?? formatOf(ctx.accepts(...Object.values(MEDIA_TYPES)));
  return chosenFormat === 'json' ? null : { format: chosenFormat, compression };
}

function formatOf(type: string | readonly string[] | false): Format {
  return FORMATS.find((format) => MEDIA_TYPES[format] === type) ?? 'json';
}

/** Sets the body of the answer to the table. */
export async function answerTable(
  ctx: RouteContext,
  runner: QueryRunner,
  { format, compression }: TableEncoding,
  table: ListTable,
): Promise<void> {
  ctx.body =
    format === 'csv'
      ? writeCsv(table.columns)
      : await writeColumns(
          runner,
          table.columns,
          format === 'arrow' ? 'ArrowStream' : 'Parquet',
          compression,
        );
  ctx.type = MEDIA_TYPES[format];
  linkNext(ctx, table.next);
}

/** Adds a Link header (RFC 8288) for the next page, because a table has no `meta`. */
function linkNext(ctx: RouteContext, next: ListTable['next']): void {
  if (next === null) return;
  const query = new URLSearchParams(ctx.querystring);
  for (const [name, value] of Object.entries(next)) query.set(name, value);
  // The original URL has the chain, which `ctx.path` lacks.
  const [path = ctx.path] = ctx.originalUrl.split('?');
  ctx.set('Link', `<${path}?${query.toString()}>; rel="next"`);
}
