/**
 * Draws candles, indicators, lines and markers with lightweight-charts. `barFeed.ts` loads the bars, and `lateChart.ts`
 * creates the chart when they have arrived.
 */
import {
  CandlestickSeries,
  createChartEx,
  createSeriesMarkers,
  CrosshairMode,
  LineStyle,
  PriceScaleMode,
  type CandlestickData,
  type IChartApiBase,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type MouseEventParams,
  type PriceFormat,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';

import type { Bar } from '../../wire/ticks';
import { formatChange, formatPrice } from '../core/format.ts';
import { cssColor, THEME_CHANGE } from '../core/themeSwitch.ts';
import { changedFrom, scaleOf } from './barSeries.ts';
import { legendOf, type ChartUnit } from './chartLegend.ts';
import type { ChartSettings } from './chartSettings.ts';
import { toTime, zonedScale } from './chartTime.ts';
import { createStudySeries, type StudySeries } from './study/studySeries.ts';
import type { StudiedBars, StudyLine } from './study/studies.ts';
import { formatMinute, zoneName } from './timeZones.ts';
import type { TradeMark } from './tradeMarks.ts';

export interface CandleChart {
  /** Draws these bars. `isNew` means that this is a different series, shown from its newest bar. */
  draw(studied: StudiedBars, isNew: boolean): void;
  /** Scale, indicators and time zone. */
  setLook(settings: ChartSettings): void;
  /** Names in the legend of the token and the currency of the prices. */
  setUnit(unit: ChartUnit, title: string): void;
  /** Draws horizontal lines at these prices. */
  setLines(prices: readonly number[]): void;
  setMarks(marks: readonly TradeMark[]): void;
  lines(): readonly StudyLine[];
  showNewest(): void;
  /** Moves the view by a number of bars; negative numbers move it back in time. */
  pan(bars: number): void;
  /** Multiplies the number of visible bars by the factor. */
  zoom(barFactor: number): void;
  /** Moves the view to the oldest loaded bar. */
  showOldest(): void;
  /** Number of visible bars. */
  countVisibleBars(): number;
  picture(): HTMLCanvasElement;
}

export interface CandleChartOptions {
  readonly settings: ChartSettings;
  /** The element in which the library draws. If it is on the page, the library draws at its final size at once. */
  readonly canvas: HTMLElement;
  readonly legend: HTMLElement;
  /** Called when the view is near its left end. */
  readonly onleft: () => void;
  /** Called when the newest bar enters or leaves the view. */
  readonly onnewest: (isShown: boolean) => void;
  /** Called for a click into the pane of the candles, with the price at the pointer. */
  readonly onprice: (price: number) => void;
  readonly signal: AbortSignal;
}

/** Initial width of a bar in pixels, the largest width, and the least number of visible bars. */
const BAR_WIDTH_PX = 9;
const BAR_WIDTH_MAX_PX = 36;
const BARS_SHOWN_MIN = 40;
/** If fewer bars than this are left of the view, older bars are loaded. */
const LOAD_AT_BARS = 30;
/** Least number of bars that the keyboard zooms to. */
const ZOOM_BARS_MIN = 10;

export function createCandleChart(options: CandleChartOptions): CandleChart {
  return new Candles(options);
}

const SCALE_MODES = {
  linear: PriceScaleMode.Normal,
  log: PriceScaleMode.Logarithmic,
  // The library's percent scale gives each series its own zero, so averages would leave the candles.
  percent: PriceScaleMode.Normal,
} as const;

class Candles implements CandleChart {
  private readonly canvas: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly chart: IChartApiBase<Time>;
  private readonly candles: ISeriesApi<'Candlestick'>;
  private readonly studies: StudySeries;
  private readonly markers: ISeriesMarkersPluginApi<Time>;
  /** The price of the newest bar. Unlike the library's own label, it stays while older bars are shown. */
  private readonly lastPrice: IPriceLine;
  private readonly signal: AbortSignal;
  private settings: ChartSettings;
  private unit: ChartUnit = { token: '', currency: '', isUsd: false };
  private chartTitle = '';
  private lineDrawings: IPriceLine[] = [];
  private linePrices: readonly number[] = [];
  private marks: readonly TradeMark[] = [];
  private studied: StudiedBars = { bars: [], barSeconds: 60, isWhole: true };
  private priceFactor = 1;
  /** Close of the first visible bar, the zero of the percent scale. */
  private percentZero = 0;
  private indexByTime = new Map<number, number>();

  constructor({ settings, canvas, legend, onleft, onnewest, onprice, signal }: CandleChartOptions) {
    this.signal = signal;
    this.canvas = canvas;
    this.legend = legend;
    this.settings = settings;
    this.chart = makeChart(this.canvas, () => this.settings);
    this.candles = this.chart.addSeries(CandlestickSeries, {
      borderVisible: false,
      priceLineVisible: false,
      lastValueVisible: false,
    });
    this.lastPrice = this.candles.createPriceLine({ price: 0, lineWidth: 1, lineStyle: LineStyle.Dotted });
    this.markers = createSeriesMarkers(this.candles, []);
    this.studies = createStudySeries(this.chart);
    this.chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
      const { bars } = this.studied;
      if (range === null || bars.length === 0) return;
      onnewest(range.to >= bars.length - 1);
      this.setPercentZero(bars[Math.max(0, Math.min(bars.length - 1, Math.ceil(range.from)))]?.close ?? 0);
      if (range.from < LOAD_AT_BARS) onleft();
    });
    this.chart.subscribeClick(({ point, paneIndex }) => {
      const price = point === undefined || paneIndex !== 0 ? null : this.candles.coordinateToPrice(point.y);
      if (price !== null && price > 0) onprice(price / this.priceFactor);
    });
    this.chart.subscribeCrosshairMove((event) => this.showLegend(event));
    document.addEventListener(THEME_CHANGE, () => this.applyTheme(), { signal });
    signal.addEventListener('abort', () => this.chart.remove());
    this.setLook(settings);
  }

  draw(studied: StudiedBars, isNew: boolean): void {
    if (this.signal.aborted) return;
    // Hidden until the library has drawn the first bars, because only then its panes and axes have their sizes.
    if (studied.bars.length > 0)
      requestAnimationFrame(() => requestAnimationFrame(() => this.canvas.classList.remove('undrawn')));
    const { bars } = studied;
    // Earlier values of an indicator may follow from the knowledge that there are no older bars.
    const isOtherSeries = isNew || studied.isWhole !== this.studied.isWhole;
    const firstIndex = isOtherSeries ? 0 : changedFrom(this.studied.bars, bars);
    this.studied = studied;
    if (firstIndex === 0) this.indexByTime.clear();
    bars.slice(firstIndex).forEach((bar, index) => this.indexByTime.set(bar.time, firstIndex + index));
    if (isNew) {
      this.priceFactor = scaleOf(bars);
      this.percentZero = bars.at(-1)?.close ?? 0;
    }
    this.setData(firstIndex);
    if (isNew) {
      // Also sets the formats of prices, which use the new price factor.
      this.applyTheme();
      this.setLines(this.linePrices);
      this.showNewest();
    }
  }

  setLook(settings: ChartSettings): void {
    if (this.signal.aborted) return;
    const isOtherZone = settings.zone !== this.settings.zone;
    this.settings = settings;
    this.candles
      .priceScale()
      .applyOptions({ mode: SCALE_MODES[settings.scale], invertScale: settings.upsideDown });
    this.studies.chooseStudies(settings.studies);
    if (isOtherZone) this.redrawDates();
    this.applyTheme();
    this.showLegend();
  }

  setUnit(unit: ChartUnit, title: string): void {
    this.unit = unit;
    this.chartTitle = title;
    this.showLegend();
  }

  setLines(prices: readonly number[]): void {
    for (const drawing of this.lineDrawings) this.candles.removePriceLine(drawing);
    this.linePrices = prices;
    this.lineDrawings = prices.map((price) =>
      this.candles.createPriceLine({
        price: price * this.priceFactor,
        color: cssColor('--accent'),
        lineWidth: 1,
        lineStyle: LineStyle.Solid,
      }),
    );
  }

  setMarks(marks: readonly TradeMark[]): void {
    if (this.signal.aborted) return;
    this.marks = marks;
    const [upColor, downColor] = [cssColor('--up'), cssColor('--down')];
    this.markers.setMarkers(marks.map((mark) => toMarker(mark, mark.side === 'buy' ? upColor : downColor)));
  }

  lines(): readonly StudyLine[] {
    return this.studies.lines();
  }

  /** Shows the newest bars. If there are few bars, shows all of them, with wider bars. */
  showNewest(): void {
    const barCount = this.studied.bars.length;
    const scale = this.chart.timeScale();
    const shownBars = Math.max(BARS_SHOWN_MIN, Math.round(scale.width() / BAR_WIDTH_PX));
    if (barCount > 0 && barCount < shownBars) return scale.fitContent();
    scale.setVisibleLogicalRange({ from: barCount - shownBars, to: barCount + 3 });
  }

  pan(bars: number): void {
    const range = this.chart.timeScale().getVisibleLogicalRange();
    if (range === null) return;
    const stepToFirst = Math.min(0, 0 - range.from);
    const stepToLast = Math.max(0, this.studied.bars.length + 3 - range.to);
    const step = bars < 0 ? Math.max(bars, stepToFirst) : Math.min(bars, stepToLast);
    this.chart.timeScale().setVisibleLogicalRange({ from: range.from + step, to: range.to + step });
  }

  zoom(barFactor: number): void {
    const range = this.chart.timeScale().getVisibleLogicalRange();
    if (range === null) return;
    const barCount = Math.max(ZOOM_BARS_MIN, (range.to - range.from) * barFactor);
    this.chart.timeScale().setVisibleLogicalRange({ from: range.to - barCount, to: range.to });
  }

  showOldest(): void {
    const barCount = this.countVisibleBars();
    this.chart.timeScale().setVisibleLogicalRange({ from: 0, to: barCount });
  }

  countVisibleBars(): number {
    const range = this.chart.timeScale().getVisibleLogicalRange();
    return range === null ? 0 : range.to - range.from;
  }

  picture(): HTMLCanvasElement {
    return this.chart.takeScreenshot(true);
  }

  /** Draws the bars from an index on. The bars before it are drawn already. */
  private setData(firstIndex = 0): void {
    const { bars } = this.studied;
    const candles = bars.slice(firstIndex).map((bar) => toCandle(bar, this.priceFactor));
    if (firstIndex === 0) this.candles.setData(candles);
    else for (const candle of candles) this.candles.update(candle);
    this.studies.draw(this.studied, this.priceFactor, firstIndex);
    this.canvas.dataset['drawn'] = String(candles.length);
    const lastBar = bars.at(-1);
    this.lastPrice.applyOptions(
      lastBar === undefined
        ? { lineVisible: false, axisLabelVisible: false }
        : { ...this.lastPriceLook(lastBar), lineVisible: true, axisLabelVisible: true },
    );
    this.showLegend();
  }

  private lastPriceLook(bar: Bar): { price: number; color: string } {
    return {
      price: bar.close * this.priceFactor,
      color: cssColor(bar.close >= bar.open ? '--up' : '--down'),
    };
  }

  /** Sets all data again, so that the library asks the time scale where days begin. */
  private redrawDates(): void {
    const range = this.chart.timeScale().getVisibleLogicalRange();
    const { studied } = this;
    this.studied = { ...studied, bars: [] };
    this.setData();
    this.studied = studied;
    this.setData();
    if (range !== null) this.chart.timeScale().setVisibleLogicalRange(range);
  }

  private setPercentZero(firstVisibleClose: number): void {
    if (firstVisibleClose === this.percentZero) return;
    this.percentZero = firstVisibleClose;
    if (this.settings.scale === 'percent') this.candles.applyOptions({ priceFormat: this.priceFormat() });
  }

  private priceFormat(): PriceFormat {
    const { priceFactor, percentZero } = this;
    const isPercent = this.settings.scale === 'percent' && percentZero > 0;
    const formatter = (value: number): string =>
      isPercent
        ? formatChange((value / priceFactor / percentZero - 1) * 100)
        : formatPrice(value / priceFactor);
    return { type: 'custom', formatter, minMove: 1e-6 };
  }

  /** Sets the colours of the theme and the formats of prices and times. */
  private applyTheme(): void {
    const { zone } = this.settings;
    const gridLine = { color: cssColor('--grid') };
    this.chart.applyOptions({
      layout: {
        background: { color: 'transparent' },
        textColor: cssColor('--muted'),
        fontFamily: getComputedStyle(document.body).fontFamily,
        panes: { separatorColor: cssColor('--line'), separatorHoverColor: cssColor('--accent-soft') },
      },
      grid: { vertLines: gridLine, horzLines: gridLine },
      localization: {
        timeFormatter: (time: Time) => `${formatMinute(Number(time), zone)} ${zoneName(zone)}`,
      },
    });
    const [upColor, downColor] = [cssColor('--up'), cssColor('--down')];
    const colors = { upColor, downColor, wickUpColor: upColor, wickDownColor: downColor };
    this.candles.applyOptions({ ...colors, priceFormat: this.priceFormat() });
    this.studies.applyTheme(this.priceFormat());
    const lastBar = this.studied.bars.at(-1);
    if (lastBar !== undefined) this.lastPrice.applyOptions(this.lastPriceLook(lastBar));
    for (const drawing of this.lineDrawings) drawing.applyOptions({ color: cssColor('--accent') });
    this.setMarks(this.marks);
  }

  private showLegend(event?: MouseEventParams): void {
    const { bars } = this.studied;
    const index = this.indexByTime.get(Number(event?.time)) ?? bars.length - 1;
    const bar = bars[index];
    this.legend.replaceChildren(
      ...(bar === undefined ? [] : legendOf(bar, index, this.unit, this.chartTitle, this.studies.lines())),
    );
  }
}

function makeChart(canvas: HTMLElement, getSettings: () => ChartSettings): IChartApiBase<Time> {
  return createChartEx(
    canvas,
    zonedScale(() => getSettings().zone),
    {
      autoSize: true,
      layout: { attributionLogo: false, fontFamily: 'inherit', fontSize: 11 },
      crosshair: { mode: CrosshairMode.Normal },
      rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.1, bottom: 0.06 } },
      timeScale: {
        borderVisible: false,
        timeVisible: true,
        secondsVisible: false,
        rightOffset: 4,
        minBarSpacing: 1,
        maxBarSpacing: BAR_WIDTH_MAX_PX,
      },
    },
  );
}

function toCandle(bar: Bar, priceFactor: number): CandlestickData {
  return {
    time: toTime(bar.time),
    open: bar.open * priceFactor,
    high: bar.high * priceFactor,
    low: bar.low * priceFactor,
    close: bar.close * priceFactor,
  };
}

function toMarker({ time, side, count }: TradeMark, color: string): SeriesMarker<Time> {
  const text = count > 1 ? String(count) : '';
  return side === 'buy'
    ? { time: toTime(time), position: 'belowBar', shape: 'arrowUp', color, text }
    : { time: toTime(time), position: 'aboveBar', shape: 'arrowDown', color, text };
}
