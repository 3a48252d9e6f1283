import { planStretch, type Stretch } from '../../../src/query/dexes/dexDays';
import type { GasBlock } from '../../../src/query/overview/gasPrices';
import { medianGasGwei } from '../../../src/query/overview/overview';
import { changePercent, compareKeys, distinctMakers } from '../../../src/query/pairs/rankings';

describe('the plan for a time span covers the whole span', () => {
  /** Every second that a plan covers, to detect missing and duplicate seconds. */
  function secondsOf(stretch: Stretch, finalTime: number | null): number[] {
    const { hours, swaps } = planStretch(stretch, finalTime);
    const seconds: number[] = [];
    const add = (from: number, to: number): void => {
      for (let at = from; at < to; at += 1) seconds.push(at);
    };
    for (const { since, until } of swaps) add(since + 1, until + 1);
    if (hours !== null) add(hours.from, hours.to);
    return seconds.sort((a, b) => a - b);
  }

  test('the plan for a time span covers every second once, wherever its ends and the last final block are', () => {
    const base = 3_600 * 10;
    const marks = [-3_601, -1, 0, 1, 3_599, 3_600, 3_601, 7_199, 7_200, 9_000].map((mark) => base + mark);
    for (const since of marks)
      for (const until of marks.filter((mark) => mark > since))
        for (const finalTime of [null, 0, ...marks]) {
          const wanted = Array.from({ length: until - since }, (_, index) => since + 1 + index);
          expect(secondsOf({ since, until }, finalTime)).toEqual(wanted);
        }
  });

  test('the plan for a time span reads from the rollup only hours that end before the last final block', () => {
    const plan = planStretch({ since: 3_599, until: 20_000 }, 11_000);
    expect(plan).toEqual({ hours: { from: 3_600, to: 10_800 }, swaps: [{ since: 10_799, until: 20_000 }] });
    expect(planStretch({ since: 3_600, until: 20_000 }, 7_199).hours).toBeNull();
  });
});

describe('the gas price is a median', () => {
  const block = (transactions: number, baseFee: bigint | null, paidPrices: bigint[] = []): GasBlock => ({
    transactions,
    baseFee,
    paidPrices,
  });

  test('the gas price is the median over all transactions, and for an even count the mean of the middle two', () => {
    expect(medianGasGwei([block(1, 1n, [3000000000n]), block(2, 1n, [1000000000n, 900000000000n])])).toBe(3);
    expect(medianGasGwei([block(2, null, [1n, 2n])])).toBe(1.5e-9);
  });

  test('the gas price can exceed 64 bits', () => {
    expect(medianGasGwei([block(1, null, [123456789012345678901234567890n])])).toBe(123456789012345680000);
  });

  test('the gas price uses the base fee for each transaction of a block without gas prices', () => {
    expect(medianGasGwei([block(1, 9n, [1000000000n]), block(2, 5000000000n)])).toBe(5);
  });

  test('the gas price is the base fee if there are no transactions, and null if nothing is known', () => {
    expect(medianGasGwei([block(0, 7000000000n), block(0, 7000000000n)])).toBe(7);
    expect(medianGasGwei([block(3, null)])).toBeNull();
    expect(medianGasGwei([])).toBeNull();
  });
});

test('sort keys put nulls last in both orders', () => {
  expect([null, 2, 1, null].sort((a, b) => compareKeys(a, b, 'asc'))).toEqual([1, 2, null, null]);
  expect([null, 1, 2].sort((a, b) => compareKeys(a, b, 'desc'))).toEqual([2, 1, null]);
});

test('percentage changes and distinct makers are null if their inputs are unknown, never 0', () => {
  expect([changePercent(1, null), changePercent(null, 1), changePercent(1, 0), changePercent(3, 2)]).toEqual([
    null,
    null,
    null,
    50,
  ]);
  expect([distinctMakers(0, 3), distinctMakers(0, 0), distinctMakers(2, 3)]).toEqual([null, 0, 2]);
});
