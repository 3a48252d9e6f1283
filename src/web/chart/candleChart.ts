/** Draws candles with volume, using lightweight-charts. `barFeed.ts` loads the bars. */
import {
  CandlestickSeries,
  createChart,
  CrosshairMode,
  HistogramSeries,
  type CandlestickData,
  type HistogramData,
  type IChartApi,
  type ISeriesApi,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts';

import type { Bar } from '../../wire/ticks';
import { scaleOf } from './barSeries.ts';
import { h } from '../core/dom.ts';
import { formatAmount, formatPrice, formatTime, formatUsd } from '../core/format.ts';
import { cssColor, THEME_CHANGE } from '../core/themeSwitch.ts';

export interface CandleChart {
  readonly element: HTMLElement;
  /** Draws these bars. `isNew` means that this is a different series, shown from its newest bar. */
  draw(bars: readonly Bar[], isNew: boolean): void;
}

interface CandleChartOptions {
  /** Called when the view is near its left end. */
  readonly onleft: () => void;
  readonly signal: AbortSignal;
}

/** Initial width of a bar in pixels, the largest width, and the least number of visible bars. */
const BAR_WIDTH = 9;
const BAR_WIDTH_MAX = 36;
const SHOWN_MIN = 40;
/** If fewer bars than this are left of the view, older bars are loaded. */
const LEFT_BARS = 30;

interface Parts {
  readonly chart: IChartApi;
  readonly candles: ISeriesApi<'Candlestick'>;
  readonly volumes: ISeriesApi<'Histogram'>;
}

export function createCandleChart({ onleft, signal }: CandleChartOptions): CandleChart {
  const legend = h('div', { class: 'chart-legend', 'aria-hidden': 'true' });
  const canvas = h('div', { class: 'chart-canvas' });
  const element = h('div', { class: 'chart' }, canvas, legend);
  const parts = makeParts(canvas);
  const { chart, candles, volumes } = parts;
  let shown: readonly Bar[] = [];
  let scale = 1;
  let byTime = new Map<number, Bar>();

  const paint = (): void => paintParts(parts, scale);
  const describe = (bar: Bar | undefined): void =>
    legend.replaceChildren(...(bar === undefined ? [] : legendOf(bar)));

  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && shown.length > 0 && range.from < LEFT_BARS) onleft();
  });
  chart.subscribeCrosshairMove(({ time }) => describe(byTime.get(Number(time)) ?? shown.at(-1)));
  document.addEventListener(
    THEME_CHANGE,
    () => {
      paint();
      volumes.setData(shown.map(toVolume));
    },
    { signal },
  );
  signal.addEventListener('abort', () => chart.remove());
  paint();
  return {
    element,
    draw(bars, isNew) {
      if (signal.aborted) return;
      const wanted = isNew ? scaleOf(bars) : scale;
      if (isNew || wanted !== scale) {
        scale = wanted;
        paint();
      }
      shown = bars;
      byTime = new Map(bars.map((bar) => [bar.time, bar]));
      candles.setData(bars.map((bar) => toCandle(bar, scale)));
      volumes.setData(bars.map(toVolume));
      if (isNew) showNewest(chart, bars.length);
      describe(bars.at(-1));
    },
  };
}

function makeParts(canvas: HTMLElement): Parts {
  const chart = createChart(canvas, {
    autoSize: true,
    layout: { attributionLogo: false, fontFamily: 'inherit', fontSize: 11, panes: { enableResize: false } },
    crosshair: { mode: CrosshairMode.Normal },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.24 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      minBarSpacing: 1,
      maxBarSpacing: BAR_WIDTH_MAX,
    },
    localization: { timeFormatter: (time: Time) => formatTime(Number(time)).replace(':00 UTC', ' UTC') },
  });
  const candles = chart.addSeries(CandlestickSeries, { borderVisible: false, priceLineStyle: 1 });
  const volumes = chart.addSeries(HistogramSeries, {
    priceScaleId: 'volume',
    priceFormat: { type: 'custom', formatter: (value: number) => formatUsd(value), minMove: 0.01 },
    lastValueVisible: false,
    priceLineVisible: false,
  });
  chart.priceScale('volume').applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  return { chart, candles, volumes };
}

/** Sets the colours of the theme and the format of prices. */
function paintParts({ chart, candles }: Parts, scale: number): void {
  const line = { color: cssColor('--grid') };
  chart.applyOptions({
    layout: {
      background: { color: 'transparent' },
      textColor: cssColor('--muted'),
      fontFamily: getComputedStyle(document.body).fontFamily,
    },
    grid: { vertLines: line, horzLines: line },
  });
  const [up, down] = [cssColor('--up'), cssColor('--down')];
  candles.applyOptions({
    upColor: up,
    downColor: down,
    wickUpColor: up,
    wickDownColor: down,
    priceFormat: { type: 'custom', formatter: (value: number) => formatPrice(value / scale), minMove: 1e-6 },
  });
}

/** Shows the newest bars. If there are few bars, shows all of them, with wider bars. */
function showNewest(chart: IChartApi, count: number): void {
  const shown = Math.max(SHOWN_MIN, Math.round(chart.timeScale().width() / BAR_WIDTH));
  if (count > 0 && count < shown) return chart.timeScale().fitContent();
  chart.timeScale().setVisibleLogicalRange({ from: count - shown, to: count + 3 });
}

/** The API's times are unix seconds, which the chart calls UTCTimestamp. */
function toTime(bar: Bar): UTCTimestamp {
  return bar.time as UTCTimestamp;
}

function toCandle(bar: Bar, scale: number): CandlestickData<UTCTimestamp> {
  return {
    time: toTime(bar),
    open: bar.open * scale,
    high: bar.high * scale,
    low: bar.low * scale,
    close: bar.close * scale,
  };
}

function toVolume(bar: Bar): HistogramData<UTCTimestamp> {
  const color = cssColor(bar.close >= bar.open ? '--up-soft' : '--down-soft');
  return { time: toTime(bar), value: bar.volume_usd ?? 0, color };
}

function legendOf(bar: Bar): Node[] {
  const tone = bar.close >= bar.open ? 'up' : 'down';
  const part = (name: string, value: string): Node =>
    h('span', {}, h('i', {}, name), h('b', { class: tone }, value));
  const moved = bar.open === 0 ? 0 : (bar.close / bar.open - 1) * 100;
  return [
    part('O', formatPrice(bar.open)),
    part('H', formatPrice(bar.high)),
    part('L', formatPrice(bar.low)),
    part('C', formatPrice(bar.close)),
    h('span', { class: tone }, `${moved >= 0 ? '+' : '−'}${Math.abs(moved).toFixed(2)}%`),
    part('Vol', bar.volume_usd === null ? formatAmount(bar.volume) : formatUsd(bar.volume_usd)),
    part('Trades', String(bar.trades)),
  ];
}
