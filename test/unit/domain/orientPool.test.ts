import type { Hex } from '../../../src/domain/hex';
import { orientPool } from '../../../src/domain/pools/orientPool';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const anchor = (digit: string) => ({ address: address(digit), symbol: digit, priceUsd: 1 });

const chain = {
  anchors: [anchor('a'), anchor('b')],
  wrappedNative: address('c'),
  majors: [address('d'), address('e')],
};
/** Tokens from the best quote to the worst. */
const RANKED = ['a', 'b', 'c', 'd', 'e'].map(address);
const UNKNOWN = [address('1'), address('2')] as const;

describe('base and quote of a pool follow the ranks of its tokens', () => {
  const pairs = RANKED.flatMap((better, rank) =>
    RANKED.slice(rank + 1).map((worse) => [better, worse] as const),
  );

  test.each(pairs)('the token %s is the quote against %s, as token0 and as token1', (better, worse) => {
    expect(orientPool(chain, worse, better)).toBe(true);
    expect(orientPool(chain, better, worse)).toBe(false);
  });

  test.each(RANKED)('the token %s is the quote against an unknown token', (known) => {
    expect(orientPool(chain, UNKNOWN[0], known)).toBe(true);
    expect(orientPool(chain, known, UNKNOWN[0])).toBe(false);
  });

  it('token1 is the quote when both tokens are unknown', () => {
    expect(orientPool(chain, ...UNKNOWN)).toBe(true);
    expect(orientPool(chain, UNKNOWN[1], UNKNOWN[0])).toBe(true);
    expect(orientPool({ anchors: [], wrappedNative: null, majors: [] }, address('a'), address('b'))).toBe(
      true,
    );
  });

  it('a token with two roles takes the better rank', () => {
    const twice = { ...chain, majors: [address('a'), ...chain.majors] };
    expect(orientPool(twice, address('b'), address('a'))).toBe(true);
  });
});
