/** The parser of CHAIN_CONFIG files: merging, and one message that names each wrong field. */
import { parseChainDescription } from '../../../src/chains/parseChainDescription';
import { pulsechain } from '../../../src/chains/pulsechain';
import { AppError } from '../../../src/errors';

const A = '0x1111111111111111111111111111111111111111';
const B = '0x2222222222222222222222222222222222222222';

const WHOLE = {
  chainId: 5,
  name: 'Five',
  nativeSymbol: 'V',
  wrappedNative: A,
  anchors: [{ address: B, symbol: 'USD', priceUsd: 1 }],
  majors: [A],
  burn: { token: A, addresses: [B] },
  confirmations: 10,
  startBlock: 0,
  rpcUrls: ['http://127.0.0.1:8545'],
  dexes: [{ name: 'one', displayName: 'One', protocol: 'uniswap_v2', factory: A }],
};

function problemsOf(file: unknown, chainId = 5): string[] {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  try {
    parseChainDescription(text, 'x.json', chainId);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    const { code, message } = error as AppError;
    expect(code).toBe('bad_config');
    expect(message).toMatch(/^CHAIN_CONFIG x\.json: /);
    return message
      .slice('CHAIN_CONFIG x.json: '.length)
      .split('; ')
      .filter((part) => !part.startsWith('allowed: '));
  }
  throw new Error('no error');
}

test('a whole file of another chain is taken as it is', () => {
  expect(parseChainDescription(JSON.stringify(WHOLE), 'x.json', 5)).toEqual(WHOLE);
});

test('each top-level key of the file replaces that key of the built-in description, whole', () => {
  const dexes = [{ name: 'mine', displayName: 'Mine', protocol: 'uniswap_v3', factory: A }];
  const merged = parseChainDescription(JSON.stringify({ chainId: 369, dexes, startBlock: 9 }), 'x.json', 369);
  expect(merged).toEqual({ ...pulsechain, dexes, startBlock: 9 });
});

test('addresses of any letter case become lower-case', () => {
  const file = {
    chainId: 369,
    wrappedNative: '0xA1077a294dDE1B09bB078844df40758a5D0f9a27',
    majors: ['0X95B303987A60C71504D99AA1B13B4DA07B0790AB', '0x2FA878AB3F87CC1C9737FC071108F904C0B0C95D'],
  };
  const { wrappedNative, majors } = parseChainDescription(JSON.stringify(file), 'x.json', 369);
  expect(wrappedNative).toBe('0xa1077a294dde1b09bb078844df40758a5d0f9a27');
  expect(majors).toEqual([
    '0x95b303987a60c71504d99aa1b13b4da07b0790ab',
    '0x2fa878ab3f87cc1c9737fc071108f904c0b0c95d',
  ]);
});

test('each wrong field is named in one message with what it got', () => {
  const problems = problemsOf({
    ...WHOLE,
    wrappedNative: '0xA1077a294dDE1B09bB078844df40758a5D0f9A27',
    anchors: [WHOLE.anchors[0], { address: '0x12', symbol: '', priceUsd: 0 }],
    majors: 'none',
    confirmations: 1.5,
    startBlock: -1,
    rpcUrls: ['node.example'],
    logo: 3,
    dexes: [
      { name: 'Bad Name', displayName: 'x', protocol: 'curve', factory: 'x', feeBps: -1, feeBPS: 30 },
      null,
      {
        name: 'zero',
        displayName: 'x',
        protocol: 'uniswap_v2',
        factory: `0x${'0'.repeat(40)}`,
        protocolFeeShare: 2,
      },
    ],
  });
  const fields = problems.map((problem) => problem.slice(0, problem.indexOf(': ')));
  expect(fields.sort()).toEqual(
    [
      'wrappedNative',
      'anchors.1.address',
      'anchors.1.symbol',
      'anchors.1.priceUsd',
      'majors',
      'confirmations',
      'startBlock',
      'rpcUrls.0',
      'logo',
      'dexes.0.name',
      'dexes.0.protocol',
      'dexes.0.factory',
      'dexes.0.feeBps',
      'dexes.0.feeBPS',
      'dexes.1',
      'dexes.2.factory',
      'dexes.2.protocolFeeShare',
    ].sort(),
  );
  expect(problems).toContain('anchors.1.address: got "0x12"');
  expect(problems).toContain('dexes.0.feeBPS: unknown key');
});

test('unknown top-level keys are named', () => {
  expect(problemsOf({ chainId: 369, dexs: [], anchor: [] }, 369)).toEqual([
    'dexs: unknown key',
    'anchor: unknown key',
  ]);
});

test('values that must differ are named with their twin, beside other faults', () => {
  const dex = WHOLE.dexes[0]!;
  const problems = problemsOf({
    ...WHOLE,
    confirmations: 'many',
    anchors: [WHOLE.anchors[0], { ...WHOLE.anchors[0]!, address: B.toUpperCase().replace('0X', '0x') }],
    dexes: [dex, { ...dex, displayName: 'Two' }],
  });
  expect(problems).toEqual([
    'confirmations: got "many"',
    `anchors.1.address: got "${B}", which is anchors.0.address too`,
    'dexes.1.name: got "one", which is dexes.0.name too',
    `dexes.1.factory: got "${A}", which is dexes.0.factory too`,
  ]);
});

test('for another chain the keys that decide the data must all be there', () => {
  expect(problemsOf({ chainId: 5 }).sort()).toEqual(
    ['name', 'nativeSymbol', 'wrappedNative', 'anchors', 'dexes'].map((key) => `${key}: got nothing`).sort(),
  );
});

test('a file of another chain than CHAIN_ID is refused by name', () => {
  expect(problemsOf(WHOLE, 6)[0]).toBe('chainId: got 5');
});

test.each([
  ['no JSON', '{"chainId": 5,}'],
  ['an empty file', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['a text', '"chain"'],
])('%s is refused', (_, text) => {
  expect(problemsOf(text)).toHaveLength(1);
});

test('text that is no JSON is refused with the place of the fault', () => {
  expect(problemsOf('{\n  "chainId": 5,\n}')[0]).toContain('line 3, column 1');
});

test('a file that tries to reach the prototype is refused', () => {
  expect(problemsOf('{"chainId": 369, "__proto__": {"dexes": []}}', 369)).toHaveLength(1);
});
