/**
 * Tests how the schema's statements are rewritten for a cluster. test/full/engine/cluster.test.ts runs the
 * statements on two shards.
 */
import {
  toDistributedSchema,
  toLocalMigration,
  toLocalSchema,
} from '../../../../src/clickhouse/schema/clusterSchema';
import { globalSubqueries } from '../../../../src/clickhouse/client/globalSubqueries';
import { readMigrations } from '../../../../src/clickhouse/schema/migrations';
import { readSchema } from '../../../../src/clickhouse/schema/schema';
import { makeSmallSchema } from '../../../support/engine/smallSchema';

const schema = readSchema();
const tables = schema.flatMap((text) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? []);

test('on a cluster each table becomes a local and a distributed table, and a view reads and writes local tables', () => {
  const local = toLocalSchema(schema, { name: 'c', replicated: false });
  expect(local).toHaveLength(schema.length);
  const views = local.filter((text) => text.startsWith('CREATE MATERIALIZED VIEW'));
  expect(views.length).toBeGreaterThan(10);
  for (const view of views) {
    expect(view).toMatch(/ TO \w+_local AS\n/);
    for (const [, table = ''] of view.matchAll(/\bFROM (\w+)/g)) expect(table).toMatch(/_local$/);
  }
  const distributed = toDistributedSchema(schema, { name: 'c', replicated: false }, new Set(['swaps']));
  expect(
    distributed.map((text) => /^CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?(\w+)/.exec(text)?.[1]),
  ).toEqual(tables);
  expect(distributed.filter((text) => text.startsWith('CREATE OR REPLACE TABLE'))).toHaveLength(1);
  for (const text of distributed) expect(text).not.toMatch(/PROJECTION|INDEX |SETTINGS/);
});

test('a head table has the sharding key of its final table, and a table filled by a view has no sharding key', () => {
  const engines = new Map(
    toDistributedSchema(schema, { name: 'c', replicated: false }, new Set()).map((text) => [
      / (\w+)\n\(/.exec(text)![1]!,
      /ENGINE = Distributed\('c', currentDatabase\(\), '\w+_local'(?:, (.*))?\)\nCOMMENT '.*'$/.exec(
        text,
      )![1],
    ]),
  );
  const heads = tables.filter((table) => table.endsWith('_head'));
  expect(heads.length).toBeGreaterThan(10);
  for (const head of heads)
    expect([head, engines.get(head)]).toEqual([head, engines.get(head.replace(/_head$/, ''))]);
  const targets = schema.flatMap((text) => / TO (\w+) AS\n/.exec(text)?.[1] ?? []);
  for (const [table, key] of engines)
    expect([table, key === undefined]).toEqual([table, targets.includes(table)]);
});

test('for a cluster with replicas the tables have replicated engines and deduplication windows', () => {
  const path = "'/clickhouse/tables/c/{database}/{table}/{shard}', '{replica}'";
  const replicated = toLocalSchema(schema, { name: 'c', replicated: true });
  schema.forEach((text, index) => {
    const now = replicated[index]!;
    const engine = /\nENGINE = (\w*)MergeTree(?:\((.*)\))?/.exec(text);
    if (engine === null) return;
    const [, kind = '', rest] = engine;
    expect(now).toContain(
      `\nENGINE = Replicated${kind}MergeTree(${path}${rest === undefined ? '' : `, ${rest}`})\n`,
    );
    const window = /non_replicated_deduplication_window = (\d+)/.exec(text)?.[1] ?? '0';
    expect([now.match(/\breplicated_deduplication_window = \d+/g), now.includes('non_replicated')]).toEqual([
      [`replicated_deduplication_window = ${window}`],
      false,
    ]);
    expect(now.includes('replicated_deduplication_window_seconds = 315360000')).toBe(window !== '0');
  });
});

test('every statement of a migration is rewritten for local tables and views', () => {
  const small = makeSmallSchema();
  const migrations = [...readMigrations(), ...readMigrations(small.after)];
  small.remove();
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const local = toLocalMigration(statement);
    expect(local).toMatch(/^ALTER TABLE (\w+_local\s|mv_\w+ MODIFY QUERY\n)/);
    for (const [, table = ''] of local.matchAll(/\bFROM (\w+)/g)) expect(table).toMatch(/_local$/);
  }
  expect(() => toLocalMigration('RENAME TABLE a TO b')).toThrow(
    'a cluster does not support this migration statement',
  );
});

const said = (plain: string, global: string): [string, string] => [plain, global];

test.each([
  said('FROM t WHERE a IN (SELECT b FROM c)', 'FROM t WHERE a GLOBAL IN (SELECT b FROM c)'),
  said(
    'FROM t WHERE a NOT IN (\n  SELECT b FROM c\n)',
    'FROM t WHERE a GLOBAL NOT IN (\n  SELECT b FROM c\n)',
  ),
  said(
    'FROM t WHERE (x OR f(a IN (SELECT b FROM c)))',
    'FROM t WHERE (x OR f(a GLOBAL IN (SELECT b FROM c)))',
  ),
  said(
    'FROM {db:Identifier}.t WHERE a IN\n(\n  SELECT b FROM c)',
    'FROM {db:Identifier}.t WHERE a GLOBAL IN\n(\n  SELECT b FROM c)',
  ),
  said(
    'FROM t WHERE a IN (SELECT max(b) FROM c WHERE d IN (SELECT e FROM f))',
    'FROM t WHERE a GLOBAL IN (SELECT max(b) FROM c WHERE d GLOBAL IN (SELECT e FROM f))',
  ),
  said('FROM t WHERE (a, b) IN moved AND', 'FROM t WHERE (a, b) GLOBAL IN (SELECT * FROM moved) AND'),
  said('FROM x ANY LEFT JOIN y ON', 'FROM x GLOBAL ANY LEFT JOIN y ON'),
  said(
    "FROM t -- it's (a\nWHERE b != ')' AND a IN (SELECT b FROM c)",
    "FROM t -- it's (a\nWHERE b != ')' AND a GLOBAL IN (SELECT b FROM c)",
  ),
])('the statement SELECT 1 %s is rewritten to %s', (plain, global) => {
  expect(globalSubqueries(`SELECT 1 ${plain}`)).toBe(`SELECT 1 ${global}`);
  // Each SELECT of a UNION is rewritten separately.
  expect(
    globalSubqueries(`SELECT 2 FROM (SELECT 3) UNION ALL SELECT 1 ${plain} UNION ALL SELECT 4 FROM w`),
  ).toBe(`SELECT 2 FROM (SELECT 3) UNION ALL SELECT 1 ${global} UNION ALL SELECT 4 FROM w`);
});

test.each([
  // Statements that read FROM a subquery or a WITH clause stay as they are, because ClickHouse would send their
  // GLOBAL IN to the shards without the set of its subquery.
  'SELECT 1 FROM (SELECT a FROM t UNION ALL SELECT a FROM u) WHERE a IN (SELECT b FROM c)',
  'SELECT 1 FROM (SELECT a FROM t) AS s LEFT JOIN c ON 1',
  'WITH s AS\n(SELECT a FROM t) SELECT 1 FROM s WHERE a IN (SELECT b FROM c)',
  // The subquery gives the same rows on every shard, so the filter needs no GLOBAL.
  'SELECT 1 FROM t WHERE a IN (SELECT unhex(arrayJoin({list:Array(String)}))) AND b = 1',
  "SELECT 1 FROM t WHERE kind IN ('mint', 'burn')",
  'SELECT 1 FROM x ARRAY JOIN y',
  'SELECT 1 FROM x LEFT ARRAY JOIN y',
  "SELECT 'a IN (SELECT b FROM c)' FROM t -- a JOIN b",
])('the cluster refuses to rewrite %s', (sql) => {
  expect(globalSubqueries(sql)).toBe(sql);
});
