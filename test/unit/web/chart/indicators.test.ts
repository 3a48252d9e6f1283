/** Compares the indicators of the chart with published values, values by hand, and the plainest recomputation. */
import {
  bollingerBands,
  exponentialAverage,
  isPeriodCut,
  relativeStrength,
  simpleAverage,
  volumeAverage,
  type Values,
} from '../../../../src/web/chart/study/indicators';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

const near = (found: Values, wanted: readonly (number | null)[], digits = 9): void => {
  expect(found.map((value) => (value === null ? null : Number(value.toPrecision(digits))))).toEqual(
    wanted.map((value) => (value === null ? null : Number(value.toPrecision(digits)))),
  );
};

function randomPrices(count: number): number[] {
  const random = new Random(SEED);
  let price = 1e-5;
  return Array.from({ length: count }, () => (price *= random.int(900, 1_110) / 1_000));
}

test('the MA is the mean of the last closes, and has no value before there are enough of them', () => {
  near(simpleAverage([1, 2, 3, 4, 8], 3), [null, null, 2, 3, 5]);
  near(simpleAverage([1, 2], 3), [null, null]);
  near(simpleAverage([], 3), []);
});

test('the EMA begins with a mean and then moves by 2 / (length + 1) of the distance', () => {
  near(exponentialAverage([1, 2, 3, 4, 8], 3), [null, null, 2, 3, 5.5]);
  const prices = randomPrices(400);
  const weight = 2 / 21;
  const wanted = prices.map((_, index) => {
    if (index < 19) return null;
    // The sum of all weighted prices, written out.
    const later = prices.slice(20, index + 1).reverse();
    const seed = prices.slice(0, 20).reduce((sum, price) => sum + price, 0) / 20;
    const weighted = later.reduce((sum, price, age) => sum + price * weight * (1 - weight) ** age, 0);
    return weighted + seed * (1 - weight) ** later.length;
  });
  near(exponentialAverage(prices, 20), wanted);
});

test('the Bollinger bands are two population deviations from the mean', () => {
  const { upper, middle, lower } = bollingerBands([2, 4, 4, 4, 5, 5, 7, 9], 8, 2);
  // The deviation of these eight numbers is exactly 2.
  expect([upper[7], middle[7], lower[7], upper[6]]).toEqual([9, 5, 1, null]);
  const flat = bollingerBands([3, 3, 3], 2, 2);
  expect(flat.upper).toEqual([null, 3, 3]);
  expect(flat.lower).toEqual([null, 3, 3]);
});

test('the RSI has the published values of a known series', () => {
  // The worked example of ChartSchool (StockCharts) for an RSI of length 14.
  const closes = [
    ...[44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826],
    ...[45.8931, 46.0328, 45.614, 46.282, 46.282, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439],
  ];
  const found = relativeStrength(closes, 14);
  expect(found.slice(0, 14).every((value) => value === null)).toBe(true);
  expect(found.slice(14).map((value) => value?.toFixed(2))).toEqual([
    ...['70.53', '66.32', '66.55', '69.41', '66.36', '57.97'],
  ]);
});

test('the RSI is 100 without losses, 0 without gains, and 50 without moves', () => {
  expect(relativeStrength([1, 2, 3, 4], 3)).toEqual([null, null, null, 100]);
  expect(relativeStrength([4, 3, 2, 1], 3)).toEqual([null, null, null, 0]);
  expect(relativeStrength([2, 2, 2, 2], 3)).toEqual([null, null, null, 50]);
  expect(relativeStrength([], 3)).toEqual([]);
});

const bar = (
  time: number,
  price: number,
  volume: number,
): { time: number; high: number; low: number; close: number; volume: number } => ({
  time,
  high: price + 1,
  low: price - 1,
  close: price,
  volume,
});
const MIDNIGHT = 1_795_737_600;

test('the VWAP begins again at midnight UTC and leaves out a day that may have begun earlier', () => {
  const bars = [
    bar(MIDNIGHT - 3_600, 7, 5),
    bar(MIDNIGHT, 10, 1),
    bar(MIDNIGHT + 3_600, 20, 3),
    // A flat bar without trades does not move it.
    bar(MIDNIGHT + 7_200, 20, 0),
  ];
  near(volumeAverage(bars, 3_600, false), [null, 10, 17.5, 17.5]);
  near(volumeAverage(bars, 3_600, true), [7, 10, 17.5, 17.5]);
  expect(isPeriodCut(bars, 3_600)).toBe(false);
  expect(isPeriodCut(bars.slice(1), 3_600)).toBe(true);
});

test('the VWAP of daily bars is that of the month, and a day without volume has none', () => {
  const day = 86_400;
  const first = Date.UTC(2026, 10, 1) / 1000;
  const bars = [bar(first - day, 3, 2), bar(first, 5, 0), bar(first + day, 6, 2), bar(first + 2 * day, 9, 1)];
  near(volumeAverage(bars, day, true), [3, null, 6, 7]);
});

test('values of the newest bars do not depend on how often bars arrived', () => {
  const prices = randomPrices(300);
  for (const indicator of [
    (all: readonly number[]): Values => simpleAverage(all, 20),
    (all: readonly number[]): Values => bollingerBands(all, 20, 2).lower,
  ]) {
    const whole = indicator(prices);
    // Older bars that load later change no value that was there before.
    const later = indicator(prices.slice(100));
    expect(later.slice(19)).toEqual(whole.slice(119));
  }
});
