/**
 * The chart of the page. The library creates its canvases in a task of its own, after the browser has painted the page and
 * knows the size of the chart, or when the first bars arrive. Until then, this class keeps the prices, marks and settings for it.
 */
import { h } from '../core/dom.ts';
import { afterPaint } from '../core/nextTask.ts';
import { createCandleChart, type CandleChart, type CandleChartOptions } from './candleChart.ts';
import type { ChartUnit } from './chartLegend.ts';
import type { ChartSettings } from './chartSettings.ts';
import type { StudiedBars, StudyLine } from './study/studies.ts';
import type { TradeMark } from './tradeMarks.ts';

export class LateChart implements CandleChart {
  /** The element that takes keys and clicks. */
  readonly canvas = h('div', {
    class: 'chart-canvas undrawn',
    tabindex: 0,
    role: 'application',
    'aria-label':
      'Price chart. Arrow keys move it, plus and minus zoom, Home shows the oldest loaded bar, End the newest. The button Table shows the same bars as a table.',
  });
  private readonly legend = h('div', { class: 'chart-legend', 'aria-hidden': 'true' });
  readonly element = h('div', { class: 'chart' }, this.canvas, this.legend);
  private readonly options: Omit<CandleChartOptions, 'canvas' | 'legend' | 'settings'>;
  private chart: CandleChart | null = null;
  private settings: ChartSettings;
  private unitAndTitle: readonly [unit: ChartUnit, title: string] | null = null;
  private linePrices: readonly number[] = [];
  private marks: readonly TradeMark[] = [];

  constructor({ settings, ...options }: Omit<CandleChartOptions, 'canvas' | 'legend'>) {
    this.options = options;
    this.settings = settings;
    void afterPaint().then(() => {
      if (!options.signal.aborted) this.chart ??= this.createChart();
    });
  }

  draw(studied: StudiedBars, isNew: boolean): void {
    if (this.options.signal.aborted) return;
    if (studied.bars.length > 0) this.chart ??= this.createChart();
    this.chart?.draw(studied, isNew);
  }

  setLook(settings: ChartSettings): void {
    this.settings = settings;
    this.chart?.setLook(settings);
  }

  setUnit(unit: ChartUnit, title: string): void {
    this.unitAndTitle = [unit, title];
    this.chart?.setUnit(unit, title);
  }

  setLines(prices: readonly number[]): void {
    this.linePrices = prices;
    this.chart?.setLines(prices);
  }

  setMarks(marks: readonly TradeMark[]): void {
    this.marks = marks;
    this.chart?.setMarks(marks);
  }

  lines(): readonly StudyLine[] {
    return this.chart?.lines() ?? [];
  }

  showNewest(): void {
    this.chart?.showNewest();
  }

  pan(bars: number): void {
    this.chart?.pan(bars);
  }

  zoom(barFactor: number): void {
    this.chart?.zoom(barFactor);
  }

  showOldest(): void {
    this.chart?.showOldest();
  }

  countVisibleBars(): number {
    return this.chart?.countVisibleBars() ?? 0;
  }

  picture(): HTMLCanvasElement {
    return (this.chart ??= this.createChart()).picture();
  }

  private createChart(): CandleChart {
    const { options, canvas, legend, settings } = this;
    const chart = createCandleChart({ ...options, canvas, legend, settings });
    if (this.unitAndTitle !== null) chart.setUnit(...this.unitAndTitle);
    chart.setLines(this.linePrices);
    chart.setMarks(this.marks);
    return chart;
  }
}
