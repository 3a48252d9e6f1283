/** Compares the bars of the page's chart with a plain series that changes: trades, pauses, reorgs, paging. */
import {
  fromPage,
  scaleOf,
  toCsv,
  withNewest,
  withOlder,
  type BarPage,
  type BarSeries,
} from '../../../../src/web/chart/barSeries';
import type { Bar } from '../../../../src/wire/ticks';
import { Random } from '../../../support/random';
import { SEED } from '../../../support/run/seed';

const bar = (time: number, close: number): Bar => ({
  time,
  open: 1,
  high: 2,
  low: 0.5,
  close,
  volume: 1,
  volume_usd: null,
  trades: 1,
  buys: 1,
  sells: 0,
  closed: true,
});

/** The API's answer for a series of bars: the last `limit` bars before `to`. */
function answer(truth: readonly Bar[], limit: number, to = Infinity): BarPage {
  const before = truth.filter(({ time }) => time < to);
  const data = before.slice(-limit);
  return { data, meta: { next_to: before.length > data.length ? (data[0]?.time ?? null) : null } };
}

/**
 * The page's reaction to an event: it requests the last two bars, and a whole page of bars if these do not
 * connect to the shown bars.
 */
function touch(series: BarSeries, truth: readonly Bar[], page: number): BarSeries {
  return withNewest(series, answer(truth, 2)) ?? doubt(series, truth, page);
}

function doubt(series: BarSeries, truth: readonly Bar[], page: number): BarSeries {
  const newest = answer(truth, page);
  return withNewest(series, newest) ?? fromPage(newest);
}

test('after any change of the series, the next answer of the API gives the chart the newest bars without gaps', () => {
  const random = new Random(SEED);
  for (let run = 0; run < 80; run += 1) {
    const page = 3 + random.int(0, 6);
    let clock = 100;
    let truth: Bar[] = [];
    const trade = (): void => {
      const last = truth.at(-1);
      if (last !== undefined && random.chance(0.5))
        truth = [...truth.slice(0, -1), bar(last.time, random.next())];
      else truth = [...truth, bar((clock += 1 + random.int(0, 3)), random.next())];
    };
    for (let count = random.int(0, 30); count > 0; count -= 1) trade();
    let series = fromPage(answer(truth, page));
    for (let step = 0; step < 30; step += 1) {
      const what = random.int(0, 4);
      if (what === 0 && series.nextTo !== null)
        series = withOlder(series, answer(truth, page, series.nextTo));
      else if (what === 1) {
        // A reorg replaces the last bars. The page then requests a whole page of bars, which covers more time than any
        // reorg.
        const kept = truth.slice(0, Math.max(0, truth.length - random.int(0, page)));
        clock = kept.at(-1)?.time ?? clock;
        truth = kept;
        for (let count = random.int(0, page - 2); count > 0; count -= 1) trade();
        series = doubt(series, truth, page);
      } else {
        for (let count = random.int(0, page + 3); count > 0; count -= 1) trade();
        series = touch(series, truth, page);
      }
      expect(series.bars).toEqual(truth.slice(truth.length - series.bars.length));
      expect(series.nextTo).toBe(truth.length > series.bars.length ? (series.bars[0]?.time ?? null) : null);
    }
  }
});

test('the CSV of the chart has every bar as in the API, and empty fields for unknown values', () => {
  expect(toCsv([bar(60, 1e-17)])).toBe(
    'time,open,high,low,close,volume,volume_usd,trades,buys,sells\n60,1,2,0.5,1e-17,1,,1,1,0\n',
  );
});

test('the chart scales very small and very large prices for the canvas, and leaves ordinary prices unchanged', () => {
  const at = (high: number): number => high * scaleOf([{ ...bar(60, high), high }]);
  expect([0.01, 1, 64_000].map(at)).toEqual([0.01, 1, 64_000]);
  for (const high of [3e-19, 7e-6, 4e11]) expect(at(high)).toBeGreaterThanOrEqual(0.999);
  for (const high of [3e-19, 7e-6, 4e11]) expect(at(high)).toBeLessThan(10.001);
  expect(scaleOf([])).toBe(1);
});
