import type { Hex } from '../../../../src/domain/hex';
import { fillState, withWeights } from '../../../../src/protocols/balancerV2/weightedPool';
import { emptyManyTokenState, pickDefaultLeg, withBalances } from '../../../../src/protocols/manyTokenPool';
import { fromFeePips, toFeePips } from '../../../../src/domain/swapFee';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const OWN = address('9');
const ID: Hex = `${OWN}${'0'.repeat(24)}`;
const pool = (tokens: readonly Hex[], percents: readonly number[] | null) =>
  withWeights(
    { ...emptyManyTokenState(ID), tokens },
    percents?.map((percent) => BigInt(percent) * 10n ** 16n) ?? null,
  );
const [A, B, C] = [address('a'), address('b'), address('c')];

describe('the default leg of a pool has the best ranked token and the heaviest other token, or else the two heaviest tokens', () => {
  it.each<[string, readonly Hex[], readonly number[] | null, readonly [number, number] | null]>([
    ['the two tokens with the largest weights, in pool order', [A, B, C], [50, 10, 40], [0, 2]],
    ['in pool order, even if the second token is heavier', [A, B, C], [30, 50, 20], [0, 1]],
    ['the two heaviest of three tokens', [A, B, C], [30, 35, 35], [1, 2]],
    ['the two heaviest, without the first token', [A, B, C], [20, 40, 40], [1, 2]],
    ['the first two tokens if there are no weights', [A, B, C], null, [0, 1]],
    ['never the pool’s own token if there are two others', [A, OWN, B], null, [0, 2]],
    ['null for a pool of its own token and one other', [OWN, B], null, null],
    ['null for a pool of one token', [A], null, null],
    ['null for a pool that lists a token twice', [A, A], null, null],
  ])('the default leg of a pool is %s', (_name, tokens, percents, expected) => {
    const leg = pickDefaultLeg(pool(tokens, percents), OWN, () => Infinity);
    expect(leg === null ? null : [leg.first, leg.second]).toEqual(expected);
  });

  const rankOf =
    (...ranked: readonly Hex[]) =>
    (token: Hex): number =>
      ranked.indexOf(token) + 1 || Infinity;

  it.each<[string, readonly Hex[], readonly number[] | null, readonly Hex[], readonly [number, number]]>([
    ['the ranked token and the heaviest other token', [A, B, C], [50, 30, 20], [C], [0, 2]],
    ['the better ranked token and the heaviest other token', [A, B, C], [50, 30, 20], [C, B], [0, 2]],
    [
      'the ranked token and the second heaviest, if the ranked one is heaviest',
      [A, B, C],
      [60, 15, 25],
      [A],
      [0, 2],
    ],
    ['the ranked token and the first of equally heavy ones', [A, B, C], [35, 35, 30], [C], [0, 2]],
    ['the ranked token and the first other if there are no weights', [A, B, C], null, [B], [0, 1]],
    ['the ranked token and one that is not the pool’s own', [OWN, B, C], null, [B], [1, 2]],
    ['both tokens of a pool of two', [A, B], [80, 20], [B], [0, 1]],
  ])('the default leg of a pool with ranked tokens is %s', (_name, tokens, percents, ranked, expected) => {
    const leg = pickDefaultLeg(pool(tokens, percents), OWN, rankOf(...ranked));
    expect(leg === null ? null : [leg.first, leg.second]).toEqual(expected);
  });
});

describe('the state of a pool can be fetched from the node', () => {
  it('the state fetched from the node fills in only the missing values of a known state', () => {
    const lacking = pool([A, B], [50, 50]);
    const known = { ...withBalances(lacking, { tokens: [B, A], balances: [7n, 5n] }), swapFee: 3n };
    expect(known.balances).toEqual([5n, 7n]);
    expect(fillState(lacking, known)).toEqual(known);
    expect(fillState(known, { ...known, balances: [1n, 1n], swapFee: 1n })).toEqual(known);
  });

  it("a pool's fee in pips is the same after it is written and read back", () => {
    for (const pips of [1, 29, 3_000, 100_000]) expect(toFeePips(fromFeePips(pips))).toBe(pips);
  });
});
