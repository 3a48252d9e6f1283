import fc from 'fast-check';

import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import {
  poolOfId,
  type BalancerEvent,
  type VaultSwap,
} from '../../../../src/protocols/balancerV2/decodeBalancerEvent';
import { DOUBTS } from '../../../../src/domain/pools/doubts';
import {
  applyBalancerEvent,
  areWeights,
  ONE,
  withWeights,
} from '../../../../src/protocols/balancerV2/weightedPool';
import { emptyManyTokenState, toLegSwap, toPairState, toLeg } from '../../../../src/protocols/manyTokenPool';
import type { ManyTokenState } from '../../../../src/protocols/manyTokenProtocol';
import { toFeePips } from '../../../../src/domain/swapFee';

const UINT256_MAX = (1n << 256n) - 1n;
const POOL_ID: Hex = `0x${'5a'.repeat(20)}${'0001'}${'07'.padStart(20, '0')}`;
const OTHER_ID: Hex = `0x${'5a'.repeat(20)}${'0001'}${'08'.padStart(20, '0')}`;
const OF = { poolId: POOL_ID, pool: poolOfId(POOL_ID) };

const tokenOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const tokensOf = (count: number): Hex[] => Array.from({ length: count }, (_none, index) => tokenOf(index));
const PARTY = tokenOf(0xffff);

function registered(tokens: readonly Hex[]): BalancerEvent {
  return { kind: 'tokens_registered', ...OF, tokens, assetManagers: tokens.map(() => ZERO_ADDRESS) };
}

function swapOf(tokenIn: Hex, tokenOut: Hex, amountIn: bigint, amountOut: bigint): VaultSwap {
  return { kind: 'swap', ...OF, tokenIn, tokenOut, amountIn, amountOut };
}

function changed(
  tokens: readonly Hex[],
  deltas: readonly bigint[],
  protocolFees: readonly bigint[],
): BalancerEvent {
  return { kind: 'balance_changed', ...OF, provider: PARTY, tokens, deltas, protocolFees };
}

function managed(token: Hex, cashDelta: bigint, managedDelta: bigint): BalancerEvent {
  return { kind: 'balance_managed', ...OF, assetManager: PARTY, token, cashDelta, managedDelta };
}

function run(state: ManyTokenState, ...events: readonly BalancerEvent[]): ManyTokenState {
  return events.reduce(applyBalancerEvent, state);
}

const EMPTY = emptyManyTokenState(POOL_ID);
const FULL = run(EMPTY, registered(tokensOf(3)), changed(tokensOf(3), [100n, 200n, 300n], [0n, 0n, 0n]));

describe('the state of a Balancer pool follows its events', () => {
  it('a Balancer pool begins with the registered tokens in their order, without balances and weights', () => {
    expect(run(EMPTY, registered([tokenOf(2), tokenOf(0)]))).toEqual({
      poolId: POOL_ID,
      tokens: [tokenOf(2), tokenOf(0)],
      balances: [0n, 0n],
      weights: null,
      swapFee: 0n,
      doubts: 0,
      params: [],
    });
  });

  it('a Balancer pool appends tokens registered later, keeps balances, and drops weights that no longer fit', () => {
    const weighted = withWeights(FULL, [ONE / 2n, ONE / 4n, ONE / 4n]);
    const later = run(weighted, registered([tokenOf(9)]));
    expect(later.tokens).toEqual([...tokensOf(3), tokenOf(9)]);
    expect(later.balances).toEqual([100n, 200n, 300n, 0n]);
    expect(later.weights).toBeNull();
  });

  it('a Balancer pool never has more than 50 tokens, the limit of leg numbers', () => {
    const two = run(EMPTY, registered(tokensOf(50)), registered([tokenOf(60), tokenOf(61)]));
    expect(two.tokens).toEqual(tokensOf(50));
    expect(two.balances).toHaveLength(50);
  });

  it('a swap changes the balances of a Balancer pool in both directions', () => {
    expect(run(FULL, swapOf(tokenOf(0), tokenOf(2), 10n, 7n)).balances).toEqual([110n, 200n, 293n]);
    expect(run(FULL, swapOf(tokenOf(2), tokenOf(0), 10n, 7n)).balances).toEqual([93n, 200n, 310n]);
  });

  it('joins and exits change a balance by the delta minus the protocol fee, even if a join then lowers a balance', () => {
    expect(run(FULL, changed(tokensOf(3), [5n, 0n, 1n], [2n, 3n, 1n])).balances).toEqual([103n, 197n, 300n]);
    expect(run(FULL, changed(tokensOf(3), [-5n, 0n, -1n], [2n, 3n, 0n])).balances).toEqual([93n, 197n, 299n]);
  });

  it('the balances of a Balancer pool change when an asset manager takes or returns tokens, but not by the balances that it reports', () => {
    expect(run(FULL, managed(tokenOf(1), -40n, 40n)).balances).toEqual([100n, 160n, 300n]);
    expect(run(FULL, managed(tokenOf(1), 40n, -40n)).balances).toEqual([100n, 240n, 300n]);
    expect(run(FULL, managed(tokenOf(1), 0n, 6n)).balances).toBe(FULL.balances);
    expect(run(FULL, managed(tokenOf(1), 0n, -6n)).balances).toBe(FULL.balances);
  });

  it('a Balancer pool is in doubt for ever after a managed balance or a registration with an asset manager', () => {
    const event: BalancerEvent = {
      kind: 'tokens_registered',
      ...OF,
      tokens: tokensOf(3),
      assetManagers: [ZERO_ADDRESS, PARTY, ZERO_ADDRESS],
    };
    for (const one of [event, managed(tokenOf(1), 0n, 0n)])
      expect(run(FULL, one, registered(tokensOf(3)), swapOf(tokenOf(0), tokenOf(1), 1n, 1n)).doubts).toBe(
        DOUBTS.managed,
      );
  });

  it('a Balancer pool is in doubt for ever after a swap that its weights do not explain', () => {
    const rich = run(FULL, changed(tokensOf(3), [10n ** 20n, 10n ** 20n, 10n ** 20n], [0n, 0n, 0n]));
    const weighted = withWeights(rich, [ONE / 2n, ONE / 4n, ONE / 4n]);
    const fair = swapOf(tokenOf(1), tokenOf(2), 10n ** 15n, 10n ** 15n - 10n ** 10n);
    const unfair = swapOf(tokenOf(1), tokenOf(2), 10n ** 15n, 2n * 10n ** 15n);
    expect(run(weighted, fair).doubts).toBe(0);
    expect(run(weighted, unfair, fair).doubts).toBe(DOUBTS.weights);
    // If the weights are unknown, a swap cannot contradict them and raises no doubt.
    expect(run(rich, unfair).doubts).toBe(0);
  });

  it('a Balancer pool is in doubt with a weight below 1 % or a fee above 10 %', () => {
    const least = ONE / 100n;
    expect(withWeights(FULL, [ONE - 2n * least, least, least]).doubts).toBe(0);
    expect(withWeights(FULL, [ONE - 2n * least, least + 1n, least - 1n]).doubts).toBe(DOUBTS.terms);
    const fee = (swapFee: bigint): BalancerEvent => ({ kind: 'swap_fee_changed', pool: OF.pool, swapFee });
    expect(run(FULL, fee(ONE / 10n)).doubts).toBe(0);
    expect(run(FULL, fee(ONE / 10n + 10n ** 13n), fee(ONE / 100n)).doubts).toBe(DOUBTS.terms);
  });

  it('a Balancer pool takes its fee only from an event of its own contract', () => {
    const event: BalancerEvent = { kind: 'swap_fee_changed', pool: OF.pool, swapFee: 3n * 10n ** 15n };
    expect(run(FULL, event)).toEqual({ ...FULL, swapFee: 3n * 10n ** 15n });
    expect(run(FULL, { ...event, pool: PARTY })).toBe(FULL);
  });

  it('a Balancer pool is the same object after events that change nothing or belong to another pool', () => {
    const events: BalancerEvent[] = [
      { kind: 'pool_registered', ...OF, specialization: 1 },
      { kind: 'swap_fee_changed', pool: OF.pool, swapFee: 0n },
      changed(tokensOf(3), [0n, 2n, 0n], [0n, 2n, 0n]),
      swapOf(tokenOf(0), tokenOf(1), 0n, 0n),
      swapOf(tokenOf(7), tokenOf(8), 5n, 5n),
      { ...swapOf(tokenOf(0), tokenOf(1), 5n, 5n), poolId: OTHER_ID },
      { ...managed(tokenOf(0), 0n, 5n), poolId: OTHER_ID } as BalancerEvent,
      { ...registered([tokenOf(7)]), poolId: OTHER_ID } as BalancerEvent,
    ];
    for (const event of events) expect(run(FULL, event)).toBe(FULL);
  });

  it('a Balancer pool never has a balance below zero or above the range of its type', () => {
    expect(run(FULL, swapOf(tokenOf(0), tokenOf(1), 0n, 201n)).balances).toEqual([100n, 0n, 300n]);
    const above = run(
      FULL,
      managed(tokenOf(0), UINT256_MAX >> 1n, 0n),
      managed(tokenOf(0), UINT256_MAX >> 1n, 0n),
    );
    expect(above.balances).toEqual([UINT256_MAX, 200n, 300n]);
    expect(run(FULL, changed([tokenOf(1)], [0n], [UINT256_MAX])).balances).toEqual([100n, 0n, 300n]);
  });
});

type Operation = 'join' | 'exit' | 'swap' | 'withdraw' | 'deposit' | 'update';

/** One token's balances inside the vault (BalanceAllocation.sol). */
interface Book {
  cash: bigint;
  managed: bigint;
}

/**
 * Simulates the vault by AssetManagers.sol, PoolBalances.sol and Swaps.sol. Returns the emitted event, or
 * null if the vault reverts.
 */
function perform(
  books: Map<Hex, Book>,
  operation: Operation,
  one: Hex,
  other: Hex,
  amounts: readonly bigint[],
  fees: readonly bigint[],
): BalancerEvent | null {
  const book = books.get(one)!;
  const amount = amounts[0]!;
  switch (operation) {
    case 'join':
    case 'exit': {
      const tokens = [...books.keys()];
      const sign = operation === 'join' ? 1n : -1n;
      const after = tokens.map((token, at) => books.get(token)!.cash + sign * amounts[at]! - fees[at]!);
      if (after.some((cash) => cash < 0n)) return null;
      tokens.forEach((token, at) => (books.get(token)!.cash = after[at]!));
      const deltas = tokens.map((_token, at) => sign * amounts[at]!);
      return changed(tokens, deltas, fees.slice(0, tokens.length));
    }
    case 'swap': {
      const out = books.get(other)!;
      const amountOut = amounts[1]!;
      if (one === other || out.cash < amountOut) return null;
      book.cash += amount;
      out.cash -= amountOut;
      return swapOf(one, other, amount, amountOut);
    }
    case 'withdraw':
      if (book.cash < amount) return null;
      book.cash -= amount;
      book.managed += amount;
      return managed(one, -amount, amount);
    case 'deposit':
      if (book.managed < amount) return null;
      book.cash += amount;
      book.managed -= amount;
      return managed(one, amount, -amount);
    case 'update': {
      const delta = amount - book.managed;
      book.managed = amount;
      return managed(one, 0n, delta);
    }
  }
}

test('after any history the balances equal the cash of the simulated vault', () => {
  const tokenCount = 5;
  const amount = fc.bigInt({ min: 0n, max: 1n << 80n });
  const many = fc.array(amount, { minLength: tokenCount, maxLength: tokenCount });
  const step = fc.tuple(
    fc.constantFrom<Operation>('join', 'exit', 'swap', 'withdraw', 'deposit', 'update'),
    fc.nat({ max: tokenCount - 1 }),
    fc.nat({ max: tokenCount - 1 }),
    many,
    fc.oneof(fc.constant(Array<bigint>(tokenCount).fill(0n)), many),
  );
  let events = 0;
  const property = fc.property(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), (history) => {
    const books = new Map<Hex, Book>(tokensOf(tokenCount).map((token) => [token, { cash: 0n, managed: 0n }]));
    let state = run(EMPTY, registered(tokensOf(tokenCount)));
    const steps = [
      ['join', 0, 0, Array<bigint>(tokenCount).fill(1n << 84n), Array<bigint>(tokenCount).fill(0n)] as const,
      ...history,
    ];
    for (const [operation, one, other, amounts, fees] of steps) {
      const event = perform(books, operation, tokenOf(one), tokenOf(other), amounts, fees);
      if (event === null) continue;
      events += 1;
      state = run(state, event);
      expect(state.balances).toEqual([...books.values()].map((book) => book.cash));
    }
  });
  fc.assert(property, { numRuns: 300 });
  expect(events).toBeGreaterThan(300 * 10);
});

test('the balances of a Balancer pool equal a plain sum that is limited to the range of uint256, after any events', () => {
  const word = fc.oneof(fc.bigInt({ min: 0n, max: UINT256_MAX }), fc.bigInt({ min: 0n, max: 1_000n }));
  const signed = word.map((value) => BigInt.asIntN(256, value));
  const token = fc.nat({ max: 4 }).map(tokenOf);
  const event = fc.oneof(
    fc
      .tuple(token, token, word, word)
      .map(([tokenIn, tokenOut, one, two]) => swapOf(tokenIn, tokenOut, one, two)),
    fc.tuple(token, signed, word).map(([each, delta, fee]) => changed([each], [delta], [fee])),
    fc.tuple(token, signed, signed).map(([each, cash, other]) => managed(each, cash, other)),
  );
  const cut = (value: bigint): bigint => (value < 0n ? 0n : value > UINT256_MAX ? UINT256_MAX : value);
  const property = fc.property(fc.array(event, { maxLength: 60, size: 'max' }), (history) => {
    const plain = new Map<Hex, bigint>(tokensOf(3).map((each) => [each, 0n]));
    const add = (each: Hex, delta: bigint): void => {
      const before = plain.get(each);
      if (before !== undefined) plain.set(each, cut(before + delta));
    };
    for (const each of history) {
      if (each.kind === 'swap') {
        add(each.tokenIn, each.amountIn);
        add(each.tokenOut, -each.amountOut);
      } else if (each.kind === 'balance_changed')
        add(each.tokens[0]!, each.deltas[0]! - each.protocolFees[0]!);
      else if (each.kind === 'balance_managed') add(each.token, each.cashDelta);
    }
    const state = run(run(EMPTY, registered(tokensOf(3))), ...history);
    expect(state.balances).toEqual([...plain.values()]);
  });
  fc.assert(property, { numRuns: 500 });
});

describe('the weights of a Balancer pool are checked', () => {
  it('the weights of a Balancer pool are accepted if each token has a positive weight and the weights sum to 1', () => {
    const weights = [ONE / 2n, ONE / 4n, ONE / 4n];
    expect(withWeights(FULL, weights).weights).toEqual(weights);
    expect(withWeights(FULL, [ONE / 3n, ONE / 3n, ONE / 3n]).weights).not.toBeNull();
    const wrong = [
      null,
      [],
      [ONE],
      [ONE / 2n, ONE / 2n],
      [ONE / 2n, ONE / 2n, 0n],
      [ONE, ONE / 2n, -ONE / 2n],
      [ONE / 2n, ONE / 2n, ONE / 2n],
      [ONE / 4n, ONE / 4n, ONE / 4n],
      [ONE / 4n, ONE / 4n, ONE / 4n, ONE / 4n],
    ];
    for (const each of wrong) expect(withWeights(withWeights(FULL, weights), each).weights).toBeNull();
    expect(areWeights([ONE], 1)).toBe(false);
  });
});

describe('a weighted pool has one leg for each pair of its tokens', () => {
  it('the legs of a Balancer pool have positive amounts for tokens that enter the pool, in both swap directions', () => {
    const tokens = { first: 0, second: 2, leg: 2, token0: tokenOf(0), token1: tokenOf(2) };
    expect(toLegSwap(FULL, swapOf(tokenOf(0), tokenOf(2), 10n, 7n))).toEqual({
      ...tokens,
      amount0: 10n,
      amount1: -7n,
    });
    expect(toLegSwap(FULL, swapOf(tokenOf(2), tokenOf(0), 10n, 7n))).toEqual({
      ...tokens,
      amount0: -7n,
      amount1: 10n,
    });
    expect(toLegSwap(FULL, swapOf(tokenOf(1), tokenOf(2), 1n, 1n))?.leg).toBe(256 + 2);
    expect(toLegSwap(FULL, swapOf(tokenOf(0), tokenOf(0), 1n, 1n))).toBeNull();
    expect(toLegSwap(FULL, swapOf(tokenOf(0), tokenOf(5), 1n, 1n))).toBeNull();
    expect(toLegSwap(FULL, swapOf(tokenOf(5), tokenOf(0), 1n, 1n))).toBeNull();
  });

  it('the legs of a Balancer pool have the two token balances as reserves', () => {
    expect(toLeg(1, 0)).toEqual({ leg: 1, first: 0, second: 1 });
    expect(toPairState(FULL, toLeg(2, 0))).toEqual({
      reserve0: 100n,
      reserve1: 300n,
      sqrtPriceX96: 0n,
      liquidity: 0n,
      tick: 0,
    });
  });
});

test('a swap fee in pips is rounded half up from 18 decimals and is at most 100 %', () => {
  expect(toFeePips(3n * 10n ** 15n)).toBe(3_000);
  expect(toFeePips(10n ** 12n)).toBe(1);
  expect([0n, 499_999_999_999n, 500_000_000_000n].map(toFeePips)).toEqual([0, 0, 1]);
  expect([ONE, ONE + 1n, UINT256_MAX].map(toFeePips)).toEqual([1_000_000, 1_000_000, 1_000_000]);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: ONE }), (swapFee) => {
      const distance = BigInt(toFeePips(swapFee)) * 10n ** 12n - swapFee;
      expect(distance <= 5n * 10n ** 11n && distance > -5n * 10n ** 11n).toBe(true);
    }),
  );
});
