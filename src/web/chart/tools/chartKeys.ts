/** Moves and zooms the chart with the keyboard. */
import type { CandleChart } from '../candleChart.ts';

/** Bars that an arrow key moves the view by. With Shift, the view moves by most of its width. */
const STEP_BARS = 3;
const ZOOM_FACTOR = 1.25;
/** Part of the visible bars by which Page Up, Page Down and Shift move the view. */
const PAGE_PART = 0.8;

/** Returns whether the key belongs to the chart. */
export function pressKey(chart: CandleChart, { key, shiftKey }: KeyboardEvent): boolean {
  const stepBars = shiftKey ? Math.max(STEP_BARS, chart.countVisibleBars() * PAGE_PART) : STEP_BARS;
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => chart.pan(-stepBars),
    ArrowRight: () => chart.pan(stepBars),
    PageUp: () => chart.pan(-chart.countVisibleBars() * PAGE_PART),
    PageDown: () => chart.pan(chart.countVisibleBars() * PAGE_PART),
    Home: () => chart.showOldest(),
    End: () => chart.showNewest(),
    '+': () => chart.zoom(1 / ZOOM_FACTOR),
    '=': () => chart.zoom(1 / ZOOM_FACTOR),
    '-': () => chart.zoom(ZOOM_FACTOR),
  };
  const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
  action?.();
  return action !== undefined;
}
