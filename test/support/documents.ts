/** Reads the documents of the repository: files, tables and code in Markdown. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../src/clickhouse/client/packageRoot';

export const ROOT = findPackageRoot();
export const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Folders that exist only after an installation, a build or a start. */
const GENERATED = /(^|\/)(node_modules|dist|build|\.data|\.cache)(\/|$)/;

/** Lists the files below the folder whose path, relative to the repository, matches. */
export function listFiles(folder: string, ending: RegExp): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(join(ROOT, path)).isDirectory()) return GENERATED.test(path) ? [] : listFiles(path, ending);
    return ending.test(name) ? [path] : [];
  });
}

/** The text of a document below a heading, up to the next heading of the same or a higher level. */
export function sectionOf(path: string, heading: string): string {
  const [, text = ''] = textOf(path).split(`\n## ${heading}\n`);
  return text.split(/^## /m)[0] ?? '';
}

/** The rows, as lists of cells, of all tables whose header begins with these cells. Throws if there is no
 * such table. */
export function rowsOf(text: string, ...header: readonly string[]): string[][] {
  const cellsOf = (row: string): string[] =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const tables = [...text.matchAll(/^\|.*\n\| *-.*\n((?:\|.*\n)*)/gm)].filter(([table]) => {
    const cells = cellsOf(table.split('\n')[0] ?? '');
    return header.every((cell, column) => cells[column] === cell);
  });
  if (tables.length === 0) throw new Error(`there is no table with the header ${header.join(' | ')}`);
  return tables.flatMap(([, rows = '']) => rows.trimEnd().split('\n').map(cellsOf));
}

/** The texts that are in code style, such as `a` and `b`. */
export const codeOf = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** The lines of the fenced blocks of a language. */
export const fencedLines = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w*)\n([^]*?)^```/gm)]
    .filter(([, blockLanguage]) => blockLanguage === language)
    .flatMap(([, , body = '']) => body.trimEnd().split('\n'));
