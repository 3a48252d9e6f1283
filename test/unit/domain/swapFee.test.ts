import { swapFeeUsd } from '../../../src/domain/swapFee';

const DOLLAR = 10n ** 12n;

test.each([
  ['2,900 pips of 100 USD', 100n * DOLLAR, 2_900, (29n * DOLLAR) / 100n],
  ['less than the smallest unit is rounded down', 1n, 2_900, 0n],
  ['a fraction of the smallest unit is cut off', 1_001n, 2_900, 2n],
  ['zero pips', 100n * DOLLAR, 0, 0n],
  ['a swap without tracked value', 0n, 2_900, 0n],
  ['a fee of 10 %', 5n * DOLLAR, 100_000, DOLLAR / 2n],
  ['a fee above 10 % does not count', 5n * DOLLAR, 100_001, null],
  ['a fee of 100 % does not count', 5n * DOLLAR, 1_000_000, null],
  ['the largest USD value', 10n ** 32n - 1n, 3_000, 3n * 10n ** 29n - 1n],
])('the swap fee in USD is computed and rounded down: %s', (_, amount_usd, fee_pips, expected) => {
  expect(swapFeeUsd({ amount_usd, fee_pips })).toBe(expected);
});
