import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import { findBuiltInChain } from '../../../src/chains/builtIn/builtInChains';
import { AppError } from '../../../src/errors';

const pulsechain = findBuiltInChain(369)!;
const FACTORY = '0x1715a3E4A142d8b698131108995174F37aEBA10D';
const TOKEN = '0xA1077a294dDE1B09bB078844df40758a5D0f9a27';
const OTHER = `0x${'b2'.repeat(20)}`;
const ZERO = `0x${'00'.repeat(20)}`;

const DEX = { name: 'some_v2', displayName: 'Some V2', protocol: 'uniswap_v2', factory: FACTORY };
const WHOLE = {
  chainId: 1_337,
  name: 'Local',
  nativeSymbol: 'ETH',
  wrappedNative: TOKEN,
  anchors: [{ address: OTHER, symbol: 'USD', priceUsd: 1 }],
  dexes: [DEX],
};

const parse = (file: unknown, chainId: number | null = null) =>
  parseChainDescription(typeof file === 'string' ? file : JSON.stringify(file), 'chain.json', chainId);

function faultOf(file: unknown, chainId: number | null = null): string {
  try {
    parse(file, chainId);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad_config') return error.message;
    throw error;
  }
  throw new Error(`accepted ${JSON.stringify(file)}`);
}

describe('parseChainDescription checks every field', () => {
  it('a full description of a new chain is accepted, with addresses in lower case and defaults filled in', () => {
    expect(parse(WHOLE)).toEqual({
      ...WHOLE,
      wrappedNative: TOKEN.toLowerCase(),
      dexes: [{ ...DEX, factory: FACTORY.toLowerCase() }],
      majors: [],
      burn: null,
      confirmations: 64,
      startBlock: null,
      rpcUrls: [],
    });
  });

  it('a chain description may have every optional field', () => {
    const everything = {
      ...WHOLE,
      majors: [OTHER],
      burn: { token: TOKEN.toLowerCase(), addresses: [ZERO, OTHER] },
      confirmations: 12,
      startBlock: 0,
      rpcUrls: ['https://a.example', 'ws://b.example:8546', 'ipc:///run/geth.ipc'],
      logo: 'https://a.example/logo.svg',
      wrappedNative: null,
      dexes: [
        {
          ...DEX,
          factory: FACTORY.toLowerCase(),
          protocol: 'pancake_v3',
          feeBps: 17.5,
          protocolFeeShare: 0.32,
          positionManager: OTHER,
          startBlock: 4_294_967_295,
        },
      ],
    };
    expect(parse(everything)).toEqual(everything);
  });

  it('a chain description replaces only the given top-level keys of a built-in description', () => {
    expect(parse({ chainId: 369, majors: [OTHER], burn: null })).toEqual({
      ...pulsechain,
      majors: [OTHER],
      burn: null,
    });
    expect(parse({ dexes: [DEX] }, 369).dexes).toEqual([{ ...DEX, factory: FACTORY.toLowerCase() }]);
    expect(parse({}, 369)).toEqual(pulsechain);
    expect(parse({}, 943).chainId).toBe(943);
  });

  it('the error for an incomplete description of a new chain names each missing key', () => {
    const message = faultOf({ chainId: 1_337 });
    for (const key of ['name', 'nativeSymbol', 'wrappedNative', 'anchors', 'dexes']) {
      expect(message).toContain(`${key}: got nothing; allowed: `);
    }
    for (const key of ['majors', 'burn', 'confirmations', 'startBlock', 'rpcUrls', 'logo', 'chainId']) {
      expect(message).not.toContain(`${key}: `);
    }
    expect(faultOf({ name: 'x' }, 1_337)).toContain('chainId: got nothing');
  });

  it('a chain description must have the chain id of CHAIN_ID', () => {
    expect(faultOf(WHOLE, 369)).toBe(
      'CHAIN_CONFIG chain.json: chainId: got 1337; allowed: 369, the value of CHAIN_ID',
    );
  });

  const dex = (part: object) => ({ dexes: [{ ...DEX, ...part }] });
  test.each<[string, object]>([
    ['chainId: got "369"; allowed: ', { chainId: '369' }],
    ['chainId: got 0; allowed: ', { chainId: 0 }],
    ['chainId: got 1.5; allowed: ', { chainId: 1.5 }],
    ['name: got ""; allowed: ', { name: '' }],
    ['name: got null; allowed: ', { name: null }],
    ['nativeSymbol: got 5; allowed: ', { nativeSymbol: 5 }],
    ['wrappedNative: got "0x12"; allowed: 0x and 40 hex digits', { wrappedNative: '0x12' }],
    ['wrappedNative: got ', { wrappedNative: TOKEN.replace('A1', 'a1') }],
    ['wrappedNative: got ', { wrappedNative: ZERO }],
    ['anchors: got {}; allowed: ', { anchors: {} }],
    ['anchors.0: got "DAI"; allowed: ', { anchors: ['DAI'] }],
    [
      'anchors.1.address: got 7; allowed: ',
      { anchors: [WHOLE.anchors[0], { address: 7, symbol: 'X', priceUsd: 1 }] },
    ],
    ['anchors.0.priceUsd: got 0; allowed: ', { anchors: [{ address: OTHER, symbol: 'X', priceUsd: 0 }] }],
    ['anchors.0.priceUsd: got "1"; allowed: ', { anchors: [{ address: OTHER, symbol: 'X', priceUsd: '1' }] }],
    ['anchors.0.price: unknown key', { anchors: [{ address: OTHER, symbol: 'X', price: 1, priceUsd: 1 }] }],
    ['majors.0: got "WETH"; allowed: ', { majors: ['WETH'] }],
    ['burn.addresses: got []; allowed: ', { burn: { token: OTHER, addresses: [] } }],
    ['burn.addresses.1: got "dead"; allowed: ', { burn: { token: OTHER, addresses: [ZERO, 'dead'] } }],
    ['burn.token: got nothing; allowed: ', { burn: { addresses: [ZERO] } }],
    ['confirmations: got -1; allowed: ', { confirmations: -1 }],
    ['confirmations: got 0.5; allowed: ', { confirmations: 0.5 }],
    ['startBlock: got -8640; allowed: ', { startBlock: -8_640 }],
    ['startBlock: got "latest"; allowed: ', { startBlock: 'latest' }],
    ['rpcUrls.0: got "localhost"; allowed: ', { rpcUrls: ['localhost'] }],
    ['rpcUrls.0: got "ipc:/run/geth.ipc"; allowed: ', { rpcUrls: ['ipc:/run/geth.ipc'] }],
    ['rpcUrls: got "http://a"; allowed: ', { rpcUrls: 'http://a' }],
    ['logo: got "javascript:alert(1)"; allowed: ', { logo: 'javascript:alert(1)' }],
    ['dexes.0.name: got "Some V2"; allowed: ', dex({ name: 'Some V2' })],
    ['dexes.0.displayName: got nothing; allowed: ', dex({ displayName: undefined })],
    ['dexes.0.protocol: got "uniswap_v5"; allowed: uniswap_v2, uniswap_v3', dex({ protocol: 'uniswap_v5' })],
    ['dexes.0.factory: got "0x1715a3', dex({ factory: FACTORY.slice(0, -1) })],
    ['dexes.0.factory: got "0x000000', dex({ factory: ZERO })],
    ['dexes.0.feeBps: got -1; allowed: ', dex({ feeBps: -1 })],
    ['dexes.0.feeBps: got 10001; allowed: ', dex({ feeBps: 10_001 })],
    ['dexes.0.feeBps: got 0.001; allowed: ', dex({ feeBps: 0.001 })],
    ['dexes.0.protocolFeeShare: got 24; allowed: ', dex({ protocolFeeShare: 24 })],
    ['dexes.0.positionManager: got null; allowed: ', dex({ positionManager: null })],
    ['dexes.0.startBlock: got "5"; allowed: ', dex({ startBlock: '5' })],
    ['dexes.0.router: unknown key', dex({ router: OTHER })],
    ['anchor: unknown key', { anchor: [] }],
  ])('a chain description with a wrong field is refused with "%s…"', (fault, part) => {
    const message = faultOf({ ...WHOLE, ...part });
    expect(message).toMatch(/^CHAIN_CONFIG chain\.json: /);
    expect(message).toContain(fault);
  });

  it('a chain description with duplicates is refused, in any letter case of addresses', () => {
    const anchor = { address: TOKEN, symbol: 'A', priceUsd: 1 };
    const message = faultOf({
      ...WHOLE,
      anchors: [anchor, { ...anchor, address: TOKEN.toLowerCase() }],
      majors: [OTHER, TOKEN, OTHER.toUpperCase().replace('0X', '0x')],
      dexes: [DEX, { ...DEX, name: 'other' }, { ...DEX, factory: OTHER }],
    });
    for (const path of ['anchors.1.address', 'majors.2', 'dexes.1.factory', 'dexes.2.name']) {
      expect(message).toContain(`${path}: got `);
    }
  });

  it('one message names every wrong field of a chain description', () => {
    const message = faultOf({
      chainId: 369,
      wrappedNativ: OTHER,
      majors: ['x', OTHER, 'y'],
      dexes: [
        { ...DEX, factory: 'f', feeBps: 'free' },
        5,
        { ...DEX, protocol: 'v2', extra: 1 },
        { ...DEX, factory: 'f' },
      ],
    });
    const paths =
      'majors.0 majors.2 dexes.0.factory dexes.0.feeBps dexes.1 dexes.2.protocol dexes.2.extra wrappedNativ';
    for (const path of paths.split(' ')) expect(message).toContain(`${path}: `);
    expect(message).not.toContain('majors.1');
  });

  test.each<[string, string]>([
    ['[]', 'got []; allowed: a JSON object'],
    ['null', 'got null; allowed: a JSON object'],
    ['"369"', 'got "369"; allowed: a JSON object'],
    ['', 'not JSON: expected a value at line 1, column 1'],
    ['{"a": 1,}', 'not JSON: expected a key at line 1, column 9'],
    ['{\n  "a": 1\n  "b": 2\n}', 'not JSON: expected a comma or } at line 3, column 3'],
    ["{'a': 1}", 'not JSON: expected a key or } at line 1, column 2'],
    ['{"a": abc}', 'not JSON: expected a value at line 1, column 7'],
    ['{"a" 1}', 'not JSON: expected a colon at line 1, column 6'],
    ['[1, 2', 'not JSON: expected a comma or ] at line 1, column 6'],
    ['[1}', 'not JSON: expected a comma or ] at line 1, column 3'],
    ['{} // a comment', 'not JSON: expected the end at line 1, column 4'],
    ['{"a": "tab\there"}', 'not JSON: expected a value at line 1, column 7'],
  ])('the error for the text %j names the fault', (text, fault) => {
    expect(faultOf(text)).toBe(`CHAIN_CONFIG chain.json: ${fault}`);
  });

  it('a chain description may begin with a byte order mark', () => {
    expect(parse(`\uFEFF${JSON.stringify(WHOLE)}`).chainId).toBe(1_337);
  });

  it('a chain description may have addresses in any letter case', () => {
    const file = {
      majors: [`0X${TOKEN.slice(2).toUpperCase()}`, `0x${FACTORY.slice(2).toUpperCase()}`, OTHER],
    };
    expect(parse(file).majors).toEqual([TOKEN.toLowerCase(), FACTORY.toLowerCase(), OTHER]);
  });

  it('a chain description with the key __proto__ is refused', () => {
    expect(faultOf('{"chainId": 369, "__proto__": {"dexes": []}}')).toContain('__proto__: unknown key');
  });

  test.each([
    [['wss//me:hunter2@node.example/']],
    [['ftp://me:hunter2@node.example/hunter2', 'tcp://node.example/v3/hunter2']],
    ['https://me:hunter2@node.example/v3/hunter2'],
    [{ main: 'https://me:hunter2@node.example' }],
  ])('the error for wrong rpcUrls %j shows no credentials', (rpcUrls) => {
    const message = faultOf({ chainId: 369, rpcUrls });
    expect(message).toMatch(/^CHAIN_CONFIG chain\.json: rpcUrls/);
    expect(message).not.toContain('hunter2');
  });

  it('the error for invalid JSON shows no credentials', () => {
    expect(faultOf('{"rpcUrls": ["https://node.example/hunter2",,]}')).toBe(
      'CHAIN_CONFIG chain.json: not JSON: expected a value at line 1, column 45',
    );
  });
});
