import type { Hex } from '../../../src/domain/hex';
import {
  emptyWeightedPool,
  fillState,
  fromFeePips,
  pickDefaultLeg,
  toFeePips,
  withBalances,
  withWeights,
} from '../../../src/protocols/weightedPool';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const OWN = address('9');
const ID: Hex = `${OWN}${'0'.repeat(24)}`;
const pool = (tokens: readonly Hex[], percents: readonly number[] | null) =>
  withWeights(
    { ...emptyWeightedPool(ID), tokens },
    percents?.map((percent) => BigInt(percent) * 10n ** 16n) ?? null,
  );
const [A, B, C] = [address('a'), address('b'), address('c')];

describe('the leg that stands for a pool', () => {
  it.each<[string, readonly Hex[], readonly number[] | null, readonly [number, number] | null]>([
    ['the two largest weights in the order of the pool', [A, B, C], [50, 10, 40], [0, 2]],
    ['the order of the pool where the second is larger', [A, B, C], [30, 50, 20], [0, 1]],
    ['the first of equals', [A, B, C], [30, 35, 35], [1, 2]],
    ['the first two of three equals', [A, B, C], [20, 40, 40], [1, 2]],
    ['the first two without weights', [A, B, C], null, [0, 1]],
    ['all but the own token', [A, OWN, B], null, [0, 2]],
    ['the own token where there is no other', [OWN, B], null, [0, 1]],
    ['nothing of one token', [A], null, null],
    ['nothing where a token stands twice', [A, A], null, null],
  ])('is %s', (_name, tokens, percents, expected) => {
    const leg = pickDefaultLeg(pool(tokens, percents), () => Infinity);
    expect(leg === null ? null : [leg.first, leg.second]).toEqual(expected);
  });

  const rankOf =
    (...ranked: readonly Hex[]) =>
    (token: Hex): number =>
      ranked.indexOf(token) + 1 || Infinity;

  it.each<[string, readonly Hex[], readonly number[] | null, readonly Hex[], readonly [number, number]]>([
    ['the ranked token and the heaviest other', [A, B, C], [50, 30, 20], [C], [0, 2]],
    ['the first of two that are ranked', [A, B, C], [50, 30, 20], [C, B], [0, 2]],
    ['the second heaviest where the quote is the heaviest', [A, B, C], [60, 15, 25], [A], [0, 2]],
    ['the first of equals beside the quote', [A, B, C], [35, 35, 30], [C], [0, 2]],
    ['the first other without weights', [A, B, C], null, [B], [0, 1]],
    ['another than the own token beside the quote', [OWN, B, C], null, [B], [1, 2]],
    ['both of two tokens', [A, B], [80, 20], [B], [0, 1]],
  ])('is %s', (_name, tokens, percents, ranked, expected) => {
    const leg = pickDefaultLeg(pool(tokens, percents), rankOf(...ranked));
    expect(leg === null ? null : [leg.first, leg.second]).toEqual(expected);
  });
});

describe('what is known of a state', () => {
  it('is filled up only where it lacks', () => {
    const lacking = pool([A, B], [50, 50]);
    const known = { ...withBalances(lacking, { tokens: [B, A], balances: [7n, 5n] }), swapFee: 3n };
    expect(known.balances).toEqual([5n, 7n]);
    expect(fillState(lacking, known)).toEqual(known);
    expect(fillState(known, { ...known, balances: [1n, 1n], swapFee: 1n })).toEqual(known);
  });

  it('keeps a fee in pips through the store', () => {
    for (const pips of [1, 29, 3_000, 100_000]) expect(toFeePips(fromFeePips(pips))).toBe(pips);
  });
});
