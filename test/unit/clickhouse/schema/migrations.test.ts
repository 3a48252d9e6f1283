/** Checks that migrations are safe to repeat, because after a crash the next start repeats them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readMigrations } from '../../../../src/clickhouse/schema/migrations';

const root = mkdtempSync(join(tmpdir(), 'candlehouse-migrations-'));
const folder = join(root, 'clickhouse', 'migrations');
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(root, { recursive: true, force: true }));

function read(text: string): unknown {
  writeFileSync(join(folder, '0001_first.sql'), text);
  return readMigrations(root);
}

test('the migrations of the package are safe to repeat and have unused numbers', () => {
  for (const { id } of readMigrations()) expect(id).toBeGreaterThan(14);
});

test.each([
  'ALTER TABLE t ADD COLUMN a UInt8;',
  "ALTER TABLE t ADD COLUMN IF NOT EXISTS a Enum8('x, y' = 1, ')' = 2), ADD COLUMN b UInt8;",
  'ALTER TABLE t DROP COLUMN a;',
  'ALTER TABLE t RENAME COLUMN IF EXISTS a TO b;',
  'ALTER TABLE t MODIFY COLUMN a REMOVE DEFAULT;',
  'ALTER TABLE t UPDATE a = a + 1 WHERE 1;',
  'ALTER TABLE t MODIFY SETTING x = 1, UPDATE a = a + 1 WHERE 1;',
  'INSERT INTO t SELECT 1;',
  'EXCHANGE TABLES a AND b;',
  'CREATE TABLE t (a UInt8) ENGINE = Memory;',
])('the migration statement %s is refused, and the error names the file and the statement', (text) => {
  expect(() => read(text)).toThrow(/^migration 0001_first\.sql: "\w.*" is not safe to repeat$/);
});

test('a migration that drops a column and also adds it is refused', () => {
  expect(() =>
    read(
      'ALTER TABLE t DROP COLUMN IF EXISTS a;\nALTER TABLE t ADD COLUMN IF NOT EXISTS b UInt8, ADD COLUMN IF NOT EXISTS a UInt8;',
    ),
  ).toThrow('migration 0001_first.sql: "t.a" is dropped and also used: drop it in a separate migration');
  expect(
    read(
      'ALTER TABLE t DROP COLUMN IF EXISTS a;\nALTER TABLE u ADD COLUMN IF NOT EXISTS a Decimal(38, 12), MODIFY COLUMN b UInt8;',
    ),
  ).toMatchObject([{ id: 1, name: '0001_first.sql' }]);
});
