/** Marks of one maker's trades, times in a zone, and further columns of the CSV. */
import { toCsv } from '../../../../src/web/chart/barSeries';
import { moveCostText } from '../../../../src/web/chart/moveCostText';
import { formatMinute, formatTick } from '../../../../src/web/chart/timeZones';
import { marksOf } from '../../../../src/web/chart/tradeMarks';

test('trades are added up by bar and side, and trades outside of the bars have no mark', () => {
  const bars = [{ time: 3_600 }, { time: 10_800 }];
  const trades = [
    { timestamp: 3_600, side: 'buy' as const },
    { timestamp: 7_199, side: 'buy' as const },
    { timestamp: 7_199, side: 'sell' as const },
    // There is no bar from 7,200 to 10,799, and none from 14,400 on.
    { timestamp: 7_200, side: 'buy' as const },
    { timestamp: 14_400, side: 'buy' as const },
    { timestamp: 10_800, side: 'sell' as const },
  ];
  expect(marksOf(bars, 3_600, trades)).toEqual([
    { time: 3_600, side: 'buy', count: 2 },
    { time: 3_600, side: 'sell', count: 1 },
    { time: 10_800, side: 'sell', count: 1 },
  ]);
});

test('ticks name the year, the month, the day or the time', () => {
  const at = Date.UTC(2026, 10, 7, 23, 30) / 1000;
  expect(formatMinute(at, 'utc')).toBe('2026-11-07 23:30');
  expect((['year', 'month', 'day', 'time'] as const).map((unit) => formatTick(at, unit, 'utc'))).toEqual([
    ...['2026', 'Nov', '7', '23:30'],
  ]);
});

test('the CSV has a column per indicator, empty where it has no value', () => {
  const bar = { time: 1, open: 1, high: 1, low: 1, close: 1, volume: 2, volume_usd: null };
  const rest = { trades: 1, buys: 1, sells: 0, closed: true };
  const csv = toCsv([{ ...bar, ...rest }], [{ column: 'ma_20', values: [null] }]);
  expect(csv).toBe(
    'time,open,high,low,close,volume,volume_usd,trades,buys,sells,ma_20\n1,1,1,1,1,2,,1,1,0,\n',
  );
});

test('the cost of moving a price is a sentence, also where it is unknown', () => {
  const costs = { up: { p2: 0, p10: 14_200, p50: 9e6 }, down: { p2: 1, p10: 15_000, p50: 8e6 } };
  const method = 'lp_weighted_multi_hop';
  expect(moveCostText({ manipulation_cost_usd: costs, method })).toBe(
    'Moving this price by 10 % costs about $14,200 (up).',
  );
  const equal = { up: { ...costs.up, p10: 1_234_567 }, down: { ...costs.down, p10: 1_234_567 } };
  expect(moveCostText({ manipulation_cost_usd: equal, method })).toBe(
    'Moving this price by 10 % costs about $1,234,567.',
  );
  expect(moveCostText({ manipulation_cost_usd: null, method: 'stable_anchor' })).toContain('configured');
  expect(moveCostText({ manipulation_cost_usd: null, method: 'none' })).toContain('unknown');
});
