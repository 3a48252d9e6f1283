/** Draws the indicators and the volume with lightweight-charts, each in its pane. */
import {
  HistogramSeries,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type HistogramData,
  type IChartApiBase,
  type ISeriesApi,
  type LineData,
  type PriceFormat,
  type Time,
  type WhitespaceData,
} from 'lightweight-charts';

import type { Bar } from '../../../wire/ticks';
import { formatUsd } from '../../core/format.ts';
import { cssColor } from '../../core/themeSwitch.ts';
import type { StudyName } from '../chartSettings.ts';
import { toTime } from '../chartTime.ts';
import { linesOf, type StudiedBars, type StudyLine } from './studies.ts';

export interface StudySeries {
  /** Chooses other indicators. Panes without a series are closed. */
  chooseStudies(studyNames: readonly StudyName[]): void;
  /** Draws the values of these bars from an index on. Prices are multiplied by the factor. */
  draw(studied: StudiedBars, priceFactor: number, firstIndex: number): void;
  applyTheme(priceFormat: PriceFormat): void;
  /** The lines that are drawn. */
  lines(): readonly StudyLine[];
}

const PANE_HEIGHTS: Readonly<Record<'volume' | 'rsi', number>> = { volume: 0.26, rsi: 0.3 };
/** Above and below these values, a price is called overbought or oversold. */
const RSI_BOUNDS = [70, 30];
/** The library gives a new pane the scale of the candles, which may be logarithmic or upside down. */
const OWN_SCALE = { mode: PriceScaleMode.Normal, invertScale: false };
const NO_BARS_STUDIED: StudiedBars = { bars: [], barSeconds: 0, isWhole: true };

export function createStudySeries(chart: IChartApiBase<Time>): StudySeries {
  return new Studies(chart);
}

class Studies implements StudySeries {
  private readonly chart: IChartApiBase<Time>;
  private studyNames: readonly StudyName[] = [];
  private studied = NO_BARS_STUDIED;
  private priceFactor = 1;
  private priceFormat: PriceFormat | null = null;
  private volumeSeries: ISeriesApi<'Histogram'> | null = null;
  /** The series of each line, by its column. */
  private readonly seriesByColumn = new Map<string, ISeriesApi<'Line'>>();
  private drawnLines: readonly StudyLine[] = [];

  constructor(chart: IChartApiBase<Time>) {
    this.chart = chart;
  }

  chooseStudies(studyNames: readonly StudyName[]): void {
    if (studyNames.join() === this.studyNames.join()) return;
    for (const series of this.seriesByColumn.values()) this.chart.removeSeries(series);
    if (this.volumeSeries !== null) this.chart.removeSeries(this.volumeSeries);
    this.seriesByColumn.clear();
    this.volumeSeries = null;
    this.studyNames = studyNames;
    let paneCount = 1;
    const addPane = (height: number): number => {
      this.chart.addPane(false).setStretchFactor(height);
      paneCount += 1;
      return paneCount - 1;
    };
    if (studyNames.includes('volume')) this.volumeSeries = this.addVolumes(addPane(PANE_HEIGHTS.volume));
    const rsiPane = studyNames.includes('rsi') ? addPane(PANE_HEIGHTS.rsi) : 0;
    for (const line of linesOf(studyNames, NO_BARS_STUDIED))
      this.seriesByColumn.set(line.column, line.study === 'rsi' ? this.addRsi(rsiPane) : this.addLine(0));
    if (this.priceFormat !== null) this.applyTheme(this.priceFormat);
    this.draw(this.studied, this.priceFactor, 0);
  }

  draw(studied: StudiedBars, priceFactor: number, firstIndex: number): void {
    this.studied = studied;
    this.priceFactor = priceFactor;
    this.drawnLines = linesOf(this.studyNames, studied);
    this.drawVolumes(firstIndex);
    const bars = studied.bars.slice(firstIndex);
    for (const { study, column, values } of this.drawnLines) {
      const valueFactor = study === 'rsi' ? 1 : priceFactor;
      const points = bars.map((bar, index) => toPoint(bar, values[firstIndex + index], valueFactor));
      setPoints(this.seriesByColumn.get(column) ?? null, points, firstIndex);
    }
  }

  applyTheme(priceFormat: PriceFormat): void {
    this.priceFormat = priceFormat;
    for (const { study, column, color } of linesOf(this.studyNames, NO_BARS_STUDIED)) {
      const series = this.seriesByColumn.get(column);
      series?.applyOptions({ color: cssColor(color), ...(study === 'rsi' ? {} : { priceFormat }) });
      for (const boundLine of series?.priceLines() ?? [])
        boundLine.applyOptions({ color: cssColor('--faint') });
    }
    this.drawVolumes(0);
  }

  lines(): readonly StudyLine[] {
    return this.drawnLines;
  }

  private drawVolumes(firstIndex: number): void {
    const [upColor, downColor] = [cssColor('--up-soft'), cssColor('--down-soft')];
    const bars = this.studied.bars.slice(firstIndex);
    const volumes = bars.map((bar) => toVolume(bar, bar.close >= bar.open ? upColor : downColor));
    setPoints(this.volumeSeries, volumes, firstIndex);
  }

  private addVolumes(pane: number): ISeriesApi<'Histogram'> {
    const series = this.chart.addSeries(
      HistogramSeries,
      {
        priceFormat: { type: 'custom', formatter: (value: number) => formatUsd(value), minMove: 0.01 },
        lastValueVisible: false,
        priceLineVisible: false,
      },
      pane,
    );
    series.priceScale().applyOptions({ ...OWN_SCALE, scaleMargins: { top: 0.12, bottom: 0 } });
    return series;
  }

  private addLine(pane: number): ISeriesApi<'Line'> {
    return this.chart.addSeries(
      LineSeries,
      { lineWidth: 1, priceLineVisible: false, lastValueVisible: false, crosshairMarkerVisible: false },
      pane,
    );
  }

  private addRsi(pane: number): ISeriesApi<'Line'> {
    const series = this.addLine(pane);
    series.applyOptions({
      priceFormat: { type: 'price', precision: 0, minMove: 1 },
      autoscaleInfoProvider: () => ({ priceRange: { minValue: 0, maxValue: 100 } }),
    });
    series.priceScale().applyOptions({ ...OWN_SCALE, scaleMargins: { top: 0.06, bottom: 0.06 } });
    for (const price of RSI_BOUNDS)
      series.createPriceLine({ price, lineWidth: 1, lineStyle: LineStyle.Dotted, axisLabelVisible: false });
    return series;
  }
}

/** `points` begin at `firstIndex`. From 0 on, they replace all points of the series. */
function setPoints<T extends 'Histogram' | 'Line'>(
  series: ISeriesApi<T> | null,
  points: Parameters<ISeriesApi<T>['setData']>[0],
  firstIndex: number,
): void {
  if (firstIndex === 0) series?.setData(points);
  else for (const point of points) series?.update(point);
}

function toVolume(bar: Bar, color: string): HistogramData {
  return { time: toTime(bar.time), value: bar.volume_usd ?? 0, color };
}

/** A bar without a value leaves a gap in the line. */
function toPoint(bar: Bar, value: number | null | undefined, factor: number): LineData | WhitespaceData {
  const time = toTime(bar.time);
  return value === null || value === undefined ? { time } : { time, value: value * factor };
}
