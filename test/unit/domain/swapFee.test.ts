import { swapFeeUsd } from '../../../src/domain/swapFee';

const DOLLAR = 10n ** 12n;

test.each([
  ['0.29 % of 100 USD', 100n * DOLLAR, 2_900, (29n * DOLLAR) / 100n],
  ['less than the last digit: rounded down', 1n, 2_900, 0n],
  ['the last digit cut off', 1_001n, 2_900, 2n],
  ['no fee', 100n * DOLLAR, 0, 0n],
  ['not tracked', 0n, 2_900, 0n],
  ['all of it', 5n * DOLLAR, 1_000_000, 5n * DOLLAR],
  ['a pool that says more than all', 5n * DOLLAR, 4_294_967_295, 5n * DOLLAR],
  ['the largest value there is', 10n ** 32n - 1n, 3_000, 3n * 10n ** 29n - 1n],
])('%s', (_, amount_usd, fee_pips, expected) => {
  expect(swapFeeUsd({ amount_usd, fee_pips })).toBe(expected);
});
