/**
 * The chart with its controls: timeframe, currency, source of the prices, times without trades, CSV download, and a table
 * for people who cannot use a canvas. Each bar opens at the close of the bar before.
 */
import type { Bar } from '../../wire/ticks';
import type { App } from '../core/app.ts';
import { failureText, type Query } from '../core/api.ts';
import { createBarFeed, type BarFeed } from './barFeed.ts';
import { toCsv } from './barSeries.ts';
import { createCandleChart, type CandleChart } from './candleChart.ts';
import { button, h, segments } from '../core/dom.ts';
import { formatPrice, formatTime, formatUsd } from '../core/format.ts';
import { emptyNotice, failureNotice } from '../core/panel.ts';
import { retryWhenBack } from '../core/recovery.ts';

export const TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
export type Timeframe = (typeof TIMEFRAMES)[number];

interface Choice<C extends string> {
  readonly timeframe: Timeframe;
  readonly currency: C;
  /** Null for bars with one source. */
  readonly source: string | null;
}

interface ChartPanelOptions<C extends string> {
  readonly app: App;
  /** API path of the bars, such as `/pairs/0x…/ticks`. */
  readonly path: string;
  readonly fileName: string;
  readonly currencies: readonly (readonly [value: C, label: string])[];
  readonly timeframe: Timeframe;
  readonly currency: C;
  /** Sources of the prices (parameter `source`) to choose from, the default first; empty for bars with one source. */
  readonly sources?: readonly (readonly [value: string, label: string])[];
  /** The source shown first. */
  readonly source?: string;
  /** The query of the bars in a currency. */
  readonly queryOf: (currency: C) => Query;
  readonly emptyText: string;
  readonly signal: AbortSignal;
  /** Called with the selection, which the view writes into the address bar. */
  readonly onchoice: (choice: Choice<C>) => void;
}

export interface ChartPanel {
  readonly element: HTMLElement;
  touch(): void;
  doubt(): void;
}

/** Number of rows in the table of bars. */
const TABLE_ROWS = 200;

export function createChartPanel<C extends string>(options: ChartPanelOptions<C>): ChartPanel {
  return new Panel(options);
}

const QUIET = { class: 'button quiet' };

class Panel<C extends string> implements ChartPanel {
  readonly element: HTMLElement;
  private readonly options: ChartPanelOptions<C>;
  private readonly chart: CandleChart;
  private readonly cover = h('div', { class: 'chart-cover' });
  private readonly table = h('div', {
    class: 'chart-table',
    hidden: true,
    tabindex: 0,
    'aria-label': 'Bars',
  });
  private readonly count = h('span', { class: 'chart-count', role: 'status' });
  private readonly older = button('Older', () => this.feed?.older(), {
    ...QUIET,
    title: 'Load older bars',
  });
  private timeframe: Timeframe;
  private currency: C;
  private source: string | null;
  /** Whether times without trades have flat bars. */
  private fills = false;
  private feed: BarFeed | null = null;
  private life: AbortController | null = null;

  constructor(options: ChartPanelOptions<C>) {
    this.options = options;
    this.timeframe = options.timeframe;
    this.currency = options.currency;
    this.source = options.source ?? options.sources?.[0]?.[0] ?? null;
    this.chart = createCandleChart({ signal: options.signal, onleft: () => this.feed?.older() });
    this.chart.element.append(this.cover, this.table);
    this.element = h('section', { class: 'card chart-card' }, this.controls(), this.chart.element);
    this.start();
  }

  touch(): void {
    this.feed?.touch();
  }

  doubt(): void {
    this.feed?.doubt();
  }

  private controls(): HTMLElement {
    const timeframes = segments<Timeframe>({
      label: 'Timeframe',
      values: TIMEFRAMES.map((value) => [value, value] as const),
      value: this.timeframe,
      onchange: (timeframe) => this.choose({ timeframe }),
    });
    const currencies = segments<C>({
      label: 'Currency',
      values: this.options.currencies,
      value: this.currency,
      onchange: (currency) => this.choose({ currency }),
    });
    const fill = button('Fill', () => this.toggleFill(fill), {
      ...QUIET,
      'aria-pressed': 'false',
      title: 'Show times without trades as flat bars',
    });
    const tableButton = button('Table', () => this.toggleTable(tableButton), {
      ...QUIET,
      'aria-pressed': 'false',
      title: 'Show the bars as a table',
    });
    const csv = button('CSV', () => this.download(), { ...QUIET, title: 'Download the loaded bars as CSV' });
    const spring = h('span', { class: 'spring' });
    return h(
      'div',
      { class: 'chart-bar' },
      timeframes,
      currencies,
      this.sources(),
      spring,
      this.count,
      this.older,
      fill,
      tableButton,
      csv,
    );
  }

  private sources(): HTMLElement | false {
    const { sources = [] } = this.options;
    if (sources.length === 0) return false;
    return segments<string>({
      label: 'Source of the prices',
      values: sources,
      value: this.source ?? '',
      onchange: (source) => this.choose({ source }),
    });
  }

  private choose(changed: Partial<Choice<C>>): void {
    const { timeframe = this.timeframe, currency = this.currency, source = this.source } = changed;
    this.timeframe = timeframe;
    this.currency = currency;
    this.source = source;
    this.options.onchoice({ timeframe, currency, source });
    this.start();
  }

  private toggleFill(fill: HTMLElement): void {
    this.fills = !this.fills;
    fill.setAttribute('aria-pressed', String(this.fills));
    this.start();
  }

  private start(): void {
    this.life?.abort();
    const own = new AbortController();
    this.life = own;
    this.cover.hidden = false;
    this.cover.replaceChildren('Loading bars …');
    this.chart.element.dataset['state'] = 'loading';
    this.feed = createBarFeed({
      path: this.options.path,
      query: {
        timeframe: this.timeframe,
        continuous: true,
        fill: this.fills,
        source: this.source,
        ...this.options.queryOf(this.currency),
      },
      signal: AbortSignal.any([own.signal, this.options.signal]),
      onbars: (bars, isNew) => this.show(bars, isNew),
      onfailure: (error) => this.fail(error),
      onolder: (state) => this.tellOlder(state),
    });
  }

  private show(bars: readonly Bar[], isNew: boolean): void {
    this.cover.hidden = bars.length > 0;
    if (bars.length === 0) this.cover.replaceChildren(emptyNotice(this.options.emptyText));
    this.chart.draw(bars, isNew);
    if (!this.table.hidden) this.table.replaceChildren(barTable(bars));
    const { dataset } = this.chart.element;
    dataset['bars'] = String(bars.length);
    dataset['first'] = String(bars[0]?.time ?? '');
    dataset['last'] = String(bars.at(-1)?.time ?? '');
  }

  private fail(error: unknown): void {
    if ((this.feed?.bars().length ?? 0) > 0) return;
    this.chart.element.dataset['state'] = 'failed';
    this.cover.replaceChildren(failureNotice(failureText(error), () => this.start()));
    if (this.life !== null) retryWhenBack(error, () => this.start(), this.life.signal);
  }

  private tellOlder(state: 'loading' | 'more' | 'all'): void {
    this.chart.element.dataset['state'] = state;
    this.older.disabled = state !== 'more';
    const bars = this.feed?.bars().length ?? 0;
    const words = { loading: `${bars} bars, loading older …`, more: `${bars} bars`, all: `all ${bars} bars` };
    this.count.textContent = bars === 0 ? '' : words[state];
  }

  private toggleTable(tableButton: HTMLElement): void {
    this.table.hidden = !this.table.hidden;
    tableButton.setAttribute('aria-pressed', String(!this.table.hidden));
    if (!this.table.hidden) this.table.replaceChildren(barTable(this.feed?.bars() ?? []));
  }

  private download(): void {
    const { timeframe, currency } = this;
    download(this.feed?.bars() ?? [], `${this.options.fileName}-${timeframe}-${currency}.csv`);
  }
}

function barTable(bars: readonly Bar[]): HTMLElement {
  const names = ['Time (UTC)', 'Open', 'High', 'Low', 'Close', 'Volume', 'Trades'];
  const rows = bars.slice(-TABLE_ROWS).reverse();
  const cells = (bar: Bar): string[] => [
    formatTime(bar.time).slice(0, 16),
    formatPrice(bar.open),
    formatPrice(bar.high),
    formatPrice(bar.low),
    formatPrice(bar.close),
    formatUsd(bar.volume_usd),
    String(bar.trades),
  ];
  return h(
    'table',
    { class: 'data plain' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...names.map((name, index) => h('th', { scope: 'col', class: index === 0 ? 'left' : null }, name)),
      ),
    ),
    h(
      'tbody',
      {},
      ...rows.map((bar) =>
        h(
          'tr',
          {},
          ...cells(bar).map((text, index) => h('td', { class: index === 0 ? 'left' : null }, text)),
        ),
      ),
    ),
  );
}

function download(bars: readonly Bar[], name: string): void {
  const url = URL.createObjectURL(new Blob([toCsv(bars)], { type: 'text/csv' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
