/** Names of pairs against a plain look at each of them. */
import { createPairNames } from '../../../src/query/pairNames';
import { createRandom } from '../../support/createRandom';

const PAIRS = 12_000;
const random = createRandom(20261123);
const SYMBOLS = ['WPLS', 'DAI', 'HEX', 'pDAI', 'Üñï', '🚀', 'PLSX', 'A', 'aa', 'eHEX', '0xabcd…1234'];

const pick = (): string => random.pick(SYMBOLS);
const entries = Array.from({ length: PAIRS }, (_, index) => ({
  pool: { address: `0x${(index + 1).toString(16).padStart(40, '0')}`, dex: random.pick(['one', 'two']) },
  tokens: { name: `${pick()} / ${pick()}` },
  liquidityUsd: random() < 0.3 ? 0 : 10 ** (random() * 9),
}));
const pools: unknown[] = [];
const tokens = new Map();
const table = { entries, pools, tokens } as never;

const kindOf = (name: string, text: string): number => {
  const lower = name.toLowerCase();
  if (lower === text) return 0;
  if (lower.startsWith(text)) return 1;
  return lower.includes(` ${text}`) ? 2 : lower.includes(text) ? 3 : 4;
};

test.each(['wpls / dai', 'wpls', 'a', 'dai', 'hex', 'üñï', '🚀 /', '/', '0xabcd', 'nobody', '\t'])(
  'those that are called %p come first, the most liquid before others',
  async (text) => {
    const names = createPairNames(() => table);
    for (const limit of [1, 25, 100]) {
      const found = await names.find(text, limit);
      const wanted = entries.map(({ tokens: { name } }) => kindOf(name, text)).filter((kind) => kind < 4);
      expect(found.map(({ name }) => kindOf(name, text))).toEqual(wanted.sort().slice(0, limit));
      const classes = found.map(({ address, name, dexName }) => {
        const entry = entries[parseInt(address, 16) - 1]!;
        expect([name, dexName]).toEqual([entry.tokens.name, entry.pool.dex]);
        return kindOf(name, text) * 100 - Math.floor(Math.log2(Math.max(1, entry.liquidityUsd)));
      });
      expect(classes).toEqual([...classes].sort((a, b) => a - b));
      // None of those left out is of a better class than the last one.
      const last = classes.at(-1) ?? 0;
      const better = entries.filter(
        ({ tokens: { name }, liquidityUsd }) =>
          kindOf(name, text) < 4 &&
          kindOf(name, text) * 100 - Math.floor(Math.log2(Math.max(1, liquidityUsd))) < last,
      );
      expect(better.length).toBeLessThanOrEqual(found.length);
    }
  },
);

test('names stand until there are others', async () => {
  let shown: unknown = null;
  const names = createPairNames(() => shown as never);
  expect(await names.find('dai', 10)).toEqual([]);
  shown = table;
  const first = await names.find('dai', 10);
  expect(first).toHaveLength(10);
  expect(await names.find('dai', 10)).toEqual(first);
  const one = { ...entries[0]!, tokens: { name: 'NEW / DAI' } };
  shown = { entries: [one], pools: [], tokens };
  expect((await names.find('dai', 10)).map(({ name }) => name)).toEqual(['NEW / DAI']);
});
