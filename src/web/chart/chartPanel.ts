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
import { indicatorMenu, lineList, appearanceSections, makerField } from './tools/settingsMenu.ts';

export function createChartPanel<C extends string>(options: ChartPanelOptions<C>): ChartPanel {
  return new Panel(options);
}

const QUIET_PROPS = { class: 'button quiet' };
const TOGGLE_PROPS = { ...QUIET_PROPS, 'aria-pressed': 'false' };

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
  private readonly countText = h('span', { class: 'chart-count', role: 'status' });
  private readonly olderButton = button('Older', () => this.feed?.requestOlder(), {
    ...QUIET_PROPS,
    title: 'Load older bars',
  });
  private readonly newestButton = button('Latest', () => this.chart.showNewest(), {
    class: 'button chart-newest',
    title: 'Go to the latest bar',
    hidden: true,
  });
  private readonly lineButton = button('Line', () => this.setPlacingLine(!this.isPlacingLine), {
    ...TOGGLE_PROPS,
    title: 'Draw a horizontal line: click on the chart',
  });
  private readonly lineList = lineList((prices) => this.setLines(prices));
  private readonly makerField: HTMLElement;
  private readonly showMaker: (maker: string | null) => void;
  private readonly makerMarks: MakerMarks;
  private isPlacingLine = false;
  private settings: ChartSettings = loadSettings();
  private lines: ChartLines;
  private choice: Choice<C>;
  /** Whether times without trades have flat bars. */
  private fillsGaps = false;
  private feed: BarFeed | null = null;
  private feedController: AbortController | null = null;
  private studied: StudiedBars = { bars: [], barSeconds: 60, isWhole: true };

  constructor(options: ChartPanelOptions<C>) {
    this.options = options;
    const { timeframe, currency, maker, path, signal } = options;
    this.choice = { timeframe, currency, maker, source: options.source ?? options.sources?.[0]?.[0] ?? null };
    this.lines = loadLines(path);
    const makerInput = makerField(maker, (chosenMaker) => this.choose({ maker: chosenMaker }));
    this.makerField = makerInput.element;
    this.showMaker = makerInput.show;
    this.chart = new LateChart({
      settings: this.settings,
      onleft: () => this.feed?.requestOlder(),
      onnewest: (isShown) => void (this.newestButton.hidden = isShown),
      onprice: (price) => this.placeLine(price),
      signal,
    });
    this.makerMarks = new MakerMarks({
      filter: options.trades.filter,
      onmarks: (marks, text) => {
        this.chart.setMarks(marks);
        makerInput.showStatus(text);
        this.afterDraw();
      },
      signal,
    });
    this.chart.element.append(this.newestButton, this.cover, this.table);
    this.chart.canvas.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.setPlacingLine(false);
      else if (!event.ctrlKey && !event.metaKey && !event.altKey && pressKey(this.chart, event))
        event.preventDefault();
    });
    this.element = h('section', { class: 'card chart-card' }, this.controls(), this.chart.element);
    this.startFeed();
  }

  reloadLastSoon(): void {
    this.feed?.reloadLastSoon();
  }

  reload(): void {
    this.feed?.reloadNewest();
    this.makerMarks.reload();
  }

  addActivity(item: ActivityItem): void {
    this.makerMarks.addActivity(item);
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
    const tools = this.toolButtons(currencies).filter((tool): tool is HTMLElement => tool !== false);
    return h(
      'div',
      { class: 'chart-bar' },
      timeframes,
      currencies,
      this.sources(),
      spring,
      this.countText,
      ...tools,
    );
  }

  private toolButtons(currencies: HTMLElement): (HTMLElement | false)[] {
    const { options } = this;
    const { signal } = options;
    const settings = {
      get: () => this.settings,
      set: (changed: Partial<ChartSettings>) => this.setLook(changed),
    };
    const fillButton = button('Fill', () => this.toggleFill(fillButton), {
      ...TOGGLE_PROPS,
      title: 'Show times without trades as flat bars',
    });
    const tableButton = button('Table', () => this.toggleTable(tableButton), {
      ...TOGGLE_PROPS,
      title: 'Show the bars as a table',
    });
    return [
      options.inverse !== undefined && invertButton(currencies, options.inverse, () => this.choice.currency),
      this.olderButton,
      fillButton,
      indicatorMenu(settings, signal),
      menuButton(
        'Settings',
        'Settings of the chart',
        [this.lineList.element, this.makerField],
        () => appearanceSections(settings),
        signal,
      ),
      this.lineButton,
      tableButton,
      button('CSV', () => this.download(), {
        ...QUIET_PROPS,
        title:
          'Download the loaded bars as CSV. If the column continuous is 1, open, high and low include the last close',
      }),
      button('PNG', () => this.downloadPicture(), {
        ...QUIET_PROPS,
        title: 'Download a picture of the chart',
      }),
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
    if (changed.maker === undefined) this.startFeed();
    else this.followMaker();
  }

  private toggleFill(fillButton: HTMLElement): void {
    this.fillsGaps = !this.fillsGaps;
    fillButton.setAttribute('aria-pressed', String(this.fillsGaps));
    this.startFeed();
  }

  private setLook(changed: Partial<ChartSettings>): void {
    this.settings = { ...this.settings, ...changed };
    saveSettings(this.settings);
    this.chart.setLook(this.settings);
    if (changed.continuous === undefined) this.afterDraw();
    else this.startFeed();
  }

  private setPlacingLine(isPlacingLine: boolean): void {
    this.isPlacingLine = isPlacingLine;
    this.lineButton.setAttribute('aria-pressed', String(isPlacingLine));
    this.chart.element.classList.toggle('is-placing', isPlacingLine);
  }

  private placeLine(price: number): void {
    if (!this.isPlacingLine) return;
    this.setPlacingLine(false);
    this.setLines([...this.currencyLines(), Number(price.toPrecision(6))]);
  }

  private currencyLines(): readonly number[] {
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
    this.chart.setLines(this.currencyLines());
    this.lineList.show(this.currencyLines());
  }

  private startFeed(): void {
    this.feedController?.abort();
    const newController = new AbortController();
    this.feedController = newController;
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
        fill: this.fillsGaps,
        source,
        ...this.options.queryOf(currency),
      },
      signal: AbortSignal.any([newController.signal, this.options.signal]),
      onbars: (bars, { isNew, isWhole }) => this.showBars(bars, isNew, isWhole),
      onfailure: (error) => this.showFailure(error),
      onolder: (state) => this.showOlderState(state),
    });
    this.followMaker();
  }

  private followMaker(): void {
    const { maker, currency } = this.choice;
    this.showMaker(maker);
    this.makerMarks.followMaker(maker, this.options.trades.frameOf(currency));
  }

  private showBars(bars: readonly Bar[], isNew: boolean, isWhole: boolean): void {
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

  /** Runs after each change of bars, indicators and marks. */
  private afterDraw(): void {
    const { bars, barSeconds, isWhole } = this.studied;
    if (!this.table.hidden) this.fillTable();
    // The VWAP of the newest bar needs all bars of its day or month.
    if (this.settings.studies.includes('vwap') && !isWhole && isPeriodCut(bars, barSeconds))
      this.feed?.requestOlder();
  }

  private showFailure(error: unknown): void {
    if ((this.feed?.bars().length ?? 0) > 0) return;
    this.chart.element.dataset['state'] = 'failed';
    this.cover.replaceChildren(failureNotice(failureText(error), () => this.startFeed()));
    if (this.feedController !== null)
      retryWhenBack(error, () => this.startFeed(), this.feedController.signal);
  }

  private showOlderState(state: 'loading' | 'more' | 'all'): void {
    this.chart.element.dataset['state'] = state;
    this.olderButton.disabled = state !== 'more';
    const bars = this.feed?.bars().length ?? 0;
    const countTexts = {
      loading: `${bars} bars, loading older …`,
      more: `${bars} bars`,
      all: `all ${bars} bars`,
    };
    this.countText.textContent = bars === 0 ? '' : countTexts[state];
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
      marks: this.makerMarks.shownMarks(),
      unit: this.options.unitOf(this.choice.currency),
      zone: this.settings.zone,
    };
    showIn(this.table, barTable(content));
  }

  private title(): string {
    const { token, currency } = this.options.unitOf(this.choice.currency);
    return `${token} in ${currency}, ${this.choice.timeframe}`;
  }

  private fileName(extension: string): string {
    const { timeframe, currency } = this.choice;
    return `${this.options.fileName}-${timeframe}-${currency}.${extension}`;
  }

  private download(): void {
    const { bars } = this.studied;
    const continuous = { column: 'continuous', values: bars.map(() => Number(this.settings.continuous)) };
    const columns: readonly BarColumn[] = [continuous, ...this.chart.lines(), ...this.makerMarks.columns()];
    downloadBlob(new Blob([toCsv(bars, columns)], { type: 'text/csv' }), this.fileName('csv'));
  }

  private downloadPicture(): void {
    const lastBar = this.studied.bars.at(-1);
    const timeText =
      lastBar === undefined ? '' : `, ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    downloadPicture(this.chart.picture(), `${this.title()}${timeText} · Candlehouse`, this.fileName('png'));
  }
}
