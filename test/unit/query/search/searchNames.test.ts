/** Compares search by pair and token names with a plain scan of all names. */
import { splitPairWords } from '../../../../src/query/search/matchQuality';
import { listPairsNamed, listTokensNamed } from '../../../../src/query/search/searchNames';
import { createRandom } from '../../../support/createRandom';

const NAMES = 12_000;
const random = createRandom(20261123);
const SYMBOLS = ['WPLS', 'DAI', 'HEX', 'pDAI', 'Üñï', '🚀', 'PLSX', 'A', 'aa', 'eHEX', '0xabcd…1234'];

const pick = (): string => random.pick(SYMBOLS);
const addressOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const pairs = Array.from({ length: NAMES }, (_, index) => ({
  pool: { address: addressOf(index), pool_id: null, dex: random.pick(['one', 'two']) },
  tokens: { name: `${pick()} / ${pick()}` },
  liquidityUsd: random() < 0.3 ? 0 : 10 ** (random() * 9),
}));
const tokens = Array.from({ length: NAMES }, (_, index) => ({
  address: addressOf(index),
  symbol: random() < 0.1 ? null : pick(),
  name: random() < 0.1 ? null : `${pick()} ${pick()}`,
  decimals: 18,
}));
const logs = new Map(tokens.map(({ address }) => [address as string, random.int(200)]));
const logsOf = (address: string): number => logs.get(address) ?? 0;

/** Quality of a match. 0: whole text, 1: prefix, 2: prefix of a word, 3: substring, 4: no match. */
function kindOf(name: string | null, text: string): number {
  const lower = (name ?? '').toLowerCase();
  if (lower === text) return 0;
  if (lower.startsWith(text)) return 1;
  return lower.includes(` ${text}`) ? 2 : lower.includes(text) ? 3 : 4;
}

/**
 * Quality of the match of a pair, by its name or by its two symbols in any order. A match by symbols ranks half a
 * step lower.
 */
function kindOfPair(name: string, text: string): number {
  const words = text.split(/[\s/-]+/).filter((word) => word !== '');
  const [first = '', second = ''] = words;
  const [left = '', right = ''] = name.split(' / ');
  const kinds = [
    [kindOf(left, first), kindOf(right, second)],
    [kindOf(right, first), kindOf(left, second)],
  ].map((pair) => Math.max(...pair));
  const isOpen = words.length === 1 && /[/-]\s*$/.test(text);
  const open = isOpen ? Math.min(kindOf(left, first), kindOf(right, first)) : 4;
  const best = words.length === 2 ? Math.min(...kinds) : open;
  return Math.min(kindOf(name, text), best < 4 ? best + 0.5 : 4);
}

/** The expected addresses, ordered by quality of the match, then weight, then address. */
function plainly<T>(
  all: readonly T[],
  of: (one: T) => { kind: number; weight: number; address: string },
): string[] {
  const found = all.map(of).filter(({ kind }) => kind < 4);
  found.sort((a, b) => a.kind - b.kind || b.weight - a.weight || (a.address < b.address ? -1 : 1));
  return found.map(({ address }) => address);
}

const TEXTS = [
  'wpls / dai',
  'dai wpls',
  'hex-a',
  'hex/üñ',
  'wpls',
  'a',
  'dai',
  'hex',
  'üñï',
  '🚀 /',
  '/',
  '0xabcd',
  'nobody',
  '\t',
];

test.each(TEXTS)(
  'a search for pairs matching %p equals a plain scan: better matches first, then the most liquid',
  async (text) => {
    const wanted = plainly(pairs, ({ pool, tokens: { name }, liquidityUsd }) => ({
      kind: kindOfPair(name, text),
      weight: liquidityUsd,
      address: pool.address,
    }));
    for (const limit of [1, 25, 100]) {
      const found = await listPairsNamed(pairs, text, limit);
      expect(found.map(({ address }) => address)).toEqual(wanted.slice(0, limit));
      for (const { address, title, subtitle } of found) {
        const { pool, tokens: shown } = pairs[parseInt(address, 16) - 1]!;
        expect([title, subtitle]).toEqual([shown.name, pool.dex]);
      }
    }
  },
);

test.each(TEXTS)(
  'a search for tokens matching %p equals a plain scan: better matches first, then tokens with most logs',
  async (text) => {
    const wanted = plainly(tokens, ({ address, symbol, name }) => ({
      kind: Math.min(kindOf(symbol, text), kindOf(name, text)),
      weight: logsOf(address),
      address,
    }));
    for (const limit of [1, 25, 100]) {
      const found = await listTokensNamed(tokens, { logsOf }, text, limit);
      expect(found.map(({ address }) => address)).toEqual(wanted.slice(0, limit));
    }
  },
);

test.each([
  ['weth/usdc', ['weth', 'usdc']],
  ['usdc - weth ', ['usdc', 'weth']],
  ['weth/', ['weth']],
  ['weth - ', ['weth']],
  ['weth', []],
  ['/', []],
  ['a b c d e', []],
])('the search text %p has the symbols %p', (text, words) => {
  expect(splitPairWords(text)).toEqual(words);
});
