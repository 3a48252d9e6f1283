/** Named SQL: each read is a file `clickhouse/queries/<module>/<verb_noun>.sql`, loaded once, run by its name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { z } from 'zod';

import { createSlices } from '../domain/turns';
import type { Database, QueryParams } from './database';
import { findPackageRoot } from './packageRoot';
import { parseQueryText } from './queryText';
import { RowReader } from './rowReader';

/** Runs named queries against one database. */
export interface QueryRunner {
  /** Rows of the named query. `shape` is checked on every row when checking is on (tests), else trusted. */
  run<Row>(name: string, params: QueryParams, shape: z.ZodType<Row>): Promise<Row[]>;
  /** Rows of the named query as `decode` makes them of RowBinary: for reads of many numbers that must be fast. */
  read<Row>(name: string, params: QueryParams, decode: (reader: RowReader) => Row): Promise<Row[]>;
  /** The named query's answer as the server writes it in one of its output formats. */
  write(name: string, params: QueryParams, format: OutputFormat): Promise<Buffer>;
}

export type OutputFormat = 'CSVWithNames' | 'Parquet' | 'ArrowStream' | 'RowBinary';

export interface QueryRunnerOptions {
  /** Parse each row with its zod shape; on in tests. */
  readonly checkRows: boolean;
  readonly observe?: (name: string, seconds: number) => void;
}

export function createQueryRunner(database: Database, options: QueryRunnerOptions): QueryRunner {
  const folder = join(findPackageRoot(), 'clickhouse', 'queries');
  const texts = new Map<string, (params: QueryParams) => string>();
  const textOf = (name: string, params: QueryParams): string => {
    const known = texts.get(name) ?? parseQueryText(name, readFileSync(join(folder, `${name}.sql`), 'utf8'));
    texts.set(name, known);
    return known(params);
  };
  return {
    async run<Row>(name: string, params: QueryParams, shape: z.ZodType<Row>): Promise<Row[]> {
      const started = performance.now();
      const rows = await database.select<Row>(name, textOf(name, params), params);
      options.observe?.(name, (performance.now() - started) / 1000);
      return options.checkRows ? rows.map((row) => shape.parse(row)) : rows;
    },
    async read<Row>(name: string, params: QueryParams, decode: (reader: RowReader) => Row): Promise<Row[]> {
      const started = performance.now();
      const reader = new RowReader(await database.selectBinary(name, textOf(name, params), params));
      options.observe?.(name, (performance.now() - started) / 1000);
      const rows: Row[] = [];
      const slices = createSlices();
      while (!reader.done) {
        rows.push(decode(reader));
        if (slices.isOver()) await slices.giveWay();
      }
      return rows;
    },
    async write(name, params, format) {
      const started = performance.now();
      const other = format === 'RowBinary' ? undefined : format;
      const bytes = await database.selectBinary(name, textOf(name, params), params, other);
      options.observe?.(name, (performance.now() - started) / 1000);
      return bytes;
    },
  };
}
