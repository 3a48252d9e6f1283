/**
 * Turns the JSON answer of a list into the columns of a table. The shape of the answer gives the columns: a nested
 * object becomes one column for each of its fields, and an array or a free object becomes JSON text.
 */
import { z } from 'zod';

type Kind = 'text' | 'integer' | 'float' | 'boolean' | 'json';
export type Cell = string | number | boolean | null;

export interface TableColumn {
  /** Letters, digits and `_`. */
  readonly name: string;
  readonly kind: Exclude<Kind, 'json'>;
  readonly values: readonly Cell[];
}

/** A list as a table. */
export interface ListTable {
  readonly columns: readonly TableColumn[];
  /** The parameters that change for the next page; null if this is the last page. */
  readonly next: Readonly<Record<string, string>> | null;
}

interface Column {
  readonly path: readonly string[];
  readonly kind: Kind;
}

/** Nested objects deeper than this become JSON text. */
const DEPTH_MAX = 4;

const pagingShape = z.object({
  next_cursor: z.string().nullish(),
  next_to: z.number().nullish(),
  has_next: z.boolean().optional(),
  page: z.number().optional(),
  limit: z.number().optional(),
  offset: z.number().optional(),
  total: z.number().nullish(),
});
const listShape = z.object({ data: z.array(z.unknown()), meta: pagingShape });

/** Makes the converter of a list. Null if the shape is no list: it has no array `data`. */
export function findListTable(answerShape: z.ZodType): ((answer: unknown) => ListTable) | null {
  if (!(answerShape instanceof z.ZodObject)) return null;
  const { data } = answerShape.shape as Record<string, z.ZodType | undefined>;
  if (!(data instanceof z.ZodArray)) return null;
  const columns = listColumns(data.element as z.ZodType, []);
  return (answer) => {
    const list = listShape.parse(answer);
    return {
      columns: columns.map(({ path, kind }) => ({
        name: path.join('_'),
        kind: kind === 'json' ? 'text' : kind,
        values: list.data.map((item) => cellOf(valueAt(item, path), kind)),
      })),
      next: nextOf(list.meta, list.data.length),
    };
  };
}

function listColumns(shape: z.ZodType, path: readonly string[]): Column[] {
  const innerShape = unwrap(shape);
  if (innerShape instanceof z.ZodObject && path.length < DEPTH_MAX) {
    return Object.entries(innerShape.shape as Record<string, z.ZodType>).flatMap(([name, field]) =>
      listColumns(field, [...path, name]),
    );
  }
  if (innerShape instanceof z.ZodUnion)
    return mergeColumns(innerShape.options.map((option) => listColumns(option as z.ZodType, path)));
  return [{ path, kind: kindOf(innerShape) }];
}

function unwrap(shape: z.ZodType): z.ZodType {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional)
    return unwrap(shape.unwrap() as z.ZodType);
  return shape;
}

/** The columns of all options of a union, each once. A column with different kinds becomes JSON text. */
function mergeColumns(options: readonly (readonly Column[])[]): Column[] {
  const columnByPath = new Map<string, Column>();
  for (const column of options.flat()) {
    const key = column.path.join('_');
    const earlierColumn = columnByPath.get(key);
    columnByPath.set(
      key,
      earlierColumn === undefined || earlierColumn.kind === column.kind
        ? column
        : { ...column, kind: 'json' },
    );
  }
  return [...columnByPath.values()];
}

function kindOf(shape: z.ZodType): Kind {
  if (shape instanceof z.ZodString || shape instanceof z.ZodEnum) return 'text';
  if (shape instanceof z.ZodBoolean) return 'boolean';
  if (shape instanceof z.ZodNumber) return shape.format === null ? 'float' : 'integer';
  if (!(shape instanceof z.ZodLiteral)) return 'json';
  const [value] = shape.values;
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'boolean' : 'integer';
}

function valueAt(item: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    item,
  );
}

function cellOf(value: unknown, kind: Kind): Cell {
  if (value === undefined || value === null) return null;
  if (kind === 'json') return typeof value === 'string' ? value : JSON.stringify(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Lists differ in how they name the next page: by cursor, by time, by page or by offset. */
function nextOf(meta: z.infer<typeof pagingShape>, rowCount: number): ListTable['next'] {
  if (typeof meta.next_cursor === 'string') return { cursor: meta.next_cursor };
  if (typeof meta.next_to === 'number') return { to: String(meta.next_to) };
  if (meta.next_cursor === null || meta.next_to === null) return null;
  if (meta.has_next === true && meta.page !== undefined) return { page: String(meta.page + 1) };
  const { offset, total } = meta;
  if (offset === undefined || typeof total !== 'number' || rowCount === 0) return null;
  return offset + rowCount < total ? { offset: String(offset + rowCount) } : null;
}
