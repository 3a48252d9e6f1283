/** Reads all settings from the environment at once, so that one message names every wrong setting. */
import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';

import { z } from 'zod';

import { BUILT_IN_CHAINS, findBuiltInChain } from './chains/builtInChains';
import { DEFAULT_CHAIN_ID, parseChainDescription, UINT32_MAX } from './chains/parseChainDescription';
import { redactUrls, shorten } from './chains/redactUrls';
import type { ChainDescription, StartBlock } from './domain/chainDescription';
import { AppError, errorText } from './errors';

/** A day of PulseChain: what a first start takes where nobody says more. */
const DEFAULT_BLOCKS_BEFORE_HEAD = 8_640;
const FINALITY_DEPTH_MAX = 1_000_000;
const PORT_MAX = 65_535;
const RATE_LIMIT_MAX = 1_000_000_000;
const RPC_URLS_MAX = 20;
const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

export interface Config {
  /** RPC_URL, else what CHAIN_CONFIG names. Null: neither is there. */
  readonly rpcUrls: readonly string[] | null;
  /** Null: chain 943 is not ingested. */
  readonly rpcUrls943: readonly string[] | null;
  readonly chainId: number;
  readonly chain: ChainDescription;
  readonly startBlock: StartBlock;
  /** `tag` asks the node for its `finalized` block; a number N makes every block ≤ head − N final. */
  readonly finality: 'tag' | number;
  /** Null: the embedded server is started. */
  readonly clickhouseUrl: string | null;
  /** Where the API reads; CLICKHOUSE_URL unless set apart, null with the embedded server. */
  readonly clickhouseReadUrl: string | null;
  readonly clickhouseCluster: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly logLevel: string;
  /** Requests per minute and client address; 0 = no limit. */
  readonly rateLimitPerMinute: number;
  /** `*` or one origin. */
  readonly corsOrigin: string;
}

/** A variable: `read` gives null for a text that is not allowed; `show` hides what must not be logged. */
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
  `a comma list of at most ${RPC_URLS_MAX} URLs of http, https, ws or wss`,
  (text) => readUrls(text, ['http:', 'https:', 'ws:', 'wss:']),
  redactUrls,
);
const clickhouseUrl = setting('http(s)://user:password@host:port/database', readClickHouseUrl, redactUrls);

const settings = z.object({
  RPC_URL: rpcUrls,
  RPC_URL_943: rpcUrls,
  CHAIN_ID: setting(`an integer from 1 to ${UINT32_MAX}`, (text) => readInteger(text, 1, UINT32_MAX)),
  CHAIN_CONFIG: setting('the path of a JSON file', (text) => text),
  START_BLOCK: setting(
    `a block number from 0 to ${UINT32_MAX}, or -N for N blocks before the head`,
    readStartBlock,
  ),
  FINALITY_DEPTH: setting(`tag, or an integer from 0 to ${FINALITY_DEPTH_MAX}`, (text) =>
    text === 'tag' ? 'tag' : readInteger(text, 0, FINALITY_DEPTH_MAX),
  ),
  CLICKHOUSE_URL: clickhouseUrl,
  CLICKHOUSE_READ_URL: clickhouseUrl,
  CLICKHOUSE_CLUSTER: setting('a name of letters, digits, _ . and -, at most 64', (text) =>
    /^[\w.-]{1,64}$/.test(text) ? text : null,
  ),
  DATA_DIR: setting('a folder', (text) => (text.includes('\0') ? null : text)),
  HOST: setting('an IP address or a host name, without a port', readHost),
  PORT: setting(`an integer from 0 to ${PORT_MAX}`, (text) => readInteger(text, 0, PORT_MAX)),
  LOG_LEVEL: setting(LOG_LEVELS.join(', '), (text) => (LOG_LEVELS.includes(text) ? text : null)),
  RATE_LIMIT_PER_MINUTE: setting(`an integer from 0 to ${RATE_LIMIT_MAX}`, (text) =>
    readInteger(text, 0, RATE_LIMIT_MAX),
  ),
  CORS_ORIGIN: setting('* or an origin such as https://example.org', readOrigin),
});
type SettingName = keyof typeof settings.shape;

/**
 * The settings in `env`, checked and with their defaults. A variable that is empty counts as unset. Throws one
 * bad_config that names each wrong variable, what it got (secrets hidden) and what is allowed.
 */
export function loadConfig(env: NodeJS.ProcessEnv, readFile: (path: string) => string): Config {
  const given = givenSettings(env);
  const result = settings.safeParse(given);
  const problems = result.success
    ? []
    : result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  if (given.CLICKHOUSE_READ_URL !== undefined && given.CLICKHOUSE_URL === undefined) {
    problems.push(
      'CLICKHOUSE_READ_URL: needs CLICKHOUSE_URL beside it, or API and ingester would differ in their data',
    );
  }
  const chain = loadChain(given, readFile, problems);
  if (!result.success || chain === null || problems.length > 0) {
    throw new AppError('bad_config', problems.join('; '));
  }
  const read = result.data;
  return {
    rpcUrls: read.RPC_URL ?? urlsOfFile(chain),
    rpcUrls943: read.RPC_URL_943 ?? null,
    chainId: chain.chainId,
    chain,
    startBlock: read.START_BLOCK ?? defaultStartBlock(chain),
    finality: read.FINALITY_DEPTH ?? 'tag',
    clickhouseUrl: read.CLICKHOUSE_URL ?? null,
    clickhouseReadUrl: read.CLICKHOUSE_READ_URL ?? read.CLICKHOUSE_URL ?? null,
    clickhouseCluster: read.CLICKHOUSE_CLUSTER ?? null,
    dataDir: resolve(read.DATA_DIR ?? '.data'),
    host: read.HOST ?? '127.0.0.1',
    port: read.PORT ?? 3_000,
    logLevel: read.LOG_LEVEL ?? 'info',
    rateLimitPerMinute: read.RATE_LIMIT_PER_MINUTE ?? 600,
    corsOrigin: read.CORS_ORIGIN ?? '*',
  };
}

/** The variables that are ours and not empty, trimmed. */
function givenSettings(env: NodeJS.ProcessEnv): Partial<Record<SettingName, string>> {
  const given: Partial<Record<SettingName, string>> = {};
  for (const name of settings.keyof().options) {
    const text = env[name]?.trim() ?? '';
    if (text !== '') given[name] = text;
  }
  return given;
}

/** The chain's description; null where something is wrong, which then stands in `problems`. */
function loadChain(
  given: Partial<Record<SettingName, string>>,
  readFile: (path: string) => string,
  problems: string[],
): ChainDescription | null {
  const path = given.CHAIN_CONFIG;
  const chainId = readInteger(given.CHAIN_ID ?? '', 1, UINT32_MAX);
  if (path !== undefined) return readChainFile(path, chainId, readFile, problems);
  // A CHAIN_ID that is no number has been reported; which chain it means is unknown.
  if (given.CHAIN_ID !== undefined && chainId === null) return null;
  const builtIn = findBuiltInChain(chainId ?? DEFAULT_CHAIN_ID);
  if (builtIn === null) {
    const known = BUILT_IN_CHAINS.map((chain) => chain.chainId).join(', ');
    problems.push(`CHAIN_ID: got "${chainId}"; allowed: ${known}, or any other with a whole CHAIN_CONFIG`);
  }
  return builtIn;
}

function readChainFile(
  path: string,
  chainId: number | null,
  readFile: (path: string) => string,
  problems: string[],
): ChainDescription | null {
  try {
    return parseChainDescription(readText(path, readFile), path, chainId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'bad_config') throw error;
    problems.push(error.message);
    return null;
  }
}

function readText(path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new AppError('bad_config', `CHAIN_CONFIG ${path}: cannot be read (${errorText(error)})`, {
      cause: error,
    });
  }
}

/** The endpoints that a file names; null for none, and for the built-in ones, which nobody has chosen. */
function urlsOfFile({ chainId, rpcUrls: named }: ChainDescription): readonly string[] | null {
  const builtIn = findBuiltInChain(chainId)?.rpcUrls ?? [];
  return named.every((each) => builtIn.includes(each)) ? null : [...new Set(named)];
}

function defaultStartBlock(chain: ChainDescription): StartBlock {
  if (chain.startBlock !== null) return { kind: 'absolute', block: chain.startBlock };
  return { kind: 'before_head', blocks: DEFAULT_BLOCKS_BEFORE_HEAD };
}

function readInteger(text: string, min: number, max: number): number | null {
  if (!/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

function readStartBlock(text: string): StartBlock | null {
  const before = text.startsWith('-');
  const value = readInteger(before ? text.slice(1) : text, 0, UINT32_MAX);
  if (value === null) return null;
  return before ? { kind: 'before_head', blocks: value } : { kind: 'absolute', block: value };
}

/** The URLs of a comma list, without twins. */
function readUrls(text: string, protocols: readonly string[]): readonly string[] | null {
  const urls = text.split(',').map((part) => part.trim());
  const good = urls.every((each) => isUrl(each, protocols));
  return good && urls.length <= RPC_URLS_MAX ? [...new Set(urls)] : null;
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  if (!text.includes('://') || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocols.includes(protocol) && hostname !== '';
}

/** At most one path segment, which is glued into CREATE DATABASE and so must be a plain name. */
function readClickHouseUrl(text: string): string | null {
  if (!isUrl(text, ['http:', 'https:'])) return null;
  return /^\/(?:\w{1,64}\/?)?$/.test(new URL(text).pathname) ? text : null;
}

function readHost(text: string): string | null {
  return isIPv6(text) || /^[\w.-]{1,253}$/.test(text) ? text : null;
}

function readOrigin(text: string): string | null {
  if (text === '*') return text;
  if (!isUrl(text, ['http:', 'https:'])) return null;
  const { origin, pathname, search, hash } = new URL(text);
  return pathname === '/' && search === '' && hash === '' ? origin : null;
}
