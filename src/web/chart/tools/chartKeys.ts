/** Moves and zooms the chart with the keyboard. */
import type { CandleChart } from '../candleChart.ts';

/** Bars that an arrow key moves the view by. With Shift, the view moves by most of its width. */
const STEP = 3;
const ZOOM_FACTOR = 1.25;

/** Returns whether the key belongs to the chart. */
export function pressKey(chart: CandleChart, { key, shiftKey }: KeyboardEvent): boolean {
  const step = shiftKey ? Math.max(STEP, chart.visible() * 0.8) : STEP;
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => chart.pan(-step),
    ArrowRight: () => chart.pan(step),
    PageUp: () => chart.pan(-chart.visible() * 0.8),
    PageDown: () => chart.pan(chart.visible() * 0.8),
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
