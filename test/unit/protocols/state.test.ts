import fc from 'fast-check';

import { ZERO_ADDRESS } from '../../../src/domain/hex';
import { EMPTY_STATE, type PoolState } from '../../../src/domain/pool';
import { pancakeV3 } from '../../../src/protocols/uniswapV3/pancakeV3';
import type { PoolEvent } from '../../../src/protocols/protocol';
import { uniswapV2 } from '../../../src/protocols/uniswapV2/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3/uniswapV3';
import { agree, exactly, type Rational } from '../domain/rational';

const UINT112_MAX = (1n << 112n) - 1n;
const UINT128_MAX = (1n << 128n) - 1n;
const UINT256_MAX = (1n << 256n) - 1n;
/** The constants MIN_SQRT_RATIO and MAX_SQRT_RATIO of TickMath.sol. */
const SQRT_PRICE_MIN = 4_295_128_739n;
const SQRT_PRICE_MAX = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;

const parties = { owner: ZERO_ADDRESS, sender: ZERO_ADDRESS, recipient: ZERO_ADDRESS };

function swap(
  amount0: bigint,
  amount1: bigint,
  sqrtPriceX96: bigint,
  liquidity: bigint,
  tick: number,
): PoolEvent {
  return { kind: 'swap', ...parties, amount0, amount1, after: { sqrtPriceX96, liquidity, tick } };
}

function position(
  kind: 'mint' | 'burn',
  range: readonly [number, number],
  liquidity: bigint,
  amount0 = 0n,
  amount1 = 0n,
): PoolEvent {
  return { kind, owner: ZERO_ADDRESS, amount0, amount1, liquidity, tickLower: range[0], tickUpper: range[1] };
}

function collect(amount0: bigint, amount1: bigint): PoolEvent {
  return { kind: 'collect', ...parties, amount0, amount1, tickLower: -60, tickUpper: 60 };
}

function run(state: PoolState, ...events: readonly PoolEvent[]): PoolState {
  return events.reduce((before, event) => uniswapV3.applyEvent(before, event), state);
}

const START: PoolState = {
  reserve0: 1_000n,
  reserve1: 2_000n,
  sqrtPriceX96: 1n << 96n,
  liquidity: 500n,
  tick: 0,
};

describe('the state of a V2 pool follows its events', () => {
  const synced = uniswapV2.applyEvent(EMPTY_STATE, { kind: 'sync', reserve0: 7n, reserve1: 9n });

  it('the state of a V2 pool has the reserves of the last Sync', () => {
    expect(synced).toEqual({ ...EMPTY_STATE, reserve0: 7n, reserve1: 9n });
    const drained = uniswapV2.applyEvent(synced, { kind: 'sync', reserve0: 0n, reserve1: UINT112_MAX });
    expect(drained).toEqual({ ...EMPTY_STATE, reserve0: 0n, reserve1: UINT112_MAX });
  });

  it('the state of a V2 pool is the same object after a Sync with the same reserves', () => {
    expect(uniswapV2.applyEvent(synced, { kind: 'sync', reserve0: 7n, reserve1: 9n })).toBe(synced);
  });

  it('a swap, mint or burn does not change the state of a V2 pool, because a Sync comes with each of them', () => {
    const none = { liquidity: null, tickLower: null, tickUpper: null };
    const events: PoolEvent[] = [
      { kind: 'swap', ...parties, amount0: 5n, amount1: -5n, after: null },
      { kind: 'mint', owner: ZERO_ADDRESS, amount0: 5n, amount1: 5n, ...none },
      { kind: 'burn', owner: ZERO_ADDRESS, amount0: 5n, amount1: 5n, ...none },
    ];
    for (const event of events) expect(uniswapV2.applyEvent(synced, event)).toBe(synced);
  });
});

describe('the state of a V3 pool follows its events', () => {
  it('a V3 pool gets its first price from Initialize and has no liquidity yet', () => {
    const state = run(EMPTY_STATE, { kind: 'initialize', sqrtPriceX96: 5n << 96n, tick: 32_189 });
    expect(state).toEqual({ ...EMPTY_STATE, sqrtPriceX96: 5n << 96n, tick: 32_189 });
  });

  it('a swap sets price, tick and liquidity of a V3 pool, and adds the signed amounts to its balances', () => {
    const state = run(START, swap(100n, -150n, 3n << 95n, 77n, -12));
    expect(state).toEqual({
      reserve0: 1_100n,
      reserve1: 1_850n,
      sqrtPriceX96: 3n << 95n,
      liquidity: 77n,
      tick: -12,
    });
  });

  test.each<[string, readonly [number, number], boolean]>([
    ['around the tick', [-60, 60], true],
    ['that begins at the tick', [0, 60], true],
    ['that ends at the tick', [-60, 0], false],
    ['above the tick', [1, 60], false],
    ['below the tick', [-60, -1], false],
    ['of the whole range', [-887_272, 887_272], true],
  ])('a V3 pool counts the liquidity of a position %s as active or inactive', (_name, range, active) => {
    const minted = run(START, position('mint', range, 40n, 10n, 20n));
    expect(minted).toEqual({ ...START, reserve0: 1_010n, reserve1: 2_020n, liquidity: active ? 540n : 500n });
    expect(run(minted, position('burn', range, 40n, 10n, 20n))).toEqual({ ...minted, liquidity: 500n });
  });

  it('a V3 pool keeps burned tokens in its balances until they are collected', () => {
    const burned = run(START, position('burn', [-60, 60], 100n, 300n, 400n));
    expect(burned).toEqual({ ...START, liquidity: 400n });
    expect(run(burned, collect(300n, 401n))).toEqual({ ...burned, reserve0: 700n, reserve1: 1_599n });
  });

  it('a V3 pool loses collected protocol fees and gains the payment of a flash loan', () => {
    const paid = run(START, { kind: 'flash', ...parties, amount0: 3n, amount1: 4n });
    expect(paid).toEqual({ ...START, reserve0: 1_003n, reserve1: 2_004n });
    const taken = run(paid, { kind: 'collect_protocol', ...parties, amount0: 2n, amount1: 1n });
    expect(taken).toEqual({ ...START, reserve0: 1_001n, reserve1: 2_003n });
  });

  it('the state of a V3 pool is the same object after events that change nothing', () => {
    const events: PoolEvent[] = [
      position('burn', [-60, 60], 0n),
      position('burn', [60, 120], 40n),
      position('mint', [60, 120], 40n),
      collect(0n, 0n),
      { kind: 'flash', ...parties, amount0: 0n, amount1: 0n },
      { kind: 'collect_protocol', ...parties, amount0: 0n, amount1: 0n },
      { kind: 'sync', reserve0: 1n, reserve1: 1n },
    ];
    for (const event of events) expect(uniswapV3.applyEvent(START, event)).toBe(START);
  });

  it('a V3 pool never has a balance or liquidity below zero or above the range of its type', () => {
    const below = run(START, collect(1_001n, 5_000n), position('burn', [-60, 60], 501n));
    expect(below).toMatchObject({ reserve0: 0n, reserve1: 0n, liquidity: 0n });
    const above = run(START, { kind: 'flash', ...parties, amount0: UINT256_MAX, amount1: UINT256_MAX });
    expect(above).toMatchObject({ reserve0: UINT256_MAX, reserve1: UINT256_MAX });
    expect(run(START, position('mint', [-60, 60], UINT128_MAX))).toMatchObject({ liquidity: UINT128_MAX });
  });

  it('the balances of a V3 pool equal the sum of all payments, after any history', () => {
    const small = fc.bigInt({ min: -(1n << 90n), max: 1n << 90n });
    const full: PoolState = { ...START, reserve0: 1n << 100n, reserve1: 1n << 100n };
    const event = fc.tuple(fc.constantFrom('swap', 'mint', 'burn', 'collect', 'flash'), small, small);
    const property = fc.property(fc.array(event, { maxLength: 60 }), (history) => {
      let state = full;
      let expected0 = full.reserve0;
      let expected1 = full.reserve1;
      for (const [kind, first, second] of history) {
        const in0 = first < 0n ? -first : first;
        const in1 = second < 0n ? -second : second;
        const moves = {
          swap: [first, second],
          mint: [in0, in1],
          burn: [0n, 0n],
          collect: [-in0, -in1],
          flash: [in0, in1],
        };
        expected0 += moves[kind]?.[0] ?? 0n;
        expected1 += moves[kind]?.[1] ?? 0n;
        if (kind === 'swap') state = run(state, swap(first, second, 1n << 96n, 1n, 0));
        else if (kind === 'collect') state = run(state, collect(in0, in1));
        else if (kind === 'flash') state = run(state, { kind, ...parties, amount0: in0, amount1: in1 });
        else state = run(state, position(kind, [-10, 10], 5n, in0, in1));
      }
      expect([state.reserve0, state.reserve1]).toEqual([expected0, expected1]);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

/** Random values of every magnitude up to the bound, including both bounds. */
function upTo(minimum: bigint, maximum: bigint): fc.Arbitrary<bigint> {
  const bits = fc.integer({ min: 1, max: maximum.toString(2).length });
  const anySize = fc.tuple(bits, fc.bigInt({ min: minimum, max: maximum })).map(([size, value]) => {
    const cut = value & ((1n << BigInt(size)) - 1n);
    return cut < minimum ? minimum : cut;
  });
  return fc.oneof(anySize, fc.constantFrom(minimum, minimum + 1n, maximum - 1n, maximum));
}

function expectPrice(price: number | null, exact: Rational): void {
  if (price === null) throw new Error('the price is null');
  expect(Number.isFinite(price) && price > 0 && agree(exactly(price), exact, 15)).toBe(true);
}

describe('the marginal price follows from the state', () => {
  it('the marginal price of V2 is reserve1 / reserve0 to 15 digits at any size', () => {
    const reserve = upTo(1n, UINT112_MAX);
    const property = fc.property(reserve, reserve, (reserve0, reserve1) => {
      const price = uniswapV2.spotPrice({ ...EMPTY_STATE, reserve0, reserve1 });
      expectPrice(price, { numerator: reserve1, denominator: reserve0 });
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  it('the marginal price of V3 is (sqrtPriceX96 / 2^96)² to 15 digits over the whole price range', () => {
    const property = fc.property(upTo(SQRT_PRICE_MIN, SQRT_PRICE_MAX), (sqrtPriceX96) => {
      const exact = { numerator: sqrtPriceX96 ** 2n, denominator: 1n << 192n };
      for (const protocol of [uniswapV3, pancakeV3]) {
        expectPrice(protocol.spotPrice({ ...EMPTY_STATE, sqrtPriceX96 }), exact);
      }
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  it('the marginal price is null for a V2 pool with a zero reserve and a V3 pool without a first price', () => {
    expect(uniswapV2.spotPrice(EMPTY_STATE)).toBeNull();
    expect(uniswapV2.spotPrice({ ...EMPTY_STATE, reserve0: 5n })).toBeNull();
    expect(uniswapV2.spotPrice({ ...EMPTY_STATE, reserve1: 5n })).toBeNull();
    expect(uniswapV3.spotPrice({ ...EMPTY_STATE, reserve0: 5n, reserve1: 5n })).toBeNull();
  });
});
