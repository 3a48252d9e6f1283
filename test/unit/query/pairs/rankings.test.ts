import { Rankings, compareKeys, ORDERS } from '../../../../src/query/pairs/rankings';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

interface Entry {
  readonly address: string;
  readonly number: number | null;
  readonly text: string | null;
}

const random = new Random(SEED);

function makeEntries(count: number): Entry[] {
  return Array.from({ length: count }, () => ({
    address: `0x${random
      .int(0, 2 ** 31)
      .toString(16)
      .padStart(8, '0')}${random.int(0, 2 ** 31)}`,
    number: random.chance(0.2) ? null : random.chance(0.3) ? 0 : random.int(-5, 5) / 3,
    text: random.chance(0.2) ? null : 'abcdABCD'.charAt(random.int(0, 7)),
  }));
}

const rankings = new Rankings<Entry, 'number' | 'text'>(
  (entry) => entry,
  (entry, sort) => entry[sort],
);

test('rankings of pairs equal a plain sort with nulls last and ties by address, and leave the list unchanged', () => {
  for (const count of [0, 1, 2, 7, 300]) {
    const entries = makeEntries(count);
    const before = [...entries];
    for (const sort of ['number', 'text'] as const)
      for (const order of ORDERS) {
        const expected = [...entries].sort(
          (a, b) => compareKeys(a[sort], b[sort], order) || compareKeys(a.address, b.address, 'asc'),
        );
        expect(rankings.sorted(entries, sort, order)).toEqual(expected);
        expect(rankings.sorted(entries, sort, order)).toBe(rankings.sorted(entries, sort, order));
      }
    expect(entries).toEqual(before);
  }
});
