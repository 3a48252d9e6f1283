import type { Hex } from '../../../src/domain/hex';
import { orientPool } from '../../../src/domain/orientPool';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const anchor = (digit: string) => ({ address: address(digit), symbol: digit, priceUsd: 1 });

const chain = {
  anchors: [anchor('a'), anchor('b')],
  wrappedNative: address('c'),
  majors: [address('d'), address('e')],
};
/** From the best quote to the worst. */
const RANKED = ['a', 'b', 'c', 'd', 'e'].map(address);
const UNKNOWN = [address('1'), address('2')] as const;

describe('which side of a pool is the base', () => {
  const pairs = RANKED.flatMap((better, rank) =>
    RANKED.slice(rank + 1).map((worse) => [better, worse] as const),
  );

  test.each(pairs)('%s is the quote of %s, on whichever side it stands', (better, worse) => {
    expect(orientPool(chain, worse, better)).toBe(true);
    expect(orientPool(chain, better, worse)).toBe(false);
  });

  test.each(RANKED)('%s is the quote of an unknown token', (known) => {
    expect(orientPool(chain, UNKNOWN[0], known)).toBe(true);
    expect(orientPool(chain, known, UNKNOWN[0])).toBe(false);
  });

  it('token1 is the quote when neither is known, whatever the addresses are', () => {
    expect(orientPool(chain, ...UNKNOWN)).toBe(true);
    expect(orientPool(chain, UNKNOWN[1], UNKNOWN[0])).toBe(true);
    expect(orientPool({ anchors: [], wrappedNative: null, majors: [] }, address('a'), address('b'))).toBe(
      true,
    );
  });

  it('a token that is named twice takes its better rank', () => {
    const twice = { ...chain, majors: [address('a'), ...chain.majors] };
    expect(orientPool(twice, address('b'), address('a'))).toBe(true);
  });
});
