/**
 * Reads clickhouse/migrations. An interrupted migration starts again at its first statement, so each statement must
 * be safe to repeat. Files with other statements are refused.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { AppError } from '../../errors';
import { findPackageRoot } from '../client/packageRoot';
import { readStatements } from './schema';

export interface Migration {
  readonly id: number;
  /** Name of the migration file. */
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Actions of ALTER TABLE that are safe to repeat. RENAME COLUMN is not: ClickHouse writes the new name before it
 * records which parts have the old one. A crash in between loses the column's values.
 */
const REPEATABLE =
  /^(?:ADD (?:COLUMN|INDEX|PROJECTION) IF NOT EXISTS|(DROP) (?:COLUMN|INDEX|PROJECTION) IF EXISTS|(?:MODIFY|COMMENT|MATERIALIZE) COLUMN|MATERIALIZE (?:INDEX|PROJECTION)) (\w+)(?! (?:REMOVE|RESET|MODIFY)\b)/;
/** An UPDATE is safe to repeat if the new values of the column do not depend on its old ones. */
const REPEATABLE_WHOLE = /^(?:UPDATE (\w+) = (?![^]*\b\1\b)|MODIFY (?:SETTING|QUERY|COMMENT)\b)/;

/**
 * Reads the migration files `NNNN_name.sql`, ascending by number. Their numbers start at 0015, because versions
 * before the first release used the smaller numbers. Empty if the folder is missing. Throws `bad_config` for a file
 * that is not safe to repeat.
 */
export function readMigrations(root: string = findPackageRoot()): Migration[] {
  const folder = join(root, 'clickhouse', 'migrations');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const statements = readStatements(readFileSync(join(folder, name), 'utf8'));
      checkRepeatable(name, statements);
      return { id: Number.parseInt(name, 10), name, statements };
    });
}

function checkRepeatable(file: string, statements: readonly string[]): void {
  const droppedColumns = new Set<string>();
  const usedColumns = new Set<string>();
  for (const statement of statements) {
    const [, table = '', actions = ''] = /^ALTER TABLE (\w+)\s+([^]+)$/.exec(statement) ?? [];
    for (const action of splitActions(actions)) {
      const [, drop, name = ''] = REPEATABLE.exec(action) ?? [];
      if (name !== '') (drop === undefined ? usedColumns : droppedColumns).add(`${table}.${name}`);
      else if (!REPEATABLE_WHOLE.test(action))
        throw refused(file, action || statement, 'is not safe to repeat');
    }
  }
  const droppedAndUsed = [...droppedColumns].find((name) => usedColumns.has(name));
  if (droppedAndUsed !== undefined)
    throw refused(file, droppedAndUsed, 'is dropped and also used: drop it in a separate migration');
}

function refused(file: string, what: string, why: string): AppError {
  return new AppError('bad_config', `migration ${file}: "${what.slice(0, 120)}" ${why}`);
}

/** Splits one ALTER TABLE into actions, at commas outside parentheses and quotes. MODIFY QUERY and UPDATE stay whole. */
function splitActions(text: string): string[] {
  if (/^(?:MODIFY QUERY|UPDATE)\b/.test(text)) return [text];
  const actions = [''];
  let depth = 0;
  for (const [token] of text.matchAll(/'(?:[^'\\]|\\.|'')*'|[(),]|[^'(),]+|'/g)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (token === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += token;
  }
  return actions.map((action) => action.trim());
}
