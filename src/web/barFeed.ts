/**
 * Keeps a series of bars right: loads the newest page, pages back by `to`, and after each event asks for the last bars
 * again. One call at a time, so that an older answer can never overwrite a newer one.
 */
import type { Bar } from '../wire/ticks';
import { getAnswer, type Query } from './api.ts';
import { fromPage, NO_BARS, withNewest, withOlder, type BarPage, type BarSeries } from './barSeries.ts';

export interface BarFeedOptions {
  /** `/pairs/0x…/ticks` */
  readonly path: string;
  /** Timeframe and currency. */
  readonly query: Query;
  readonly signal: AbortSignal;
  /** After each change; `isNew` for the first page. */
  readonly onbars: (bars: readonly Bar[], isNew: boolean) => void;
  /** Nothing could be loaded, or (with no reason) there is no bar. */
  readonly onfailure: (error: unknown) => void;
  /** Whether there is more on the left, and whether it is being loaded. */
  readonly onolder: (state: 'loading' | 'more' | 'all') => void;
}

export interface BarFeed {
  /** Something happened: the last bars are asked for again, soon. */
  touch(): void;
  /** What was shown may be void: the whole newest page is asked for again. */
  doubt(): void;
  /** Loads the page before the first bar. */
  older(): void;
  bars(): readonly Bar[];
}

const PAGE_BARS = 300;
const LAST_BARS = 2;
/** Events come in bursts, a block at a time. */
const TOUCH_MS = 250;
/** After a call that failed. */
const RETRY_MS = 3_000;
const STEPS = ['newest', 'last', 'older'] as const;

export function createBarFeed(options: BarFeedOptions): BarFeed {
  return new Feed(options);
}

type Step = (typeof STEPS)[number];

class Feed implements BarFeed {
  private readonly options: BarFeedOptions;
  private readonly wanted: Record<Step, boolean> = { newest: true, last: false, older: false };
  private series: BarSeries = NO_BARS;
  private isLoaded = false;
  private isBusy = false;
  private timer = 0;

  constructor(options: BarFeedOptions) {
    this.options = options;
    options.signal.addEventListener('abort', () => clearTimeout(this.timer));
    void this.work();
  }

  touch(): void {
    this.wanted.last = true;
    this.workIn(TOUCH_MS);
  }

  doubt(): void {
    this.wanted.newest = true;
    void this.work();
  }

  older(): void {
    if (this.wanted.older || this.series.nextTo === null) return;
    this.wanted.older = true;
    void this.work();
  }

  bars(): readonly Bar[] {
    return this.series.bars;
  }

  private workIn(milliseconds: number): void {
    if (this.timer !== 0) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void this.work();
    }, milliseconds);
  }

  /** Does what is wanted, one call after the other, until nothing is. */
  private async work(): Promise<void> {
    const { signal } = this.options;
    if (this.isBusy || signal.aborted) return;
    this.isBusy = true;
    try {
      for (let name = this.next(); name !== null; name = this.next()) await this.step(name);
      this.options.onolder(this.series.nextTo === null ? 'all' : 'more');
    } catch (error) {
      if (!signal.aborted) this.giveUp(error);
    } finally {
      this.isBusy = false;
    }
  }

  /** The first page is asked for again by hand, what changed since by itself. */
  private giveUp(error: unknown): void {
    this.wanted.older = false;
    this.options.onfailure(error);
    if (!this.isLoaded) return;
    this.options.onolder(this.series.nextTo === null ? 'all' : 'more');
    this.workIn(RETRY_MS);
  }

  private next(): Step | null {
    // A whole page holds the last bars too.
    if (this.wanted.newest) this.wanted.last = false;
    return STEPS.find((name) => this.wanted[name]) ?? null;
  }

  /** A step that fails stays wanted: a bar in doubt must not stay on the screen for good. */
  private async step(name: Step): Promise<void> {
    this.wanted[name] = false;
    try {
      if (name === 'newest') await this.loadNewest();
      else if (name === 'last') await this.loadLast();
      else await this.loadOlder();
    } catch (error) {
      this.wanted[name] = true;
      throw error;
    }
  }

  private async loadNewest(): Promise<void> {
    const page = await this.ask({ limit: PAGE_BARS });
    const isNew = !this.isLoaded;
    this.isLoaded = true;
    this.series = (isNew ? null : withNewest(this.series, page)) ?? fromPage(page);
    this.options.onbars(this.series.bars, isNew);
  }

  private async loadLast(): Promise<void> {
    const next = withNewest(this.series, await this.ask({ limit: LAST_BARS }));
    if (next === null) {
      this.wanted.newest = true;
      return;
    }
    this.series = next;
    this.options.onbars(next.bars, false);
  }

  private async loadOlder(): Promise<void> {
    const { nextTo } = this.series;
    if (nextTo === null) return;
    this.options.onolder('loading');
    this.series = withOlder(this.series, await this.ask({ limit: PAGE_BARS, to: nextTo }));
    this.options.onbars(this.series.bars, false);
  }

  private ask(query: Query): Promise<BarPage> {
    const { path, signal } = this.options;
    return getAnswer<BarPage>(path, { ...this.options.query, ...query }, signal);
  }
}
