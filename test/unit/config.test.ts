import { isAbsolute, resolve } from 'node:path';

import { findBuiltInChain } from '../../src/chains/builtIn/builtInChains';
import { loadConfig, type Config } from '../../src/config';
import { AppError } from '../../src/errors';

const pulsechain = findBuiltInChain(369)!;
const pulsechainTestnet = findBuiltInChain(943)!;
const FACTORY = `0x${'f1'.repeat(20)}`;
const TOKEN = `0x${'a1'.repeat(20)}`;
/** A complete description of a chain that is not built in. */
const WHOLE = {
  chainId: 1_337,
  name: 'Local',
  nativeSymbol: 'ETH',
  wrappedNative: TOKEN,
  anchors: [{ address: TOKEN, symbol: 'USD', priceUsd: 1 }],
  dexes: [{ name: 'some_v2', displayName: 'Some V2', protocol: 'uniswap_v2', factory: FACTORY }],
};

/** The chain of the explorer without a setting of its own. */
const TESTNET: Config['otherChains'][number] = {
  chain: pulsechainTestnet,
  rpcUrls: null,
  startBlock: { kind: 'before_head', blocks: 8_640 },
  hasMarket: false,
};

/** The start block counts for every chain. */
const startAt = (startBlock: Config['startBlock']): Partial<Config> => ({
  startBlock,
  otherChains: [{ ...TESTNET, startBlock }],
});

function load(env: Record<string, string>, file?: unknown): Config {
  return loadConfig(env, (path) => {
    if (file === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
    return typeof file === 'string' ? file : JSON.stringify(file);
  });
}

function faultOf(env: Record<string, string>, file?: unknown): string {
  try {
    load(env, file);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_config') return error.message;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(env)}`);
}

describe('loadConfig reads and checks all settings', () => {
  const DEFAULTS: Config = {
    rpcUrls: null,
    chainId: 369,
    chain: pulsechain,
    startBlock: { kind: 'before_head', blocks: 8_640 },
    otherChains: [TESTNET],
    hasChainList: false,
    finality: 'tag',
    proof: { mode: 'auto', trusted: null },
    explorer: true,
    clickhouseUrl: null,
    clickhouseReadUrl: null,
    clickhouseCluster: null,
    dataDir: resolve('.data'),
    host: '127.0.0.1',
    port: 3_000,
    logLevel: 'info',
    rateLimitPerMinute: 600,
    historyCallsPerSecond: 50,
    hyperSyncToken: null,
    bucket: { endpoint: null, region: 'us-east-1', keys: null },
    solcDir: null,
    solcMirror: null,
    compilerNiceness: 19,
    load: {
      rowsPerMinute: 1_000_000_000,
      bytesPerMinute: 50_000_000_000,
      inFlightMax: 256,
      loopDelayMaxMs: 1_000,
    },
    trustedProxies: [],
    metrics: null,
    corsOrigin: '*',
    publicUrl: null,
  };

  it('all settings have the documented defaults', () => {
    expect(load({})).toEqual(DEFAULTS);
  });

  it('empty and blank variables count as unset, and other variables are ignored', () => {
    const names =
      'RPC_URL RPC_URL_943 CHAIN_ID CHAIN_CONFIG START_BLOCK FINALITY_DEPTH CLICKHOUSE_URL CLICKHOUSE_READ_URL ' +
      'CLICKHOUSE_CLUSTER DATA_DIR HOST PORT LOG_LEVEL RATE_LIMIT_PER_MINUTE CORS_ORIGIN';
    const empty = Object.fromEntries(
      names.split(' ').map((name, index) => [name, index % 2 === 0 ? '' : ' \t']),
    );
    expect(load({ ...empty, PATH: '/bin', RPC_URLS: 'nonsense' })).toEqual(DEFAULTS);
  });

  test.each<[Record<string, string>, Partial<Config>]>([
    [{ RPC_URL: 'http://a:8545' }, { rpcUrls: ['http://a:8545'] }],
    [
      { RPC_URL: ' wss://a/ws , https://user:pass@b/key?x=1,ws://[::1]:8546 ,http://a ' },
      { rpcUrls: ['wss://a/ws', 'https://user:pass@b/key?x=1', 'ws://[::1]:8546', 'http://a'] },
    ],
    [{ RPC_URL: 'http://a,http://b,http://a' }, { rpcUrls: ['http://a', 'http://b'] }],
    [{ RPC_URL: 'ipc:///run/geth.ipc, http://a' }, { rpcUrls: ['ipc:///run/geth.ipc', 'http://a'] }],
    [
      { RPC_URL_943: 'HTTPS://Testnet.example' },
      { otherChains: [{ ...TESTNET, rpcUrls: ['HTTPS://Testnet.example'] }] },
    ],
    [{ CHAIN_ID: '943' }, { chainId: 943, otherChains: [] }],
    [{ START_BLOCK: '0' }, startAt({ kind: 'absolute', block: 0 })],
    [{ START_BLOCK: '17233000' }, startAt({ kind: 'absolute', block: 17_233_000 })],
    [{ START_BLOCK: '-100' }, startAt({ kind: 'before_head', blocks: 100 })],
    [{ FINALITY_DEPTH: 'tag' }, { finality: 'tag' }],
    [{ FINALITY_DEPTH: '0' }, { finality: 0 }],
    [{ FINALITY_DEPTH: '1000000' }, { finality: 1_000_000 }],
    [{ PROOF: 'full' }, { proof: { mode: 'full', trusted: null } }],
    [
      { PROOF: 'bloom', TRUSTED_BLOCK: `17:0x${'Ab'.repeat(32)}` },
      { proof: { mode: 'bloom', trusted: { number: 17, hash: `0x${'ab'.repeat(32)}` } } },
    ],
    [{ CLICKHOUSE_URL: 'http://u:p@h:8123/db' }, { clickhouseUrl: 'http://u:p@h:8123/db' }],
    [{ CLICKHOUSE_URL: 'http://h:8123' }, { clickhouseReadUrl: 'http://h:8123' }],
    [
      { CLICKHOUSE_URL: 'https://h/db', CLICKHOUSE_READ_URL: 'https://reader@h/db' },
      { clickhouseUrl: 'https://h/db', clickhouseReadUrl: 'https://reader@h/db' },
    ],
    [{ CLICKHOUSE_CLUSTER: 'two-shards_1.x' }, { clickhouseCluster: 'two-shards_1.x' }],
    [{ DATA_DIR: '/var/lib/candlehouse' }, { dataDir: '/var/lib/candlehouse' }],
    [{ DATA_DIR: 'some/where' }, { dataDir: resolve('some/where') }],
    [
      { HOST: '0.0.0.0', PORT: '0' },
      { host: '0.0.0.0', port: 0 },
    ],
    [
      { HOST: '::1', PORT: '65535' },
      { host: '::1', port: 65_535 },
    ],
    [{ HOST: 'localhost' }, { host: 'localhost' }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [{ RATE_LIMIT_PER_MINUTE: '0' }, { rateLimitPerMinute: 0 }],
    [{ PUBLIC_URL: 'https://example.org/' }, { publicUrl: 'https://example.org' }],
    [{ CORS_ORIGIN: 'https://app.example.org' }, { corsOrigin: 'https://app.example.org' }],
    [{ CORS_ORIGIN: 'http://localhost:5173/' }, { corsOrigin: 'http://localhost:5173' }],
  ])('the settings %j are accepted', (env, expected) => {
    expect(load(env)).toMatchObject(expected);
  });

  it('DATA_DIR is made absolute', () => {
    expect(isAbsolute(load({ DATA_DIR: '../x' }).dataDir)).toBe(true);
  });

  test.each<[string, string]>([
    ['RPC_URL', 'localhost:8545'],
    ['RPC_URL', 'ftp://a'],
    ['RPC_URL', 'http://'],
    ['RPC_URL', 'http://a,'],
    ['RPC_URL', 'http://a,b'],
    ['RPC_URL', 'ipc://'],
    ['RPC_URL', 'ipc:///'],
    ['RPC_URL', 'ipc://host/geth.ipc'],
    ['RPC_URL', 'ipc:/run/geth.ipc'],
    ['RPC_URL', 'ipc:///run/%00'],
    ['RPC_URL', 'ipc:///run/geth.ipc?x=1'],
    ['RPC_URL', `ipc:///${'a'.repeat(103)}`],
    ['RPC_URL', Array.from({ length: 40 }, (_none, index) => `http://a${index}`).join()],
    ['RPC_URL_943', 'ws:/a'],
    ['RPC_URL_943', '[]'],
    ['CHAIN_ID', '0'],
    ['CHAIN_ID', '-369'],
    ['CHAIN_ID', '0x171'],
    ['CHAIN_ID', '1e3'],
    ['CHAIN_ID', '369.0'],
    ['CHAIN_ID', '4294967296'],
    ['CHAIN_ID', 'pulsechain'],
    ['START_BLOCK', 'latest'],
    ['START_BLOCK', '1.5'],
    ['START_BLOCK', '+5'],
    ['START_BLOCK', '--5'],
    ['START_BLOCK', '1e6'],
    ['START_BLOCK', '99999999999'],
    ['FINALITY_DEPTH', '-1'],
    ['FINALITY_DEPTH', '1000001'],
    ['FINALITY_DEPTH', 'finalized'],
    ['FINALITY_DEPTH', '6.5'],
    ['PROOF', 'Full'],
    ['PROOF', 'half'],
    ['TRUSTED_BLOCK', '17'],
    ['TRUSTED_BLOCK', '17:0x12'],
    ['TRUSTED_BLOCK', `latest:0x${'ab'.repeat(32)}`],
    ['CLICKHOUSE_URL', 'h:8123/db'],
    ['CLICKHOUSE_URL', 'tcp://h:9000'],
    ['CLICKHOUSE_URL', 'http://h/a/b'],
    ['CLICKHOUSE_URL', 'http://h/a;DROP'],
    ['CLICKHOUSE_READ_URL', 'clickhouse'],
    ['CLICKHOUSE_CLUSTER', "it's"],
    ['CLICKHOUSE_CLUSTER', 'x'.repeat(65)],
    ['DATA_DIR', 'a\0b'],
    ['HOST', 'http://localhost'],
    ['HOST', 'local host'],
    ['HOST', '[::1]'],
    ['HOST', 'localhost:3000'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80 '.concat('80')],
    ['PORT', '3000/tcp'],
    ['LOG_LEVEL', 'verbose'],
    ['LOG_LEVEL', 'INFO'],
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['RATE_LIMIT_PER_MINUTE', 'off'],
    ['PUBLIC_URL', '*'],
    ['PUBLIC_URL', 'https://example.org/path'],
    ['PUBLIC_URL', 'https://example.org/<b>'],
    ['CORS_ORIGIN', 'example.org'],
    ['CORS_ORIGIN', 'https://example.org/path'],
    ['CORS_ORIGIN', 'https://a.org, https://b.org'],
  ])('the setting %s=%j is refused with its name, the given value and the allowed values', (name, value) => {
    const message = faultOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name}: got "[^"]*"; allowed: .{3,}`));
    expect(message).not.toContain('\n');
  });

  it('one message names every wrong variable and every wrong field of the chain description', () => {
    const env = { PORT: 'x', LOG_LEVEL: 'loud', CHAIN_CONFIG: 'c.json', HOST: 'a b', START_BLOCK: 'now' };
    const message = faultOf(env, { chainId: 369, anchors: 5, burn: { token: 'PLSX', addresses: [] } });
    for (const part of [
      'PORT: got "x"',
      'LOG_LEVEL: got "loud"',
      'HOST: got "a b"',
      'START_BLOCK: got "now"',
      'CHAIN_CONFIG c.json: ',
      'anchors: got 5',
      'burn.token: got "PLSX"',
      'burn.addresses: got []',
    ]) {
      expect(message).toContain(part);
    }
  });

  it('a wrong CHAIN_ID is named once, and the chain description is still checked', () => {
    const message = faultOf({ CHAIN_ID: 'x', CHAIN_CONFIG: 'c.json' }, { name: '' });
    expect(message.match(/CHAIN_ID/g)).toHaveLength(1);
    expect(message).toContain('name: got ""');
  });

  test.each([
    ['RPC_URL', 'ftp://alice:SECRET@host/SECRET'],
    ['RPC_URL', 'http://alice:SECRET@ok.example/SECRET?key=SECRET,nonsense'],
    ['RPC_URL', 'https://rpc.example/v3/SECRET, x'],
    ['RPC_URL', 'http://alice:SEC,RET@host'],
    ['RPC_URL', 'alice:SECRET@host'],
    ['RPC_URL', 'x?key=SECRET'],
    ['CLICKHOUSE_URL', 'http://alice:SECRET@h:8123/a/b'],
    ['CLICKHOUSE_URL', 'alice:SECRET@h:8123/db'],
    ['CLICKHOUSE_URL', 'http://h/a/b?password=SECRET'],
    ['CLICKHOUSE_URL', 'http://alice:SEC/RET,SECRET@h/db'],
    ['CLICKHOUSE_URL', 'http://alice:SEC,RET@h:port/db'],
    ['CLICKHOUSE_READ_URL', 'tcp://alice:SECRET@h:9000'],
    ['CLICKHOUSE_READ_URL', 'http://alice:SECRET@h:99999/db'],
  ])('the error for a wrong %s=%s shows no credentials', (name, value) => {
    expect(faultOf({ [name]: value, PORT: '1' })).not.toMatch(/SEC|RET|alice/);
  });

  it('CLICKHOUSE_READ_URL without CLICKHOUSE_URL is refused, because reader and writer would differ', () => {
    expect(faultOf({ CLICKHOUSE_READ_URL: 'http://h/db' })).toMatch(/^CLICKHOUSE_READ_URL: .*CLICKHOUSE_URL/);
  });
});

describe('the chain follows from CHAIN_ID and CHAIN_CONFIG', () => {
  it('without CHAIN_CONFIG the chain is a built-in chain', () => {
    expect(load({ CHAIN_ID: '369' }).chain).toBe(pulsechain);
    expect(load({ CHAIN_ID: '943' }).chain.name).toBe('PulseChain Testnet v4');
  });

  it('a chain that is not built in needs CHAIN_CONFIG', () => {
    expect(faultOf({ CHAIN_ID: '5' })).toMatch(/^CHAIN_ID: got "5"; allowed: 369, 943, 1, .*CHAIN_CONFIG$/);
  });

  it('without CHAIN_ID the chain is the chain of CHAIN_CONFIG', () => {
    const config = load({ CHAIN_CONFIG: 'c.json' }, WHOLE);
    expect(config.chainId).toBe(1_337);
    expect(config.chain.name).toBe('Local');
    expect(load({ CHAIN_CONFIG: 'c.json' }, { chainId: 943 }).chainId).toBe(943);
    expect(load({ CHAIN_CONFIG: 'c.json' }, { name: 'Mine' }).chain).toEqual({ ...pulsechain, name: 'Mine' });
  });

  const SEVERAL = {
    CHAINS: '369, 1337',
    CHAIN_CONFIG_1337: 'c.json',
    RPC_URL_369: 'http://a',
    RPC_URL_1337: 'http://b,http://c',
  };

  it('CHAINS names several chains, each with its own node and file', () => {
    const config = load(SEVERAL, WHOLE);
    expect(config).toMatchObject({ chainId: 369, rpcUrls: ['http://a'], hasChainList: true });
    expect(config.otherChains).toMatchObject([
      { chain: { chainId: 1_337, name: 'Local' }, rpcUrls: ['http://b', 'http://c'], hasMarket: true },
      { ...TESTNET },
    ]);
    expect(load({ CHAINS: '369,943' }).otherChains).toMatchObject([
      { chain: pulsechainTestnet, hasMarket: true },
    ]);
  });

  it('built-in chains need no file, and start about a day before the head', () => {
    const { startBlock, otherChains } = load({ CHAINS: '369,8453,42161' });
    expect([startBlock, ...otherChains.map((each) => each.startBlock)]).toEqual(
      [8_640, 43_200, 345_600, 8_640].map((blocks) => ({ kind: 'before_head', blocks })),
    );
    expect(otherChains.map(({ chain, hasMarket }) => [chain.name, hasMarket])).toEqual([
      ['Base', true],
      ['Arbitrum', true],
      ['PulseChain Testnet v4', false],
    ]);
    expect(load({ CHAIN_CONFIG: 'c.json' }, { ...WHOLE, blockSeconds: 0.45 }).startBlock).toEqual({
      kind: 'before_head',
      blocks: 192_000,
    });
  });

  it('CHAIN_ID chooses the first of several chains', () => {
    const config = load({ ...SEVERAL, CHAIN_ID: '1337' }, WHOLE);
    expect(config).toMatchObject({ chainId: 1_337, rpcUrls: ['http://b', 'http://c'] });
    expect(config.otherChains[0]).toMatchObject({ chain: pulsechain, rpcUrls: ['http://a'] });
    expect(faultOf({ ...SEVERAL, CHAIN_ID: '943' }, WHOLE)).toBe(
      'CHAIN_ID: got "943"; allowed: 369, 1337, the chains of CHAINS',
    );
  });

  it.each<[Record<string, string>, RegExp]>([
    [
      { CHAINS: '369,369' },
      /^CHAINS: got "369,369"; allowed: a comma-separated list of at most 16 different/,
    ],
    [{ CHAINS: '369,' }, /^CHAINS: got "369,"/],
    [
      { CHAINS: '369,5' },
      /^CHAINS: got "5"; allowed: 369, 943, 1, .*, or another chain with a complete CHAIN_CONFIG_5$/,
    ],
    [{ CHAINS: '369', RPC_URL: 'http://a' }, /^RPC_URL: CHAINS is set; set RPC_URL_<chain id> instead$/],
    [{ CHAINS: '369', RPC_URL_369: 'a' }, /^RPC_URL_369: got "a"; allowed: a comma-separated list/],
    [
      { CHAINS: '369', CHAIN_CONFIG_369: 'c.json' },
      /^CHAIN_CONFIG_369 c.json: chainId: got 1337; .* of CHAINS$/,
    ],
    [{ CHAINS: '1337,943', CHAIN_CONFIG_1337: 'c', CHAIN_CONFIG_943: 'd' }, /^CHAIN_CONFIG_943 d: chainId/],
  ])('wrong settings of several chains are named: %j', (env, message) => {
    expect(faultOf(env, WHOLE)).toMatch(message);
  });

  it('CHAIN_ID and CHAIN_CONFIG must name the same chain', () => {
    const message = faultOf({ CHAIN_ID: '369', CHAIN_CONFIG: 'c.json' }, WHOLE);
    expect(message).toContain('CHAIN_CONFIG c.json: chainId: got 1337; allowed: 369');
  });

  it('START_BLOCK takes precedence over the start block of CHAIN_CONFIG', () => {
    const file = { startBlock: 17_500_000 };
    expect(load({ CHAIN_CONFIG: 'c.json' }, file).startBlock).toEqual({
      kind: 'absolute',
      block: 17_500_000,
    });
    expect(load({ CHAIN_CONFIG: 'c.json', START_BLOCK: '-5' }, file).startBlock).toEqual({
      kind: 'before_head',
      blocks: 5,
    });
  });

  it('without RPC_URL the endpoints of CHAIN_CONFIG are used, and built-in chains have none', () => {
    const file = { rpcUrls: ['http://a:1', 'http://b:1', 'http://a:1'] };
    const urlsOf = (env: Record<string, string>, named?: unknown) =>
      load({ CHAIN_CONFIG: 'c.json', ...env }, named).rpcUrls;
    expect(urlsOf({}, file)).toEqual(['http://a:1', 'http://b:1']);
    expect(urlsOf({}, { ...WHOLE, ...file })).toEqual(['http://a:1', 'http://b:1']);
    expect(urlsOf({ RPC_URL: 'http://c:1' }, file)).toEqual(['http://c:1']);
    expect([urlsOf({}, {}), urlsOf({}, WHOLE), load({ CHAIN_ID: '369' }).rpcUrls]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('a CHAIN_CONFIG file that cannot be read is an error', () => {
    expect(faultOf({ CHAIN_CONFIG: 'gone.json' })).toMatch(
      /^CHAIN_CONFIG gone\.json: the file cannot be read \(ENOENT/,
    );
  });
});
