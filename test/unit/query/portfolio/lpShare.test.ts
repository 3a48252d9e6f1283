import fc from 'fast-check';

import { createHoldingCaps } from '../../../../src/query/portfolio/holdingCaps';
import {
  integerRoot,
  pendingProtocolLp,
  shareOfPool,
  sharePercent,
} from '../../../../src/query/portfolio/lpShare';
import type { PairEntry } from '../../../../src/query/pairs/pairItem';
import { toLpPosition } from '../../../../src/query/portfolio/portfolioPositions';
import { makeTokenPrices } from '../../../../src/query/prices/priceByHops';

const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 112n) - 1n }),
  fc.bigInt({ min: 0n, max: 1_000n }),
  fc.constantFrom(0n, 1n, 2n, 3n, 4n, (1n << 112n) - 1n),
);

test('integerRoot returns the integer square root, rounded down', () => {
  const value = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), amount);
  fc.assert(
    fc.property(value, (of) => {
      const root = integerRoot(of);
      expect(root * root <= of && (root + 1n) * (root + 1n) > of).toBe(true);
    }),
  );
});

/** The function _mintFee of UniswapV2Pair.sol, line by line. */
function mintFee(totalSupply: bigint, now: [bigint, bigint], last: [bigint, bigint]): bigint {
  const rootK = integerRoot(now[0] * now[1]);
  const rootKLast = integerRoot(last[0] * last[1]);
  if (rootK <= rootKLast) return 0n;
  const numerator = totalSupply * (rootK - rootKLast);
  const denominator = rootK * 5n + rootKLast;
  return numerator / denominator;
}

test('the pending protocol LP tokens for a sixth of the fees equal _mintFee of UniswapV2Pair', () => {
  const reserves = fc.tuple(amount, amount);
  fc.assert(
    fc.property(amount, reserves, reserves, (supply, now, last) => {
      const wanted = mintFee(supply, now, last);
      const got = pendingProtocolLp(
        supply,
        { reserve0: now[0], reserve1: now[1] },
        { reserve0: last[0], reserve1: last[1] },
        1 / 6,
      );
      // The code rounds the fee share of 1/6 to twelve decimals, so a small difference is allowed.
      const distance = got > wanted ? got - wanted : wanted - got;
      expect(distance <= 1n + wanted / 10n ** 11n).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('a fee share outside of 0 to 1, or reserves that shrank, give no pending protocol LP tokens', () => {
  const [now, last] = [
    { reserve0: 500n, reserve1: 500n },
    { reserve0: 100n, reserve1: 100n },
  ];
  for (const share of [0, -1, NaN, 1, 2]) expect(pendingProtocolLp(1_000n, now, last, share)).toBe(0n);
  expect(pendingProtocolLp(1_000n, last, now, 0.3)).toBe(0n);
});

test('the share of a holder is null if the supply is not positive or below the balance', () => {
  expect(shareOfPool(100n, 1n, 3n)).toBe(33n);
  expect(sharePercent(1n, 4n)).toBe(25);
  for (const supply of [0n, -5n, 1n]) {
    expect(shareOfPool(100n, 2n, supply)).toBeNull();
    expect(sharePercent(2n, supply)).toBeNull();
  }
});

test('the supply of a pool excludes LP tokens that the pool itself holds', () => {
  const [pool, a, b] = ['0xpool', '0xa', '0xb'];
  const tokens = [a, pool, b].map((address) => ({ address, symbol: address, name: null, decimals: 0 }));
  const none = new Map();
  const prices = makeTokenPrices(none, { m5: none, h1: none, h6: none, h24: none }, null);
  const entry = {
    item: { address: pool, dex_name: 'x', pool_type: 5, tokens, apr_24h: null },
    pool: { address: pool, protocol: 'balancer_v2', pool_type: 5, all_tokens: [a, pool, b], all_weights: [] },
    facts: { balances: [600n, 9000n, 30n], state: null, protocolShare: 0 },
  } as unknown as PairEntry;
  const lp = { balance: 50n, supply: 9_100n, lastReserves: null };
  const { position, trusted } = toLpPosition(entry, lp, prices, createHoldingCaps());
  expect(position).toMatchObject({
    share_pct: 50,
    tokens: [
      { address: a, amount: '300' },
      { address: b, amount: '15' },
    ],
    value_usd: null,
  });
  expect(trusted).toBe(false);
});
