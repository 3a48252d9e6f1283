/** Reads all settings from the environment at once, so one message names every wrong setting. */
import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';

import { z } from 'zod';

import { toChains, type ChainsRead, type FirstChain, type OtherChain } from './chains/chainSettings';
import { CHAINS_MAX, loadChains, readChainIds, readInteger, type ChainSetting } from './chains/loadChains';
import { UINT32_MAX } from './chains/parseChainDescription';
import { redactUrls, shorten } from './chains/redactUrls';
import type { ChainDescription, StartBlock } from './domain/chainDescription';
import { isHash, toLowerHex } from './domain/hex';
import { parseNetwork, readIpcPath } from './domain/networks';
import { PROOF_LEVELS, type ProofMode, type ProofOptions } from './domain/block';
import { AppError } from './errors';

const FINALITY_DEPTH_MAX = 1_000_000;
const PORT_MAX = 65_535;
const HISTORY_CALLS_MAX = 100_000;
const RATE_LIMIT_MAX = 1_000_000_000;
const COST_MAX = 1_000_000_000_000;
const LOOP_DELAY_MAX_MS = 60_000;
const TOKEN_MAX = 512;
/** Largest niceness of a process. */
const NICENESS_MAX = 19;
const METRICS_PORT_DEFAULT = 9_464;
const RPC_URLS_MAX = 20;
const PROOF_MODES: readonly ProofMode[] = ['auto', ...PROOF_LEVELS.toReversed()];
const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export interface Config extends FirstChain {
  /** The chains besides the first one: further chains of CHAINS, and chains of the explorer. */
  readonly otherChains: readonly OtherChain[];
  /** Whether CHAINS is set. Then the name of each chain's database ends with the id of the chain. */
  readonly hasChainList: boolean;
  /** `tag` uses the node's `finalized` block; a number N makes every block ≤ head − N final. */
  readonly finality: 'tag' | number;
  /** What must be proven of each block, and a block hash that is known to be right. */
  readonly proof: ProofOptions;
  /** Whether the raw logs of all contracts are stored. Without them, only the explorer lacks answers. */
  readonly explorer: boolean;
  /** URL of the ClickHouse server; null starts the embedded server. */
  readonly clickhouseUrl: string | null;
  /** URL of the server for the API's reads. The default is CLICKHOUSE_URL; null with the embedded server. */
  readonly clickhouseReadUrl: string | null;
  /** Name of the ClickHouse cluster; null for one server. */
  readonly clickhouseCluster: string | null;
  /** Absolute path of DATA_DIR. */
  readonly dataDir: string;
  readonly host: string;
  /** Port of the API; 0 takes a free port. */
  readonly port: number;
  readonly logLevel: string;
  /** Allowed requests per minute and client address; 0 means no limit. */
  readonly rateLimitPerMinute: number;
  /**
   * Calls per second of `PoolSearch`, which reads pools, creation times, ticks and supplies from before the start block.
   * `SecondLook` and `SenderCheck` may each send a fifth of these calls. 0 turns all three off.
   */
  readonly historyCallsPerSecond: number;
  /** Token of the HyperSync server of `backfill --source`; null without one. */
  readonly hyperSyncToken: string | null;
  /** How `backfill --parquet s3://…` reaches a bucket. Without both an id and a secret, `keys` is null. */
  readonly bucket: {
    /** URL of the server; null for AWS. */
    readonly endpoint: string | null;
    readonly region: string;
    readonly keys: { readonly id: string; readonly secret: string; readonly session: string | null } | null;
  };
  /** Folder with compilers and their list.json; null without one. */
  readonly solcDir: string | null;
  /** URL of a folder with compilers and their list.json; null without one. */
  readonly solcMirror: string | null;
  /** Niceness of compiler processes, 0 to 19. */
  readonly compilerNiceness: number;
  /** Further limits of the API. A limit of 0 is off. */
  readonly load: {
    readonly rowsPerMinute: number;
    readonly bytesPerMinute: number;
    readonly inFlightMax: number;
    readonly loopDelayMaxMs: number;
  };
  /** Networks of proxies. A header X-Forwarded-For from these addresses is trusted. */
  readonly trustedProxies: readonly string[];
  /** Listen address of /metrics. Null serves /metrics with the API, for clients on this machine only. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Value of CORS_ORIGIN: `*` or one origin. */
  readonly corsOrigin: string;
  /** Origin of the web page in the tags of its views, such as https://example.org; null without one. */
  readonly publicUrl: string | null;
}

/** How to read a variable. `read` returns null for an invalid text; `show` hides secrets in messages. */
function setting<T>(
  allowed: string,
  read: (text: string) => T | null,
  show: (text: string) => string = shorten,
) {
  return z
    .string()
    .transform((text, context): T => {
      const value = read(text);
      if (value !== null) return value;
      context.addIssue({ code: 'custom', message: `got "${show(text)}"; allowed: ${allowed}` });
      return z.NEVER;
    })
    .optional();
}

const rpcUrls = setting(
  `a comma-separated list of at most ${RPC_URLS_MAX} http, https, ws or wss URLs, or ipc:///path`,
  readRpcUrls,
  redactUrls,
);
const clickhouseUrl = setting('http(s)://user:password@host:port/database', readClickHouseUrl, redactUrls);

const settings = z.object({
  RPC_URL: rpcUrls,
  RPC_URL_943: rpcUrls,
  CHAINS: setting(`a comma-separated list of at most ${CHAINS_MAX} different chain ids`, readChainIds),
  CHAIN_ID: setting(`an integer from 1 to ${UINT32_MAX}`, (text) => readInteger(text, 1, UINT32_MAX)),
  CHAIN_CONFIG: setting('the path of a JSON file', (text) => text),
  START_BLOCK: setting(
    `a block number from 0 to ${UINT32_MAX}, or -N for N blocks before the head`,
    readStartBlock,
  ),
  FINALITY_DEPTH: setting(`tag, or an integer from 0 to ${FINALITY_DEPTH_MAX}`, (text) =>
    text === 'tag' ? 'tag' : readInteger(text, 0, FINALITY_DEPTH_MAX),
  ),
  PROOF: setting(PROOF_MODES.join(', '), (text) => PROOF_MODES.find((mode) => mode === text) ?? null),
  EXPLORER: setting('on or off', (text) => (text === 'on' || text === 'off' ? text : null)),
  TRUSTED_BLOCK: setting('a block number and its hash, such as 100:0x…', readTrustedBlock),
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_READ_URL: clickhouseUrl,
  CLICKHOUSE_CLUSTER: setting('at most 64 letters, digits, _, . and -', (text) =>
    /^[\w.-]{1,64}$/.test(text) ? text : null,
  ),
  DATA_DIR: setting('the path of a folder', (text) => (text.includes('\0') ? null : text)),
  HOST: setting('an IP address or a host name, without a port', readHost),
  PORT: setting(`an integer from 0 to ${PORT_MAX}`, (text) => readInteger(text, 0, PORT_MAX)),
  LOG_LEVEL: setting(LOG_LEVELS.join(', '), (text) => (LOG_LEVELS.includes(text) ? text : null)),
  RATE_LIMIT_PER_MINUTE: setting(`an integer from 0 to ${RATE_LIMIT_MAX}`, (text) =>
    readInteger(text, 0, RATE_LIMIT_MAX),
  ),
  HISTORY_CALLS_PER_SECOND: setting(`an integer from 0 to ${HISTORY_CALLS_MAX}`, (text) =>
    readInteger(text, 0, HISTORY_CALLS_MAX),
  ),
  HYPERSYNC_TOKEN: setting(
    `at most ${TOKEN_MAX} letters, digits, -, _ and .`,
    (text) => (/^[\w.-]+$/.test(text) && text.length <= TOKEN_MAX ? text : null),
    (text) => `… (${text.length} characters)`,
  ),
  AWS_ACCESS_KEY_ID: setting('a text', (text) => text),
  AWS_SECRET_ACCESS_KEY: setting('a text', (text) => text),
  AWS_SESSION_TOKEN: setting('a text', (text) => text),
  AWS_REGION: setting('a name such as us-east-1', (text) => (/^[\w-]{1,64}$/.test(text) ? text : null)),
  AWS_ENDPOINT_URL: setting(
    'an http or https URL',
    (text) => (isUrl(text, ['http:', 'https:']) ? text : null),
    redactUrls,
  ),
  SOLC_DIR: setting('the path of a folder', (text) => (text.includes('\0') ? null : text)),
  SOLC_MIRROR: setting(
    'an http or https URL',
    (text) => (isUrl(text, ['http:', 'https:']) ? text : null),
    redactUrls,
  ),
  COMPILER_NICENESS: setting(`an integer from 0 to ${NICENESS_MAX}`, (text) =>
    readInteger(text, 0, NICENESS_MAX),
  ),
  RATE_LIMIT_ROWS_PER_MINUTE: setting(`an integer from 0 to ${COST_MAX}`, (text) => readCost(text)),
  RATE_LIMIT_BYTES_PER_MINUTE: setting(`an integer from 0 to ${COST_MAX}`, (text) => readCost(text)),
  RATE_LIMIT_IN_FLIGHT: setting(`an integer from 0 to ${RATE_LIMIT_MAX}`, (text) =>
    readInteger(text, 0, RATE_LIMIT_MAX),
  ),
  SHED_LOOP_DELAY_MS: setting(`an integer from 0 to ${LOOP_DELAY_MAX_MS}`, (text) =>
    readInteger(text, 0, LOOP_DELAY_MAX_MS),
  ),
  TRUSTED_PROXIES: setting(
    'a comma-separated list of networks such as 10.0.0.0/8 or addresses',
    readNetworks,
  ),
  METRICS_HOST: setting('an IP address or a host name, without a port', readHost),
  METRICS_PORT: setting(`an integer from 0 to ${PORT_MAX}`, (text) => readInteger(text, 0, PORT_MAX)),
  CORS_ORIGIN: setting('* or an origin such as https://example.org', (text) =>
    text === '*' ? text : readOrigin(text),
  ),
  PUBLIC_URL: setting('an origin such as https://example.org', readOrigin),
});

/**
 * Reads and checks the settings in `env`, with defaults. An empty variable counts as unset. Throws one bad_config that
 * names each wrong variable, its value (secrets hidden) and what is allowed.
 */
export function loadConfig(env: NodeJS.ProcessEnv, readFile: (path: string) => string): Config {
  const givenEnv = givenSettings(env);
  const result = settings.safeParse(givenEnv);
  const problems = result.success
    ? []
    : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  if (givenEnv.CLICKHOUSE_READ_URL !== undefined && givenEnv.CLICKHOUSE_URL === undefined) {
    problems.push(
      'CLICKHOUSE_READ_URL: set CLICKHOUSE_URL too, otherwise the API and the ingester use different databases',
    );
  }
  const chains = loadChains(givenEnv, readFile, problems);
  const urls = readChainUrls(givenEnv, chains, problems);
  const [chain, ...others] = chains;
  if (!result.success || chain === undefined || problems.length > 0) {
    throw new AppError('bad_config', problems.join('; '));
  }
  return toConfig(result.data, { chains: [chain, ...others], urls });
}

/** The URLs of the settings RPC_URL_<id>, by chain id. Adds a problem for each wrong setting. */
function readChainUrls(
  given: Given,
  chains: readonly ChainDescription[],
  problems: string[],
): ChainsRead['urls'] {
  const urls = new Map<number, readonly string[]>();
  for (const { chainId } of given.CHAINS === undefined ? [] : chains) {
    const result = rpcUrls.safeParse(given[`RPC_URL_${chainId}`]);
    if (!result.success)
      problems.push(...result.error.issues.map(({ message }) => `RPC_URL_${chainId}: ${message}`));
    else if (result.data !== undefined) urls.set(chainId, result.data);
  }
  return urls;
}

function toLoad(read: z.infer<typeof settings>): Config['load'] {
  return {
    rowsPerMinute: read.RATE_LIMIT_ROWS_PER_MINUTE ?? 1_000_000_000,
    bytesPerMinute: read.RATE_LIMIT_BYTES_PER_MINUTE ?? 50_000_000_000,
    inFlightMax: read.RATE_LIMIT_IN_FLIGHT ?? 256,
    loopDelayMaxMs: read.SHED_LOOP_DELAY_MS ?? 1_000,
  };
}

function toCompilers(
  read: z.infer<typeof settings>,
): Pick<Config, 'solcDir' | 'solcMirror' | 'compilerNiceness'> {
  return {
    solcDir: read.SOLC_DIR === undefined ? null : resolve(read.SOLC_DIR),
    solcMirror: read.SOLC_MIRROR ?? null,
    compilerNiceness: read.COMPILER_NICENESS ?? NICENESS_MAX,
  };
}

function toBucket(read: z.infer<typeof settings>): Config['bucket'] {
  const [id, secret] = [read.AWS_ACCESS_KEY_ID, read.AWS_SECRET_ACCESS_KEY];
  const session = read.AWS_SESSION_TOKEN ?? null;
  return {
    endpoint: read.AWS_ENDPOINT_URL ?? null,
    region: read.AWS_REGION ?? 'us-east-1',
    keys: id === undefined || secret === undefined ? null : { id, secret, session },
  };
}

function toProof(read: z.infer<typeof settings>): ProofOptions {
  return { mode: read.PROOF ?? 'auto', trusted: read.TRUSTED_BLOCK ?? null };
}

function toConfig(read: z.infer<typeof settings>, chains: ChainsRead): Config {
  return {
    ...toChains(read, chains),
    hasChainList: read.CHAINS !== undefined,
    finality: read.FINALITY_DEPTH ?? 'tag',
    proof: toProof(read),
    explorer: read.EXPLORER !== 'off',
    clickhouseUrl: read.CLICKHOUSE_URL ?? null,
    clickhouseReadUrl: read.CLICKHOUSE_READ_URL ?? read.CLICKHOUSE_URL ?? null,
    clickhouseCluster: read.CLICKHOUSE_CLUSTER ?? null,
    dataDir: resolve(read.DATA_DIR ?? '.data'),
    host: read.HOST ?? '127.0.0.1',
    port: read.PORT ?? 3_000,
    logLevel: read.LOG_LEVEL ?? 'info',
    rateLimitPerMinute: read.RATE_LIMIT_PER_MINUTE ?? 600,
    historyCallsPerSecond: read.HISTORY_CALLS_PER_SECOND ?? 50,
    hyperSyncToken: read.HYPERSYNC_TOKEN ?? null,
    bucket: toBucket(read),
    ...toCompilers(read),
    load: toLoad(read),
    trustedProxies: read.TRUSTED_PROXIES ?? [],
    metrics: metricsAddress(read.METRICS_HOST, read.METRICS_PORT),
    corsOrigin: read.CORS_ORIGIN ?? '*',
    publicUrl: read.PUBLIC_URL ?? null,
  };
}

type Given = Partial<Record<keyof typeof settings.shape | ChainSetting, string>>;

/** The variables in `env` that are settings of this program and not empty, trimmed. */
function givenSettings(env: NodeJS.ProcessEnv): Given {
  const chainIds = readChainIds(env['CHAINS']?.trim() ?? '') ?? [];
  const chainSettings = chainIds.flatMap((id) => [`RPC_URL_${id}`, `CHAIN_CONFIG_${id}`] as const);
  const nonEmpty: Given = {};
  for (const name of [...settings.keyof().options, ...chainSettings]) {
    const text = env[name]?.trim() ?? '';
    if (text !== '') nonEmpty[name] = text;
  }
  return nonEmpty;
}

function readStartBlock(text: string): StartBlock | null {
  const isBeforeHead = text.startsWith('-');
  const value = readInteger(isBeforeHead ? text.slice(1) : text, 0, UINT32_MAX);
  if (value === null) return null;
  return isBeforeHead ? { kind: 'before_head', blocks: value } : { kind: 'absolute', block: value };
}

function readTrustedBlock(text: string): ProofOptions['trusted'] {
  const [number, hash, more] = text.split(':');
  const block = readInteger(number ?? '', 0, UINT32_MAX);
  return block === null || !isHash(hash) || more !== undefined
    ? null
    : { number: block, hash: toLowerHex(hash) };
}

/** The URLs of a comma list, without duplicates. */
function readRpcUrls(text: string): readonly string[] | null {
  const urls = text.split(',').map((part) => part.trim());
  const areValid = urls.every(
    (each) => isUrl(each, ['http:', 'https:', 'ws:', 'wss:']) || readIpcPath(each) !== null,
  );
  return areValid && urls.length <= RPC_URLS_MAX ? [...new Set(urls)] : null;
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!text.includes('://') || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocols.includes(protocol) && hostname !== '';
}

/**
 * Checks a ClickHouse URL. The path may have one segment at most. It becomes the database name in CREATE
 * DATABASE, so it must be a plain name.
 */
function readClickHouseUrl(text: string): string | null {
  if (!isUrl(text, ['http:', 'https:'])) return null;
  return /^\/(?:\w{1,64}\/?)?$/.test(new URL(text).pathname) ? text : null;
}

function readCost(text: string): number | null {
  const value = /^\d{1,13}$/.test(text) ? Number(text) : COST_MAX + 1;
  return value <= COST_MAX ? value : null;
}

function readNetworks(text: string): readonly string[] | null {
  const networks = text.split(',').map((part) => part.trim());
  return networks.every((network) => parseNetwork(network) !== null) ? networks : null;
}

/** Returns the address of /metrics. If only host or port is set, the other has a default. */
function metricsAddress(host: string | undefined, port: number | undefined): Config['metrics'] {
  if (host === undefined && port === undefined) return null;
  return { host: host ?? '127.0.0.1', port: port ?? METRICS_PORT_DEFAULT };
}

function readHost(text: string): string | null {
  return isIPv6(text) || /^[\w.-]{1,253}$/.test(text) ? text : null;
}

function readOrigin(text: string): string | null {
  if (!isUrl(text, ['http:', 'https:'])) return null;
  const { origin, pathname, search, hash } = new URL(text);
  return pathname === '/' && search === '' && hash === '' ? origin : null;
}
