/** Settings: every variable of the contract with its default, and one message that names all that is wrong. */
import { resolve } from 'node:path';

import { pulsechain } from '../../src/chains/pulsechain';
import { loadConfig, type Config } from '../../src/config';
import { AppError } from '../../src/errors';

const NO_FILE = (path: string): string => {
  throw new Error(`ENOENT: no such file or directory, open '${path}'`);
};

function load(env: NodeJS.ProcessEnv, file?: unknown): Config {
  return loadConfig(env, file === undefined ? NO_FILE : () => JSON.stringify(file));
}

function messageOf(env: NodeJS.ProcessEnv, file?: unknown): string {
  try {
    load(env, file);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('bad_config');
    return (error as AppError).message;
  }
  throw new Error(`no error for ${JSON.stringify(env)}`);
}

/** The least that a file for a chain without a built-in description must hold. */
const WHOLE = {
  chainId: 1337,
  name: 'Test',
  nativeSymbol: 'T',
  wrappedNative: null,
  anchors: [],
  majors: [],
  burn: null,
  confirmations: 3,
  startBlock: 7,
  rpcUrls: [],
  dexes: [],
};

test('an empty environment gives the defaults of the contract', () => {
  expect(load({})).toEqual({
    rpcUrls: null,
    rpcUrls943: null,
    chainId: 369,
    chain: pulsechain,
    startBlock: { kind: 'before_head', blocks: 8_640 },
    finality: 'tag',
    clickhouseUrl: null,
    clickhouseReadUrl: null,
    clickhouseCluster: null,
    dataDir: resolve('.data'),
    host: '127.0.0.1',
    port: 3_000,
    logLevel: 'info',
    rateLimitPerMinute: 600,
    corsOrigin: '*',
  });
});

test('every variable is read', () => {
  const config = load({
    RPC_URL: 'https://a.example/key, wss://b.example',
    RPC_URL_943: 'http://127.0.0.1:8545',
    CHAIN_ID: '943',
    START_BLOCK: '-100',
    FINALITY_DEPTH: '12',
    CLICKHOUSE_URL: 'http://user:secret@db.example:8123/market',
    CLICKHOUSE_READ_URL: 'https://reader@db.example/market',
    CLICKHOUSE_CLUSTER: 'main',
    DATA_DIR: '/var/lib/candlehouse',
    HOST: '0.0.0.0',
    PORT: '8080',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_MINUTE: '0',
    CORS_ORIGIN: 'https://app.example/',
  });
  expect(config).toMatchObject({
    rpcUrls: ['https://a.example/key', 'wss://b.example'],
    rpcUrls943: ['http://127.0.0.1:8545'],
    chainId: 943,
    startBlock: { kind: 'before_head', blocks: 100 },
    finality: 12,
    clickhouseUrl: 'http://user:secret@db.example:8123/market',
    clickhouseReadUrl: 'https://reader@db.example/market',
    clickhouseCluster: 'main',
    dataDir: '/var/lib/candlehouse',
    host: '0.0.0.0',
    port: 8_080,
    logLevel: 'silent',
    rateLimitPerMinute: 0,
    corsOrigin: 'https://app.example',
  });
  expect(config.chain.name).toBe('PulseChain Testnet v4');
});

test('a variable that is empty or blank counts as unset', () => {
  expect(load({ RPC_URL: '', PORT: ' ', CHAIN_CONFIG: '', START_BLOCK: '' })).toEqual(load({}));
});

test('the API reads from CLICKHOUSE_URL unless it has a user of its own', () => {
  const url = 'http://localhost:8123';
  expect(load({ CLICKHOUSE_URL: url }).clickhouseReadUrl).toBe(url);
  expect(messageOf({ CLICKHOUSE_READ_URL: url })).toMatch(/^CLICKHOUSE_READ_URL: needs CLICKHOUSE_URL/);
});

test.each([
  ['0', { kind: 'absolute', block: 0 }],
  ['17233001', { kind: 'absolute', block: 17_233_001 }],
  ['4294967295', { kind: 'absolute', block: 4_294_967_295 }],
  ['-1', { kind: 'before_head', blocks: 1 }],
])('START_BLOCK %s is understood', (text, expected) => {
  expect(load({ START_BLOCK: text }).startBlock).toEqual(expected);
});

test.each([
  ['tag', 'tag'],
  ['0', 0],
  ['64', 64],
  ['1000000', 1_000_000],
])('FINALITY_DEPTH %s is understood', (text, expected) => {
  expect(load({ FINALITY_DEPTH: text }).finality).toBe(expected);
});

test.each([
  ['RPC_URL', 'localhost:8545'],
  ['RPC_URL', 'ftp://node.example'],
  ['RPC_URL', 'http://a.example,,http://b.example'],
  ['RPC_URL', Array.from({ length: 21 }, (_, index) => `http://n${index}.example`).join()],
  ['RPC_URL_943', 'ws:/node.example'],
  ['CHAIN_ID', '0'],
  ['CHAIN_ID', '1.5'],
  ['CHAIN_ID', '4294967296'],
  ['CHAIN_ID', 'mainnet'],
  ['START_BLOCK', 'latest'],
  ['START_BLOCK', '1e3'],
  ['START_BLOCK', '--5'],
  ['START_BLOCK', '4294967296'],
  ['FINALITY_DEPTH', '-1'],
  ['FINALITY_DEPTH', '1000001'],
  ['FINALITY_DEPTH', 'finalized'],
  ['CLICKHOUSE_URL', 'clickhouse://db.example:9000'],
  ['CLICKHOUSE_URL', 'http://db.example/a/b'],
  ['CLICKHOUSE_URL', 'http://db.example/a;DROP'],
  ['CLICKHOUSE_CLUSTER', 'a b'],
  ['CLICKHOUSE_CLUSTER', "a'b"],
  ['HOST', 'http://localhost'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '0x50'],
  ['LOG_LEVEL', 'verbose'],
  ['RATE_LIMIT_PER_MINUTE', '-1'],
  ['RATE_LIMIT_PER_MINUTE', '1.5'],
  ['CORS_ORIGIN', 'example.org'],
  ['CORS_ORIGIN', 'https://example.org/path'],
])('%s=%s is refused, naming the variable, what it got and what is allowed', (name, value) => {
  const message = messageOf({ [name]: value });
  expect(message).toMatch(new RegExp(`^${name}: got ".*"; allowed: .+$`));
  expect(message).not.toContain('\n');
});

test('a CHAIN_ID without a built-in description asks for a CHAIN_CONFIG', () => {
  expect(messageOf({ CHAIN_ID: '1' })).toBe(
    'CHAIN_ID: got "1"; allowed: 369, 943, or any other with a whole CHAIN_CONFIG',
  );
});

test('all wrong variables stand in one message, the chain description among them', () => {
  const env = { PORT: 'http', LOG_LEVEL: 'loud', START_BLOCK: 'now', CHAIN_CONFIG: 'chain.json' };
  const message = messageOf(env, { chainId: 369, confirmations: -1, dexes: [{}] });
  for (const part of ['PORT: ', 'LOG_LEVEL: ', 'START_BLOCK: ', 'CHAIN_CONFIG chain.json: ']) {
    expect(message).toContain(part);
  }
  expect(message).toContain('confirmations: got -1');
  expect(message).toContain('dexes.0.factory: got nothing');
});

test.each([
  ['RPC_URL', 'https://me:hunter2@node.example/v3/hunter2?key=hunter2,ftp://x'],
  ['RPC_URL', 'me:hunter2@node.example:8545'],
  ['RPC_URL', 'http//node.example/v3/hunter2hunter2hunter2'],
  ['CLICKHOUSE_URL', 'tcp://me:hunter2@db.example:9000/market'],
  ['CLICKHOUSE_URL', 'http://me:hunter2,hunter2@db.example:port/market'],
  ['CLICKHOUSE_URL', 'http://me:hun/ter2,hunter2@db.example/market'],
])('secrets in %s never reach the message', (name, value) => {
  expect(messageOf({ [name]: value })).not.toMatch(/hunter2|ter2/);
});

test('a CHAIN_CONFIG that cannot be read is named', () => {
  expect(messageOf({ CHAIN_CONFIG: 'nowhere.json' })).toMatch(
    /^CHAIN_CONFIG nowhere\.json: cannot be read \(ENOENT/,
  );
});

test('a whole file describes any chain, and its start block is the default', () => {
  const config = load({ CHAIN_ID: '1337', CHAIN_CONFIG: 'test.json' }, WHOLE);
  expect(config.chain).toEqual(WHOLE);
  expect(config.startBlock).toEqual({ kind: 'absolute', block: 7 });
  const moved = load({ CHAIN_ID: '1337', CHAIN_CONFIG: 'test.json', START_BLOCK: '-5' }, WHOLE);
  expect(moved.startBlock).toEqual({ kind: 'before_head', blocks: 5 });
});

test('a file of another chain than CHAIN_ID is refused', () => {
  const message = messageOf({ CHAIN_ID: '369', CHAIN_CONFIG: 'test.json' }, WHOLE);
  expect(message).toMatch(/^CHAIN_CONFIG test\.json: chainId: got 1337; allowed: 369/);
});
