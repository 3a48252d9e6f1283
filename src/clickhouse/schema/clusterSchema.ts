/**
 * Transforms the schema for a cluster. Each table T becomes two tables: `T_local` holds the rows of one node,
 * and `T` is a Distributed table over all nodes. A view runs on each node, from local table to local table.
 * This file only builds the text; migrate.ts runs the statements.
 */
import { AppError } from '../../errors';
import { EVENT_TABLE_NAMES, EVENT_TABLES } from './eventTables';
import { columnsOf } from './schema';

interface ClusterShape {
  readonly name: string;
  /** Whether shards have several replicas, which need Replicated engines. */
  readonly replicated: boolean;
}

const LOCAL_SUFFIX = '_local';

export const localTable = (table: string): string => `${table}${LOCAL_SUFFIX}`;

/**
 * SQL expressions that choose the shard of a row, by table. Rows that FINAL or LIMIT 1 BY must compare have
 * the same key. A head table uses the key of its final table, so a promotion copies rows within a shard. For
 * changes of the head, finished ranges and operations, readers must see an insert as a whole, so these tables
 * are on one shard.
 */
const SHARDING_KEYS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(EVENT_TABLE_NAMES.map((name) => [name, EVENT_TABLES[name].shardBy])),
  head_blocks: 'chain_id',
  promotions: 'chain_id',
  operations: '0',
  writers: 'chain_id',
  writer_states: 'chain_id',
  import_positions: '0',
  tokens: 'cityHash64(address)',
  token_balance_checks: 'cityHash64(token)',
  odd_tokens: 'cityHash64(token)',
  audit_hashes: 'cityHash64(chain_id, from_block)',
  contract_codes: 'cityHash64(address)',
  code_spans: 'cityHash64(address)',
  contract_creations: 'cityHash64(address)',
  verified_contracts: 'cityHash64(chain_id, address)',
  verified_codes: 'cityHash64(chain_id, address)',
  source_files: 'cityHash64(content_hash)',
  source_uses: 'cityHash64(content_hash)',
  abi_signatures: 'cityHash64(selector)',
  found_pools: 'cityHash64(address)',
  old_ticks: 'cityHash64(pair)',
  pool_births: 'cityHash64(address)',
  pool_first_shares: 'cityHash64(pair)',
  token_supplies: 'cityHash64(token)',
  pool_search: 'chain_id',
  token_traits: 'cityHash64(token)',
  dex_days: 'cityHash64(day)',
  listed_tokens: 'cityHash64(address)',
};

const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)\n/;
const VIEW = /^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+) TO (\w+) AS\n([\s\S]+)$/;
const MODIFIED_VIEW = /^ALTER TABLE \w+ MODIFY QUERY\n/;
const ENGINE = /\nENGINE = (\w*)MergeTree(?:\(([^)\n]*)\))?/;
const WINDOW = 'non_replicated_deduplication_window = 1000';
/**
 * Time in seconds for which replicas remember deduplication tokens: ten years. A range that a crash interrupted may
 * be repeated at any later time.
 */
const DEDUPLICATION_SECONDS = 315_360_000;

/** Returns the statements that create a node's local tables and views. Each is safe to repeat. */
export function toLocalSchema(schema: readonly string[], cluster: ClusterShape): string[] {
  const names = new Set(schema.flatMap((statement) => TABLE.exec(statement)?.[1] ?? []));
  return schema.map((statement) => {
    const table = TABLE.exec(statement)?.[1];
    if (table !== undefined) return localStatement(statement, table, cluster);
    const [, create = '', target = '', select = ''] = VIEW.exec(statement) ?? [];
    if (create === '')
      throw new AppError(
        'bad_config',
        `a cluster does not support this schema statement: ${statement.slice(0, 80)}`,
      );
    const local = select.replace(/\bFROM (\w+)\b/g, (text, name: string) =>
      names.has(name) ? `FROM ${localTable(name)}` : text,
    );
    return `${create} TO ${localTable(target)} AS\n${local}`;
  });
}

/**
 * Returns the statements that create the Distributed tables. `outdated` names tables to create again, because
 * the columns of their local tables have changed.
 */
export function toDistributedSchema(
  schema: readonly string[],
  cluster: ClusterShape,
  outdated: ReadonlySet<string>,
): string[] {
  const targets = new Set(schema.flatMap((statement) => VIEW.exec(statement)?.[2] ?? []));
  return schema.flatMap((statement) => {
    const table = TABLE.exec(statement)?.[1];
    if (table === undefined) return [];
    const engine = [`'${cluster.name}'`, 'currentDatabase()', `'${localTable(table)}'`];
    // A table that only views fill has no sharding key, so that a direct insert into it fails.
    if (!targets.has(table)) engine.push(shardingKey(table));
    const create = outdated.has(table)
      ? `CREATE OR REPLACE TABLE ${table} AS ${localTable(table)}`
      : `CREATE TABLE IF NOT EXISTS ${table}\n(\n${columnsOf(statement)}\n)`;
    const comment = /\nCOMMENT '.*'$/.exec(statement)?.[0] ?? '';
    return [`${create}\nENGINE = Distributed(${engine.join(', ')})${comment}`];
  });
}

/** Returns a migration statement for a node's local table or view. Views have the same name on every node. */
export function toLocalMigration(statement: string): string {
  const tableNamePattern = MODIFIED_VIEW.test(statement)
    ? /\b(FROM) (\w+)\b/g
    : /(^ALTER TABLE|\bFROM|\bJOIN) (\w+)\b/g;
  const localStatement = statement.replace(
    tableNamePattern,
    (_, word: string, table: string) => `${word} ${localTable(table)}`,
  );
  if (localStatement !== statement) return localStatement;
  throw new AppError(
    'bad_config',
    `a cluster does not support this migration statement: ${statement.slice(0, 80)}`,
  );
}

function shardingKey(table: string): string {
  const key = SHARDING_KEYS[table.replace(/_head$/, '')];
  if (key === undefined) throw new AppError('bad_config', `table ${table} has no sharding key`);
  return key;
}

function localStatement(statement: string, table: string, cluster: ClusterShape): string {
  const renamed = statement.replace(TABLE, `CREATE TABLE IF NOT EXISTS ${localTable(table)}\n`);
  if (!cluster.replicated) return renamed;
  const path = `'/clickhouse/tables/${cluster.name}/{database}/{table}/{shard}', '{replica}'`;
  const replicated = renamed.replace(ENGINE, (_, kind: string, given?: string) => {
    const moreArguments = given === undefined || given === '' ? '' : `, ${given}`;
    return `\nENGINE = Replicated${kind}MergeTree(${path}${moreArguments})`;
  });
  if (replicated.includes(WINDOW)) {
    const seconds = `replicated_deduplication_window_seconds = ${DEDUPLICATION_SECONDS}`;
    return replicated.replace(WINDOW, `replicated_deduplication_window = 1000, ${seconds}`);
  }
  // Replicated tables deduplicate by default. A table without a deduplication window in the schema must not, so
  // its window is set to 0.
  const noWindow = '\nSETTINGS replicated_deduplication_window = 0';
  return replicated.includes('\nSETTINGS ')
    ? replicated.replace('\nSETTINGS ', `${noWindow}, `)
    : replicated.replace('\nCOMMENT ', `${noWindow}\nCOMMENT `);
}
