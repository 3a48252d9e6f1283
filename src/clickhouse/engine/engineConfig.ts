/**
 * Builds the text of the embedded engine's configuration file: two users with rights and limits, and server
 * settings for a small machine. server.ts chooses the path, and engineSupervisor.ts runs the engine.
 */

export interface EngineUser {
  readonly name: string;
  readonly password: string;
}

/** Makes the engine one shard of a cluster on this machine. Tests of Distributed tables use it. */
export interface EngineCluster {
  readonly name: string;
  /**
   * Secret that all nodes of the cluster share. With it, a query runs on all nodes as the user who sent it.
   */
  readonly secret: string;
  /** Passwords of the users, the same on every node. */
  readonly passwords: { readonly writer: string; readonly reader: string };
  /** Native ports of this node and of all nodes. Each node is one shard. */
  readonly tcpPort: number;
  readonly tcpPorts: readonly number[];
}

export interface EngineConfig {
  /**
   * Random text that `getMacro('candlehouse_nonce')` returns. It proves that a server is the engine that was
   * just started.
   */
  readonly nonce: string;
  readonly writer: EngineUser;
  readonly reader: EngineUser;
  /** The users have rights on this database and on all databases whose names start with it. */
  readonly database: string;
  /** Path of this configuration file, which also contains the users. */
  readonly file: string;
  readonly logFile: string;
  /** The only folder for BACKUP and RESTORE. */
  readonly backupFolder: string;
  /** Memory limit of the whole engine in bytes. Above it, queries fail but the engine keeps running. */
  readonly serverMemoryMax: number;
  /** Free disk space to keep, in bytes. Writes that would use this space fail with NOT_ENOUGH_SPACE. */
  readonly keepFreeBytes: number;
  /** Time limit of a reader's statement, in seconds. Default 10. */
  readonly readerSecondsMax?: number;
  /** The cluster of this node. If absent, the engine is a single server. */
  readonly cluster?: EngineCluster;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Time limit of a reader's statement, in seconds. */
const READER_SECONDS_MAX = 10;
/**
 * Timeout in ms of a reader's request. It is longer than the reader's time limit, so only an engine that
 * hangs exceeds it.
 */
export const READER_TIMEOUT_MS = READER_SECONDS_MAX * 1_000 + 2_000;

/**
 * Settings and limits of the reader. Queries cannot change them because of `readonly = 1`. Constraints
 * protect them too, in case `readonly` becomes 2.
 */
const READER_SETTINGS: Readonly<Record<string, number | string>> = {
  max_threads: 2,
  // Index reads use one thread, because distributing a table's parts to threads costs more than reading their keys.
  max_threads_for_indexes: 1,
  // Column statistics are off: every statement would read them, and they improve no query plan here.
  use_statistics: 0,
  // With implicit projections, ClickHouse 26.7 counts some rows of `logs` twice (decision 148).
  optimize_use_implicit_projections: 0,
  // The cache of decompressed blocks speeds up reads of a few scattered rows. Without it, each column would
  // decompress a block of 64 KB for one row.
  use_uncompressed_cache: 1,
  max_execution_time: READER_SECONDS_MAX,
  timeout_overflow_mode: 'throw',
  max_memory_usage: GIB,
  max_memory_usage_for_user: 4 * GIB,
  max_rows_to_read: 500_000_000,
  max_bytes_to_read: 50 * GIB,
  read_overflow_mode: 'throw',
  // As many as the largest list that the API reads: all pools of a chain.
  max_result_rows: 2_000_000,
  max_result_bytes: 256 * MIB,
  result_overflow_mode: 'throw',
  max_concurrent_queries_for_user: 64,
  max_query_size: MIB,
  max_ast_depth: 500,
  cancel_http_readonly_queries_on_client_close: 1,
  // On a cluster, the same replica always answers. Another replica could have older data, so answers could go
  // back in time.
  load_balancing: 'in_order',
  allow_introspection_functions: 0,
  allow_ddl: 0,
  // Compilation of expressions is off. Statements contain changing values such as commits, so each would be
  // compiled again.
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};

/** Makes answers independent of the engine's version: 64-bit integers as text, compression only on
 * request. */
const ANSWER_SETTINGS: Readonly<Record<string, number | string>> = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 0,
  enable_http_compression: 1,
};

/**
 * Most statements read projections as sort orders only. Statements on logs and blocks change this (queryText.ts).
 * Statements that look for a token in `events` name the projection (decision 147).
 */
const STATEMENT_SETTINGS = {
  optimize_use_projection_filtering: 0,
  preferred_optimize_projection_name: '',
};

/** Formats of exported files that every reader can open. A statement may ask for another compression. */
const EXPORT_SETTINGS: Readonly<Record<string, number | string>> = {
  output_format_arrow_compression_method: 'none',
  output_format_parquet_compression_method: 'snappy',
};

/** Settings of the reader that a statement may change. */
const CHANGEABLE = { ...STATEMENT_SETTINGS, ...EXPORT_SETTINGS };

/** These settings are explicit, because the engine's defaults changed in 26.2 and 26.3. */
const WRITER_SETTINGS: Readonly<Record<string, number | string>> = {
  async_insert: 0,
  insert_deduplicate: 1,
  output_format_json_quote_64bit_integers: 1,
};

/**
 * Sizes of caches and pools for a machine with two cores that also runs the ingester and the API. The engine's
 * shutdown waits for idle connections, so their timeout is short. It is still longer than the clients' timeout (2.5
 * s), so that clients close first.
 */
const SERVER_SETTINGS: Readonly<Record<string, number>> = {
  mark_cache_size: 256 * MIB,
  primary_index_cache_size: 256 * MIB,
  index_mark_cache_size: 64 * MIB,
  index_uncompressed_cache_size: 0,
  mmap_cache_size: 0,
  query_condition_cache_size: 16 * MIB,
  compiled_expression_cache_size: 32 * MIB,
  text_index_tokens_cache_size: 64 * MIB,
  text_index_header_cache_size: 64 * MIB,
  text_index_postings_cache_size: 64 * MIB,
  vector_similarity_index_cache_size: 0,
  background_pool_size: 2,
  // Number of threads for background tasks of tables. The tasks are almost always idle. With a smaller pool, the
  // engine would log warnings all the time.
  background_schedule_pool_size: 64,
  background_streaming_schedule_pool_size: 64,
  // How often ClickHouse reads how much memory it has. The default of 50 ms takes a third of the processor time of an
  // engine without queries.
  memory_worker_period_ms: 1_000,
  // First pause in seconds before ClickHouse looks again for merges of a table; each further pause is a tenth longer.
  // Every insert starts a look by itself. With the default of 0.1 s, a table with an insert every 10 s is looked at
  // ten times in between.
  background_processing_pool_thread_sleep_seconds_if_nothing_to_do: 5,
  // The same for streaming queries, of which there are none.
  background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do: 600,
  max_concurrent_queries: 200,
  keep_alive_timeout: 10,
  shutdown_wait_unfinished: 1,
};

/** Size of the cache of decompressed column blocks, in bytes. */
const UNPACKED_MAX = GIB;
/** Size of the cache of decompressed blocks, as a part of the engine's memory limit. */
const UNPACKED_SHARE = 1 / 8;

/** The text of the configuration file. It contains both passwords, so write it with mode 0600. */
export function writeEngineConfig(config: EngineConfig): string {
  const { readerSecondsMax = READER_SECONDS_MAX } = config;
  const sizes = {
    max_server_memory_usage: config.serverMemoryMax,
    uncompressed_cache_size: Math.min(UNPACKED_MAX, Math.floor(config.serverMemoryMax * UNPACKED_SHARE)),
  };
  return `<clickhouse>
${xmlElements({ ...SERVER_SETTINGS, ...sizes }, '  ')}
  <storage_configuration>
    <disks><default><keep_free_space_bytes>${config.keepFreeBytes}</keep_free_space_bytes></default></disks>
  </storage_configuration>
  <backups><allowed_path>${escapeXml(config.backupFolder)}</allowed_path></backups>
  <access_control_improvements>
    <settings_constraints_replace_previous>true</settings_constraints_replace_previous>
  </access_control_improvements>
  <users_config>${escapeXml(config.file)}</users_config>
  <macros><candlehouse_nonce>${escapeXml(config.nonce)}</candlehouse_nonce></macros>${remoteServers(config.cluster)}
  <logger>
    <log>${escapeXml(config.logFile)}</log>
    <size>10M</size>
    <count>2</count>
  </logger>
  <profiles>
    <default/>
    <bootstrap>${xmlElements(BOOTSTRAP_SETTINGS)}</bootstrap>
    <writer>
${xmlElements(WRITER_SETTINGS, '      ')}
    </writer>
    <reader>
      <readonly>1</readonly>
${xmlElements({ ...READER_SETTINGS, ...ANSWER_SETTINGS, ...CHANGEABLE, max_execution_time: readerSecondsMax }, '      ')}
      <constraints>
${constraints(Object.keys(READER_SETTINGS), 'const', '        ')}
${constraints(Object.keys(CHANGEABLE), 'changeable_in_readonly', '        ')}
      </constraints>
    </reader>
  </profiles>
  <quotas><default/></quotas>
  <users>
${userElement({ name: 'default', password: '' }, 'bootstrap', BOOTSTRAP_GRANTS)}
${userElement(config.writer, 'writer', writerGrants(config.database))}
${userElement(config.reader, 'reader', [`GRANT SELECT ON ${config.database}*.*`])}
  </users>
</clickhouse>
`;
}

/**
 * Limits for the user `default`. The engine runs its start-up query as this user without a password, which
 * cannot be disabled. The session of this query lasts as long as the server, and only one session is allowed.
 * So no other client can log in as `default`.
 */
const BOOTSTRAP_SETTINGS = {
  max_sessions_for_user: 1,
  max_concurrent_queries_for_user: 1,
  // The start-up query would report its progress every 100 ms, for as long as the server runs. In microseconds.
  interactive_delay: 3_600_000_000,
};

const BOOTSTRAP_GRANTS = [
  'GRANT SYSTEM LISTEN ON *.*',
  'GRANT CREATE TEMPORARY TABLE ON *.*',
  'GRANT READ ON FILE',
];

/**
 * Table engines that the writer may use. File, URL, S3, Executable and similar engines are excluded, because
 * they access data outside the database.
 */
const WRITER_ENGINES = [
  ...['', 'Replacing', 'Aggregating', 'Summing', 'Collapsing', 'VersionedCollapsing', 'Coalescing'].map(
    (kind) => `${kind}MergeTree`,
  ),
  ...['Memory', 'Null', 'Buffer', 'Merge', 'Join', 'Set', 'Distributed', 'Dictionary'],
];

function writerGrants(database: string): string[] {
  return [
    `GRANT ALL ON ${database}*.*`,
    'GRANT SELECT ON system.*',
    'GRANT SELECT ON information_schema.*',
    'GRANT CREATE TEMPORARY TABLE ON *.*',
    'GRANT KILL QUERY ON *.*',
    'GRANT SYSTEM DROP CACHE ON *.*',
    'GRANT CLUSTER ON *.*',
    'GRANT READ ON REMOTE',
    'GRANT WRITE ON REMOTE',
    ...WRITER_ENGINES.map((engine) => `GRANT TABLE ENGINE ON ${engine}`),
  ];
}

function remoteServers(cluster: EngineCluster | undefined): string {
  if (cluster === undefined) return '';
  const shards = cluster.tcpPorts.map(
    (port) => `      <shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`,
  );
  return `
  <remote_servers>
    <${cluster.name}>
      <secret>${escapeXml(cluster.secret)}</secret>
${shards.join('\n')}
    </${cluster.name}>
  </remote_servers>`;
}

function userElement(user: EngineUser, profile: string, grants: readonly string[]): string {
  const queries = grants.map((grant) => `        <query>${escapeXml(grant)}</query>`).join('\n');
  return `    <${user.name}>
      <password>${escapeXml(user.password)}</password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>${profile}</profile>
      <quota>default</quota>
      <grants>
${queries}
      </grants>
    </${user.name}>`;
}

function xmlElements(values: Readonly<Record<string, number | string>>, indent = ''): string {
  const lines = Object.entries(values).map(([name, value]) => `${indent}<${name}>${value}</${name}>`);
  return lines.join(indent === '' ? '' : '\n');
}

function constraints(names: readonly string[], kind: string, indent: string): string {
  return names.map((name) => `${indent}<${name}><${kind}/></${name}>`).join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
