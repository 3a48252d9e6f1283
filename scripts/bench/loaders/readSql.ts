/** Reads a statement of scripts/bench/sql, which loads rows for a benchmark. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { findPackageRoot } from '../../../src/clickhouse/client/packageRoot';

export function readSql(name: string): string {
  return readFileSync(join(findPackageRoot(), 'scripts', 'bench', 'sql', `${name}.sql`), 'utf8');
}
