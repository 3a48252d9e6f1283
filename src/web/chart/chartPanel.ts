/**
 * The chart with its controls: timeframe, currency, source of the prices, times without trades, indicators, lines,
 * markers, downloads, and a table for people who cannot use a canvas.
 */
import { TIMEFRAME_SECONDS, TIMEFRAMES, type Timeframe } from '../../domain/timeframes.ts';
import type { ActivityItem } from '../../wire/activity';
import type { Bar } from '../../wire/ticks';
import { failureText } from '../core/api.ts';
import { button, h, segments, showIn } from '../core/dom.ts';
import { emptyNotice, failureNotice } from '../core/panel.ts';
import { retryWhenBack } from '../core/recovery.ts';
import { createBarFeed, type BarFeed } from './barFeed.ts';
import { toCsv, type BarColumn } from './barSeries.ts';
import { barTable } from './barTable.ts';
import type { ChartPanel, ChartPanelOptions, Choice } from './chartOptions.ts';
import { isPrice, LINES_MAX, type ChartLines, type ChartSettings } from './chartSettings.ts';
import { LateChart } from './lateChart.ts';
import { MakerMarks } from './makerMarks.ts';
import { loadLines, loadSettings, saveLines, saveSettings } from './storedSettings.ts';
import { isPeriodCut } from './study/indicators.ts';
import type { StudiedBars } from './study/studies.ts';
import { pressKey } from './tools/chartKeys.ts';
import { downloadBlob, downloadPicture } from './tools/download.ts';
import { fullScreenButton } from './tools/fullScreen.ts';
import { invertButton } from './tools/invertButton.ts';
import { menuButton } from './tools/menuButton.ts';
import { indicatorMenu, lineList, lookSections, makerField } from './tools/settingsMenu.ts';

export function createChartPanel<C extends string>(options: ChartPanelOptions<C>): ChartPanel {
  return new Panel(options);
}

const QUIET = { class: 'button quiet' };
const TOGGLE = { ...QUIET, 'aria-pressed': 'false' };

class Panel<C extends string> implements ChartPanel {
  readonly element: HTMLElement;
  private readonly options: ChartPanelOptions<C>;
  private readonly chart: LateChart;
  private readonly cover = h('div', { class: 'chart-cover' });
  private readonly table = h('div', {
    class: 'chart-table',
    hidden: true,
    tabindex: 0,
    'aria-label': 'Bars',
  });
  private readonly count = h('span', { class: 'chart-count', role: 'status' });
  private readonly olderButton = button('Older', () => this.feed?.older(), {
    ...QUIET,
    title: 'Load older bars',
  });
  private readonly newest = button('Latest', () => this.chart.showNewest(), {
    class: 'button chart-newest',
    title: 'Go to the latest bar',
    hidden: true,
  });
  private readonly placing = button('Line', () => this.setPlacing(!this.isPlacing), {
    ...TOGGLE,
    title: 'Draw a horizontal line: click on the chart',
  });
  private readonly lineList = lineList((prices) => this.setLines(prices));
  private readonly makerField: HTMLElement;
  private readonly showMaker: (maker: string | null) => void;
  private readonly makerMarks: MakerMarks;
  private isPlacing = false;
  private settings: ChartSettings = loadSettings();
  private lines: ChartLines;
  private choice: Choice<C>;
  /** Whether times without trades have flat bars. */
  private fills = false;
  private feed: BarFeed | null = null;
  private life: AbortController | null = null;
  private studied: StudiedBars = { bars: [], barSeconds: 60, isWhole: true };

  constructor(options: ChartPanelOptions<C>) {
    this.options = options;
    const { timeframe, currency, maker, path, signal } = options;
    this.choice = { timeframe, currency, maker, source: options.source ?? options.sources?.[0]?.[0] ?? null };
    this.lines = loadLines(path);
    const field = makerField(maker, (chosen) => this.choose({ maker: chosen }));
    this.makerField = field.element;
    this.showMaker = field.show;
    this.chart = new LateChart({
      settings: this.settings,
      onleft: () => this.feed?.older(),
      onnewest: (isShown) => void (this.newest.hidden = isShown),
      onprice: (price) => this.placeLine(price),
      signal,
    });
    this.makerMarks = new MakerMarks({
      filter: options.trades.filter,
      onmarks: (marks, text) => {
        this.chart.setMarks(marks);
        field.tell(text);
        this.afterDraw();
      },
      signal,
    });
    this.chart.element.append(this.newest, this.cover, this.table);
    this.chart.canvas.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.setPlacing(false);
      else if (!event.ctrlKey && !event.metaKey && !event.altKey && pressKey(this.chart, event))
        event.preventDefault();
    });
    this.element = h('section', { class: 'card chart-card' }, this.controls(), this.chart.element);
    this.start();
  }

  touch(): void {
    this.feed?.touch();
  }

  doubt(): void {
    this.feed?.doubt();
    this.makerMarks.doubt();
  }

  see(item: ActivityItem): void {
    this.makerMarks.see(item);
  }

  toggleMaker(maker: string): void {
    this.choose({ maker: this.choice.maker === maker ? null : maker });
    if (this.choice.maker !== null) this.element.scrollIntoView({ block: 'nearest' });
  }

  private controls(): HTMLElement {
    const { options } = this;
    const timeframes = segments<Timeframe>({
      label: 'Timeframe',
      values: TIMEFRAMES.map((value) => [value, value] as const),
      value: this.choice.timeframe,
      onchange: (timeframe) => this.choose({ timeframe }),
    });
    const currencies = segments<C>({
      label: 'Currency',
      values: options.currencies,
      value: this.choice.currency,
      onchange: (currency) => this.choose({ currency }),
    });
    const spring = h('span', { class: 'spring' });
    const tools = this.tools(currencies).filter((tool): tool is HTMLElement => tool !== false);
    return h(
      'div',
      { class: 'chart-bar' },
      timeframes,
      currencies,
      this.sources(),
      spring,
      this.count,
      ...tools,
    );
  }

  private tools(currencies: HTMLElement): (HTMLElement | false)[] {
    const { options } = this;
    const { signal } = options;
    const settings = {
      get: () => this.settings,
      set: (changed: Partial<ChartSettings>) => this.setLook(changed),
    };
    const fill = button('Fill', () => this.toggleFill(fill), {
      ...TOGGLE,
      title: 'Show times without trades as flat bars',
    });
    const tableButton = button('Table', () => this.toggleTable(tableButton), {
      ...TOGGLE,
      title: 'Show the bars as a table',
    });
    return [
      options.inverse !== undefined && invertButton(currencies, options.inverse, () => this.choice.currency),
      this.olderButton,
      fill,
      indicatorMenu(settings, signal),
      menuButton(
        'Settings',
        'Settings of the chart',
        [this.lineList.element, this.makerField],
        () => lookSections(settings),
        signal,
      ),
      this.placing,
      tableButton,
      button('CSV', () => this.download(), {
        ...QUIET,
        title:
          'Download the loaded bars as CSV. If the column continuous is 1, open, high and low include the last close',
      }),
      button('PNG', () => this.downloadPicture(), { ...QUIET, title: 'Download a picture of the chart' }),
      fullScreenButton(() => this.element, signal),
    ];
  }

  private sources(): HTMLElement | false {
    const { sources = [] } = this.options;
    if (sources.length === 0) return false;
    return segments<string>({
      label: 'Source of the prices',
      values: sources,
      value: this.choice.source ?? '',
      onchange: (source) => this.choose({ source }),
    });
  }

  private choose(changed: Partial<Choice<C>>): void {
    this.choice = { ...this.choice, ...changed };
    this.options.onchoice(this.choice);
    if (changed.maker === undefined) this.start();
    else this.follow();
  }

  private toggleFill(fill: HTMLElement): void {
    this.fills = !this.fills;
    fill.setAttribute('aria-pressed', String(this.fills));
    this.start();
  }

  private setLook(changed: Partial<ChartSettings>): void {
    this.settings = { ...this.settings, ...changed };
    saveSettings(this.settings);
    this.chart.setLook(this.settings);
    if (changed.continuous === undefined) this.afterDraw();
    else this.start();
  }

  private setPlacing(isPlacing: boolean): void {
    this.isPlacing = isPlacing;
    this.placing.setAttribute('aria-pressed', String(isPlacing));
    this.chart.element.classList.toggle('is-placing', isPlacing);
  }

  private placeLine(price: number): void {
    if (!this.isPlacing) return;
    this.setPlacing(false);
    this.setLines([...this.ownLines(), Number(price.toPrecision(6))]);
  }

  private ownLines(): readonly number[] {
    return this.lines[this.choice.currency] ?? [];
  }

  /** The lines of the shown currency. */
  private setLines(prices: readonly number[]): void {
    const linePrices = prices.filter(isPrice).slice(0, LINES_MAX);
    // Another tab may have changed the lines of another currency.
    this.lines = { ...loadLines(this.options.path), [this.choice.currency]: linePrices };
    saveLines(this.options.path, this.lines);
    this.showLines();
  }

  private showLines(): void {
    this.chart.setLines(this.ownLines());
    this.lineList.show(this.ownLines());
  }

  private start(): void {
    this.life?.abort();
    const controller = new AbortController();
    this.life = controller;
    this.cover.hidden = false;
    this.cover.replaceChildren('Loading bars …');
    this.chart.element.dataset['state'] = 'loading';
    const { timeframe, currency, source } = this.choice;
    this.chart.setUnit(this.options.unitOf(currency), this.title());
    this.showLines();
    this.feed = createBarFeed({
      path: this.options.path,
      query: {
        timeframe,
        continuous: this.settings.continuous,
        fill: this.fills,
        source,
        ...this.options.queryOf(currency),
      },
      signal: AbortSignal.any([controller.signal, this.options.signal]),
      onbars: (bars, { isNew, isWhole }) => this.show(bars, isNew, isWhole),
      onfailure: (error) => this.fail(error),
      onolder: (state) => this.tellOlder(state),
    });
    this.follow();
  }

  private follow(): void {
    const { maker, currency } = this.choice;
    this.showMaker(maker);
    this.makerMarks.follow(maker, this.options.trades.frameOf(currency));
  }

  private show(bars: readonly Bar[], isNew: boolean, isWhole: boolean): void {
    this.cover.hidden = bars.length > 0;
    if (bars.length === 0) this.cover.replaceChildren(emptyNotice(this.options.emptyText));
    this.studied = { bars, barSeconds: TIMEFRAME_SECONDS[this.choice.timeframe], isWhole };
    this.chart.draw(this.studied, isNew);
    this.makerMarks.setBars(this.studied);
    const { dataset } = this.chart.element;
    dataset['bars'] = String(bars.length);
    dataset['first'] = String(bars[0]?.time ?? '');
    dataset['last'] = String(bars.at(-1)?.time ?? '');
  }

  /** Follows each change of bars, indicators and marks. */
  private afterDraw(): void {
    const { bars, barSeconds, isWhole } = this.studied;
    if (!this.table.hidden) this.fillTable();
    // The VWAP of the newest bar needs all bars of its day or month.
    if (this.settings.studies.includes('vwap') && !isWhole && isPeriodCut(bars, barSeconds))
      this.feed?.older();
  }

  private fail(error: unknown): void {
    if ((this.feed?.bars().length ?? 0) > 0) return;
    this.chart.element.dataset['state'] = 'failed';
    this.cover.replaceChildren(failureNotice(failureText(error), () => this.start()));
    if (this.life !== null) retryWhenBack(error, () => this.start(), this.life.signal);
  }

  private tellOlder(state: 'loading' | 'more' | 'all'): void {
    this.chart.element.dataset['state'] = state;
    this.olderButton.disabled = state !== 'more';
    const bars = this.feed?.bars().length ?? 0;
    const words = { loading: `${bars} bars, loading older …`, more: `${bars} bars`, all: `all ${bars} bars` };
    this.count.textContent = bars === 0 ? '' : words[state];
  }

  private toggleTable(tableButton: HTMLElement): void {
    this.table.hidden = !this.table.hidden;
    tableButton.setAttribute('aria-pressed', String(!this.table.hidden));
    if (!this.table.hidden) this.fillTable();
  }

  private fillTable(): void {
    const content = {
      bars: this.studied.bars,
      lines: this.chart.lines(),
      marks: this.makerMarks.shown(),
      unit: this.options.unitOf(this.choice.currency),
      zone: this.settings.zone,
    };
    showIn(this.table, barTable(content));
  }

  private title(): string {
    const { token, currency } = this.options.unitOf(this.choice.currency);
    return `${token} in ${currency}, ${this.choice.timeframe}`;
  }

  private fileName(ending: string): string {
    const { timeframe, currency } = this.choice;
    return `${this.options.fileName}-${timeframe}-${currency}.${ending}`;
  }

  private download(): void {
    const { bars } = this.studied;
    const continuous = { column: 'continuous', values: bars.map(() => Number(this.settings.continuous)) };
    const columns: readonly BarColumn[] = [continuous, ...this.chart.lines(), ...this.makerMarks.columns()];
    downloadBlob(new Blob([toCsv(bars, columns)], { type: 'text/csv' }), this.fileName('csv'));
  }

  private downloadPicture(): void {
    const last = this.studied.bars.at(-1);
    const at = last === undefined ? '' : `, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    downloadPicture(this.chart.picture(), `${this.title()}${at} · Candlehouse`, this.fileName('png'));
  }
}
