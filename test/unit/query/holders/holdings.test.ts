import { countOf, type HolderCount } from '../../../../src/query/holders/holderCounts';
import { Holdings } from '../../../../src/query/holders/holdings';

const MANY = 20_000;

function held(holders: number): HolderCount {
  return countOf({
    holders,
    negatives: 0,
    addresses: holders,
    zero_balance: -1n,
    watched: [],
    largest: [1n],
  });
}

test('a new version of the holdings has the later counts, and an earlier version keeps its counts', () => {
  const first = new Holdings(new Map([...names(MANY)].map((name) => [name, held(1)])));
  const versions = [first];
  for (let version = 2; version < 20; version += 1) {
    const before = versions.at(-1) ?? first;
    const moved = [...names(MANY)].filter((_, at) => at % version === 0);
    versions.push(before.with(new Map(moved.map((name) => [name, held(version)]))));
  }
  for (const [at, holdings] of versions.entries()) {
    const last = (place: number): number => {
      for (let version = at + 1; version > 1; version -= 1) if (place % version === 0) return version;
      return 1;
    };
    const found = [...names(60)].map((name) => holdings.get(name)?.holders);
    expect(found).toEqual(Array.from({ length: 60 }, (_, place) => last(place)));
  }
});

test('a token without transfers is null, and a token that is not counted is undefined', () => {
  const holdings = new Holdings(new Map([['a', held(1)]])).with(new Map([['b', null]]));
  expect([holdings.get('a')?.holders, holdings.get('b'), holdings.get('c')]).toEqual([1, null, undefined]);
  expect(holdings.with(new Map([['a', null]])).get('a')).toBeNull();
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, place) => `token ${place}`);
}
