/** Tests token lists that a hostile server may send. */
import { parseTokenList } from '../../../src/contracts/import/tokenList';

const A = `0x${'ab'.repeat(20)}`;
const parse = (list: unknown) => parseTokenList(JSON.stringify(list), 'list.json');
const entry = (logoURI: unknown, chainId: unknown = 369, address: unknown = A): object => ({
  chainId,
  address,
  logoURI,
});

test('tokens with a valid chain id and address are kept, all others are counted', () => {
  const tokens = [
    entry('https://x.org/a.png'),
    entry('ipfs://Qm1', 1),
    null,
    7,
    entry('x', '369'),
    entry('x', 1, 'y'),
  ];
  expect(parse({ name: 'A\u202elist', tokens })).toEqual({
    name: 'Alist',
    tokens: [
      { chainId: 369, address: A, logoUrl: 'https://x.org/a.png' },
      { chainId: 1, address: A, logoUrl: 'ipfs://Qm1' },
    ],
    broken: 4,
  });
});

test.each([
  'javascript:alert(1)',
  'data:image/svg+xml,<svg/>',
  'https://user:pass@x.org/a.png',
  'https://x.org/a b.png',
  `https://x.org/${'a'.repeat(2_100)}`,
  'not a url',
])('the logo %.30s is left out', (url) => {
  expect(parse({ name: 'x', tokens: [entry(url)] }).tokens).toEqual([
    { chainId: 369, address: A, logoUrl: null },
  ]);
});

test('if a list contains a token twice, the last entry is used', () => {
  const tokens = [entry('https://x.org/1.png'), entry('https://x.org/2.png')];
  expect(parse({ name: 'x', tokens }).tokens.map(({ logoUrl }) => logoUrl)).toEqual(['https://x.org/2.png']);
});

test.each([
  ['no JSON', '{', /not JSON/],
  ['another shape', '[]', /no token list/],
  ['too many tokens', JSON.stringify({ name: 'x', tokens: Array(100_001).fill(1) }), /at most 100000/],
])('%s is refused with the name of the source', (_, text, message) => {
  expect(() => parseTokenList(text, 'list.json')).toThrow(message);
  expect(() => parseTokenList(text, 'list.json')).toThrow(/^list\.json: /);
});
