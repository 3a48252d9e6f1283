/**
 * The columns of a query's answer, each with its type. Answers arrive as RowBinaryWithNamesAndTypes, so a row type
 * checks the names and the types of every answer. The order of the columns does not matter.
 */
import { compileFunction } from '../../domain/compileFunction';
import { createSlices } from '../../domain/time/slices';
import { AppError } from '../../errors';
import { type ColumnType, text } from './columns';
import { RowReader } from './rowReader';

export type ColumnTypes<Row> = { readonly [Name in keyof Row]: ColumnType<Row[Name]> };

type Decoder<Row> = (reader: RowReader) => Row;

export interface RowType<Row> {
  readonly columns: ColumnTypes<Row>;
  /** Decodes the rows behind a header of these columns. Throws `internal` if a column is missing, new or of another type. */
  decoderOf(query: string, header: readonly AnsweredColumn[]): Decoder<Row>;
}

export type RowOf<Type> = Type extends RowType<infer Row> ? Row : never;

interface AnsweredColumn {
  readonly name: string;
  /** ClickHouse's name of the type. */
  readonly type: string;
}

/** The format in which a row type reads. */
export const TYPED_ROWS = 'RowBinaryWithNamesAndTypes';

export function rowType<Row extends object>(columns: ColumnTypes<Row>): RowType<Readonly<Row>> {
  const types = new Map<string, ColumnType<unknown>>(Object.entries(columns));
  const decoders = new Map<string, Decoder<Row>>();
  return {
    columns,
    decoderOf(query, header) {
      const key = header.map(({ name, type }) => `${name} ${type}`).join();
      const cached = decoders.get(key);
      if (cached !== undefined) return cached;
      checkHeader(query, header, types);
      const decoder = compile<Row>(header.map(({ name }) => [name, types.get(name) as ColumnType<unknown>]));
      decoders.set(key, decoder);
      return decoder;
    },
  };
}

/**
 * The named columns of a table, for a row type that reads only these. Without NoInfer, the row of a surrounding
 * rowType() would have all columns.
 */
export function pick<Row, Name extends keyof Row>(
  columns: ColumnTypes<Row>,
  names: readonly Name[],
): NoInfer<ColumnTypes<Pick<Row, Name>>> {
  const picked: Partial<ColumnTypes<Row>> = {};
  for (const name of names) picked[name] = columns[name];
  return picked as ColumnTypes<Pick<Row, Name>>;
}

/** Column of a tuple, read as an array of its elements. */
export function tuple<T extends readonly unknown[]>(
  ...inner: { readonly [Place in keyof T]: ColumnType<T[Place]> }
): ColumnType<T> {
  const types: readonly ColumnType<unknown>[] = inner;
  return {
    sql: `Tuple(${types.map(({ sql }) => sql).join(', ')})`,
    write: (writer, values) => types.forEach((type, place) => type.write(writer, values[place])),
    read: (reader) => types.map(({ read }) => read(reader)) as unknown as T,
  };
}

/** The rows of an answer. Lets other work run in between. */
export async function decodeRows<Row>(query: string, bytes: Buffer, row: RowType<Row>): Promise<Row[]> {
  const reader = new RowReader(bytes);
  const decode = row.decoderOf(query, readHeader(reader));
  const rows: Row[] = [];
  const slices = createSlices();
  while (!reader.done) {
    rows.push(decode(reader));
    if (slices.isOver()) await slices.giveWay();
  }
  return rows;
}

function readHeader(reader: RowReader): AnsweredColumn[] {
  const names = Array.from({ length: reader.varUint() }, () => reader.text());
  return names.map((name) => ({ name, type: reader.text() }));
}

function checkHeader(
  query: string,
  header: readonly AnsweredColumn[],
  types: ReadonlyMap<string, ColumnType<unknown>>,
): void {
  const answered = new Map(header.map(({ name, type }) => [name, plainType(type)]));
  const faults = [
    ...[...answered].filter(([name]) => !types.has(name)).map(([name]) => `${name} is not expected`),
    ...[...types].flatMap(([name, { sql }]) => {
      const [expected, type] = [plainType(sql), answered.get(name)];
      return type === expected ? [] : [`${name} is ${type ?? 'missing'}; expected ${expected}`];
    }),
  ];
  if (faults.length === 0) return;
  throw new AppError(
    'internal',
    `${query}: the answer has other columns than expected: ${faults.join(', ')}`,
  );
}

/** The type without its parts that do not change how RowBinary encodes a value, such as LowCardinality. */
function plainType(type: string): string {
  return type
    .replace(/LowCardinality\((\w+|Nullable\(\w+\))\)/g, '$1')
    .replace(/^SimpleAggregateFunction\(\w+, (.*)\)$/, '$1')
    .replace(/(Tuple\(|, )[a-z]\w* (?=[A-Z])/g, '$1');
}

/**
 * A decoder with one literal object, which V8 makes several times faster than an object that grows field by field.
 * Names are JSON strings, so no name can change the code.
 */
function compile<Row>(
  columns: readonly (readonly [name: string, type: ColumnType<unknown>])[],
): Decoder<Row> {
  const fields = columns.map(([name], index) => `${JSON.stringify(name)}: read${index}(reader)`);
  const reads = columns.map((_, index) => `read${index}`);
  const make = compileFunction<(...reads: readonly ColumnType<unknown>['read'][]) => Decoder<Row>>(
    reads,
    `return (reader) => ({ ${fields.join(', ')} });`,
  );
  return make(...columns.map(([, { read }]) => read));
}

/** Row that only has the name of a table, column or database. */
export const nameRow = rowType({ name: text });
