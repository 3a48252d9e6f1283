/**
 * The embedded engine's configuration file: its two users with their rights and limits, and server settings for a small
 * machine. Pure text; server.ts chooses the file's path and engineSupervisor.ts runs the engine.
 */

export interface EngineUser {
  readonly name: string;
  readonly password: string;
}

/** Makes the engine one shard of a cluster on this machine; how Distributed tables are tested. */
export interface EngineCluster {
  readonly name: string;
  /** By which the nodes know each other; a query runs on all of them as the user who asked. */
  readonly secret: string;
  /** Of the users, the same on every node. */
  readonly passwords: { readonly writer: string; readonly reader: string };
  /** Of this node's native protocol, and of every node's: one shard each. */
  readonly tcpPort: number;
  readonly tcpPorts: readonly number[];
}

export interface EngineConfig {
  /** What `SELECT getMacro('candlehouse_nonce')` answers: proof that the server is the one just started. */
  readonly nonce: string;
  readonly writer: EngineUser;
  readonly reader: EngineUser;
  /** The users' rights reach this database and every one whose name starts with it. */
  readonly database: string;
  /** Where this configuration will lie: it names itself as the file with the users. */
  readonly file: string;
  readonly logFile: string;
  /** The one folder that BACKUP writes to and RESTORE reads from. */
  readonly backupFolder: string;
  /** Bytes that the whole engine may use; above it queries fail, the process lives. */
  readonly serverMemoryMax: number;
  /** Bytes of the data's file system that stay free: what would go below is refused with NOT_ENOUGH_SPACE. */
  readonly keepFreeBytes: number;
  /** A reader's statement ends by then, or is refused. Default 10 s. */
  readonly readerSecondsMax?: number;
  /** Absent: a server of its own. */
  readonly cluster?: EngineCluster;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** A reader's statement ends by then, or is refused. */
const READER_SECONDS_MAX = 10;
/** An engine that says nothing for longer hangs: whoever asked has an error, not a wait. */
export const READER_TIMEOUT_MS = READER_SECONDS_MAX * 1_000 + 2_000;

/**
 * The reader's limits. None can be changed by a query: `readonly = 1` forbids it, and the constraints would still hold if
 * someone set that to 2. A query may repeat one of these values, not another.
 */
const READER_SETTINGS: Readonly<Record<string, number | string>> = {
  max_threads: 2,
  // Handing a table's parts to other threads takes longer than looking at their keys: of a page of logs 2.3 ms of 15.
  max_threads_for_indexes: 1,
  // What each part says of its columns' values was read for every statement, and no plan here is the better for it.
  use_statistics: 0,
  // A few rows of many columns, of which each unpacks a block of 64 KB: 50 scattered swaps take half the time.
  use_uncompressed_cache: 1,
  max_execution_time: READER_SECONDS_MAX,
  timeout_overflow_mode: 'throw',
  max_memory_usage: GIB,
  max_memory_usage_for_user: 4 * GIB,
  max_rows_to_read: 500_000_000,
  max_bytes_to_read: 50 * GIB,
  read_overflow_mode: 'throw',
  max_result_rows: 1_000_000,
  max_result_bytes: 256 * MIB,
  result_overflow_mode: 'throw',
  max_concurrent_queries_for_user: 64,
  max_query_size: MIB,
  max_ast_depth: 500,
  cancel_http_readonly_queries_on_client_close: 1,
  // Of a cluster: always the same replica, so that no answer is older than the one before.
  load_balancing: 'in_order',
  allow_introspection_functions: 0,
  allow_ddl: 0,
  // Statements name the head's commits and the like: to the compiler each is another one, at 30 ms a piece.
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};

/** Answers look the same whatever the engine's version: 64-bit integers as strings, compression when asked for. */
const ANSWER_SETTINGS: Readonly<Record<string, number | string>> = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 0,
  enable_http_compression: 1,
};

/** Not left to the engine's defaults, which changed in 26.2 and 26.3. */
const WRITER_SETTINGS: Readonly<Record<string, number | string>> = {
  async_insert: 0,
  insert_deduplicate: 1,
  output_format_json_quote_64bit_integers: 1,
};

/**
 * Caches and pools for a machine of two cores that also runs the ingester and the API. The engine ends no sooner than the
 * last idle connection: keep those short, yet longer than our clients do (2.5 s), so that it is never the one to close.
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
  // Tasks of each table that hardly ever do anything: with room for one of a kind the engine warned thirty times a second.
  background_schedule_pool_size: 64,
  background_streaming_schedule_pool_size: 64,
  max_concurrent_queries: 200,
  keep_alive_timeout: 10,
  shutdown_wait_unfinished: 1,
};

/** Blocks of columns, unpacked: some days of a busy chain's swaps. */
const UNPACKED_MAX = GIB;
/** Of the memory that the engine may use. */
const UNPACKED_SHARE = 1 / 8;

/** The text of the configuration file. It holds both passwords: write it with mode 0600. */
export function writeEngineConfig(config: EngineConfig): string {
  const { readerSecondsMax = READER_SECONDS_MAX } = config;
  const sizes = {
    max_server_memory_usage: config.serverMemoryMax,
    uncompressed_cache_size: Math.min(UNPACKED_MAX, Math.floor(config.serverMemoryMax * UNPACKED_SHARE)),
  };
  return `<clickhouse>
${elements({ ...SERVER_SETTINGS, ...sizes }, '  ')}
  <storage_configuration>
    <disks><default><keep_free_space_bytes>${config.keepFreeBytes}</keep_free_space_bytes></default></disks>
  </storage_configuration>
  <backups><allowed_path>${escapeXml(config.backupFolder)}</allowed_path></backups>
  <users_config>${escapeXml(config.file)}</users_config>
  <macros><candlehouse_nonce>${escapeXml(config.nonce)}</candlehouse_nonce></macros>${remoteServers(config.cluster)}
  <logger>
    <log>${escapeXml(config.logFile)}</log>
    <size>10M</size>
    <count>2</count>
  </logger>
  <profiles>
    <default/>
    <bootstrap>${elements(BOOTSTRAP_SETTINGS)}</bootstrap>
    <writer>
${elements(WRITER_SETTINGS, '      ')}
    </writer>
    <reader>
      <readonly>1</readonly>
${elements({ ...READER_SETTINGS, ...ANSWER_SETTINGS, max_execution_time: readerSecondsMax }, '      ')}
      <constraints>
${constants(Object.keys(READER_SETTINGS), '        ')}
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
 * The engine runs its own start-up query as `default` without a password, which cannot be turned off. That query's
 * session lasts as long as the server, and there may be only one: so no one else gets in under that name.
 */
const BOOTSTRAP_SETTINGS = { max_sessions_for_user: 1, max_concurrent_queries_for_user: 1 };

const BOOTSTRAP_GRANTS = [
  'GRANT SYSTEM LISTEN ON *.*',
  'GRANT CREATE TEMPORARY TABLE ON *.*',
  'GRANT READ ON FILE',
];

/** Not File, URL, S3, Executable and the like, which reach beyond the database. */
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

function elements(values: Readonly<Record<string, number | string>>, indent = ''): string {
  const lines = Object.entries(values).map(([name, value]) => `${indent}<${name}>${value}</${name}>`);
  return lines.join(indent === '' ? '' : '\n');
}

function constants(names: readonly string[], indent: string): string {
  return names.map((name) => `${indent}<${name}><const/></${name}>`).join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
