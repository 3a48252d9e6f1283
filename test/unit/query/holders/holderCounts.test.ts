import {
  countOf,
  moveCount,
  type HolderChange,
  type HolderCount,
} from '../../../../src/query/holders/holderCounts';
import { createRandom } from '../../../support/createRandom';

const ZERO = `0x${'0'.repeat(40)}`;
const DEAD = '0x000000000000000000000000000000000000dead';
const isDead = (holder: string): boolean => holder === DEAD;
const holderAt = (index: number): string => `0x${index.toString(16).padStart(40, '1')}`;

/** The expected answer of the counting query, computed in plain code. */
function count(balances: ReadonlyMap<string, bigint>): HolderCount {
  const others = [...balances].filter(([who]) => who !== ZERO).map(([, balance]) => balance);
  const falling = others.filter((balance) => balance > 0n).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  return countOf({
    holders: falling.length,
    negatives: others.filter((balance) => balance < 0n).length,
    addresses: balances.size,
    zero_balance: balances.get(ZERO) ?? 0n,
    watched: [[DEAD, balances.get(DEAD) ?? 0n]],
    largest: falling.slice(0, 64),
  });
}

const shown = ({ holders, negatives, zero, watched, largest, supply }: HolderCount): object => ({
  holders,
  negatives,
  zero,
  dead: watched.get(DEAD),
  largest,
  supply,
});

const WORLDS: readonly (readonly [string, number, number])[] = [
  ['few holders', 20, 101],
  ['slightly more holders than are listed', 90, 202],
  ['many holders', 2_000, 303],
];

test.each(WORLDS)('a holder count updated by changes equals a new count: %s', (_, holders, seed) => {
  const random = createRandom(seed);
  const books = new Map<string, bigint>();
  const who = (): string => (random() < 0.05 ? DEAD : holderAt(Math.floor(random() ** 2 * holders)));
  let following = count(books);
  let anew = 0;
  for (let block = 0; block < 600; block += 1) {
    const before = new Map(books);
    for (let transfers = random.int(12); transfers >= 0; transfers -= 1) {
      const [from, to] = [random() < 0.3 ? ZERO : who(), random() < 0.1 ? ZERO : who()];
      // Amounts of a few sizes, so that many balances are equal.
      const amount = BigInt(random.int(6)) * 10n ** BigInt(random.int(4));
      books.set(from, (books.get(from) ?? 0n) - amount);
      books.set(to, (books.get(to) ?? 0n) + amount);
    }
    const changes: HolderChange[] = [...books]
      .map(([holder, after]) => ({ holder, before: before.get(holder) ?? 0n, after }))
      .filter((change) => change.before !== change.after);
    const moved = moveCount(following, changes, isDead);
    if (moved === null) anew += 1;
    following = moved ?? count(books);
    expect([seed, block, shown(following)]).toEqual([seed, block, shown(count(books))]);
  }
  expect(anew).toBeLessThan(60);
});

test('after too many of the largest holders leave, all holders of the token are counted again', () => {
  const books = new Map(Array.from({ length: 500 }, (_, index) => [holderAt(index), BigInt(1_000 - index)]));
  const gone = [...books].slice(0, 30).map(([holder, before]) => ({ holder, before, after: 0n }));
  expect(moveCount(count(books), gone.slice(0, 20), isDead)).not.toBeNull();
  expect(moveCount(count(books), gone, isDead)).toBeNull();
});

test('if balances at the end of the list of largest holders are equal, all holders of the token are counted again', () => {
  const books = new Map(Array.from({ length: 100 }, (_, index) => [holderAt(index), 5n]));
  const counted = count(books);
  expect(counted.largest).toEqual(Array.from({ length: 40 }, () => 5n));
  expect(moveCount(counted, [{ holder: holderAt(1), before: 5n, after: 6n }], isDead)).toBeNull();
});
