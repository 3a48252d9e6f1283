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
  choose(names: readonly StudyName[]): void;
  /** Draws the values of these bars from an index on. Prices are multiplied by the factor. */
  draw(studied: StudiedBars, factor: number, from: number): void;
  paint(format: PriceFormat): void;
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
  private names: readonly StudyName[] = [];
  private studied = NO_BARS_STUDIED;
  private factor = 1;
  private format: PriceFormat | null = null;
  private volumes: ISeriesApi<'Histogram'> | null = null;
  /** The series of each line, by its column. */
  private readonly series = new Map<string, ISeriesApi<'Line'>>();
  private drawn: readonly StudyLine[] = [];

  constructor(chart: IChartApiBase<Time>) {
    this.chart = chart;
  }

  choose(names: readonly StudyName[]): void {
    if (names.join() === this.names.join()) return;
    for (const series of this.series.values()) this.chart.removeSeries(series);
    if (this.volumes !== null) this.chart.removeSeries(this.volumes);
    this.series.clear();
    this.volumes = null;
    this.names = names;
    let panes = 1;
    const addPane = (height: number): number => {
      this.chart.addPane(false).setStretchFactor(height);
      panes += 1;
      return panes - 1;
    };
    if (names.includes('volume')) this.volumes = this.addVolumes(addPane(PANE_HEIGHTS.volume));
    const rsiPane = names.includes('rsi') ? addPane(PANE_HEIGHTS.rsi) : 0;
    for (const line of linesOf(names, NO_BARS_STUDIED))
      this.series.set(line.column, line.study === 'rsi' ? this.addRsi(rsiPane) : this.addLine(0));
    if (this.format !== null) this.paint(this.format);
    this.draw(this.studied, this.factor, 0);
  }

  draw(studied: StudiedBars, factor: number, from: number): void {
    this.studied = studied;
    this.factor = factor;
    this.drawn = linesOf(this.names, studied);
    this.drawVolumes(from);
    const bars = studied.bars.slice(from);
    for (const { study, column, values } of this.drawn) {
      const valueFactor = study === 'rsi' ? 1 : factor;
      const points = bars.map((bar, index) => toPoint(bar, values[from + index], valueFactor));
      setPoints(this.series.get(column) ?? null, points, from);
    }
  }

  paint(format: PriceFormat): void {
    this.format = format;
    for (const { study, column, color } of linesOf(this.names, NO_BARS_STUDIED)) {
      const series = this.series.get(column);
      series?.applyOptions({ color: cssColor(color), ...(study === 'rsi' ? {} : { priceFormat: format }) });
      for (const bound of series?.priceLines() ?? []) bound.applyOptions({ color: cssColor('--faint') });
    }
    this.drawVolumes(0);
  }

  lines(): readonly StudyLine[] {
    return this.drawn;
  }

  private drawVolumes(from: number): void {
    const [up, down] = [cssColor('--up-soft'), cssColor('--down-soft')];
    const bars = this.studied.bars.slice(from);
    const volumes = bars.map((bar) => toVolume(bar, bar.close >= bar.open ? up : down));
    setPoints(this.volumes, volumes, from);
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

/** Draws the last points, or all points if there are none before them. */
function setPoints<T extends 'Histogram' | 'Line'>(
  series: ISeriesApi<T> | null,
  points: Parameters<ISeriesApi<T>['setData']>[0],
  from: number,
): void {
  if (from === 0) series?.setData(points);
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
