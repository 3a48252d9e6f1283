/** Reads exported tables as an analyst would: Parquet with hyparquet, Arrow with apache-arrow, CSV by its quotes. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export type TableRow = Readonly<Record<string, unknown>>;

/** The rows of each file, in their order. One child process reads all files. */
export function readTables(files: readonly (readonly ['arrow' | 'parquet', Buffer])[]): TableRow[][] {
  const input = JSON.stringify(files.map(([format, bytes]) => [format, bytes.toString('base64')]));
  const script = join(__dirname, 'openTables.mjs');
  const output = execFileSync(process.execPath, [script], { input, maxBuffer: 2 ** 28 });
  return JSON.parse(output.toString()) as TableRow[][];
}

/** The fields of a CSV file, row by row. Null is an empty field without quotes. */
export function readCsv(text: string): {
  readonly names: readonly string[];
  readonly rows: (string | null)[][];
} {
  const rows: (string | null)[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/gy;
  for (
    let match = field.exec(text);
    match !== null && field.lastIndex <= text.length;
    match = field.exec(text)
  ) {
    const [, quoted, bare = '', end] = match;
    rows.at(-1)?.push(quoted === undefined ? (bare === '' ? null : bare) : quoted.replaceAll('""', '"'));
    if (end === '\n') rows.push([]);
    if (field.lastIndex === text.length) break;
  }
  const [names = [], ...valueRows] = rows.filter((row) => row.length > 0);
  return { names: names.map(String), rows: valueRows };
}
