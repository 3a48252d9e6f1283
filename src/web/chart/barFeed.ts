/**
 * Keeps a series of bars up to date: loads the newest page, loads older pages by the parameter `to`, and
 * reloads the last bars after each event. Only one request runs at a time, so an older answer can never
 * overwrite a newer one.
 */
import type { Bar } from '../../wire/ticks';
import { getAnswer, type Query } from '../core/api.ts';
import { fromPage, NO_BARS, withNewest, withOlder, type BarPage, type BarSeries } from './barSeries.ts';

interface BarFeedOptions {
  /** API path of the bars, such as `/pairs/0x…/ticks`. */
  readonly path: string;
  /** Timeframe and currency. */
  readonly query: Query;
  readonly signal: AbortSignal;
  /** Called after each change. `isNew` is true for the first page, `isWhole` if there are no older bars. */
  readonly onbars: (
    bars: readonly Bar[],
    page: { readonly isNew: boolean; readonly isWhole: boolean },
  ) => void;
  /** Called if loading failed, or without an error if there is no bar. */
  readonly onfailure: (error: unknown) => void;
  /** Whether older bars exist (`all`: none do), and whether they are being loaded. */
  readonly onolder: (state: 'loading' | 'more' | 'all') => void;
}

export interface BarFeed {
  /** Reloads the last bars soon, after an event. */
  touch(): void;
  /** Reloads the whole newest page, because a reorg may have replaced the shown bars. */
  doubt(): void;
  /** Loads the page before the first bar. */
  older(): void;
  bars(): readonly Bar[];
}

const PAGE_BARS = 300;
const LAST_BARS = 2;
/** Pause in ms after an event, because events come in bursts, once per block. */
const TOUCH_MS = 250;
/** Pause in ms after a failed request. */
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

  /** Runs the waiting steps one after the other until no step waits. */
  private async work(): Promise<void> {
    const { signal } = this.options;
    if (this.isBusy || signal.aborted) return;
    this.isBusy = true;
    try {
      // Events may arrive faster than answers, so the loop may not end for a long time.
      for (let name = this.next(); name !== null; name = this.next()) {
        await this.step(name);
        this.options.onolder(this.olderState());
      }
    } catch (error) {
      if (!signal.aborted) this.giveUp(error);
    } finally {
      this.isBusy = false;
    }
  }

  /** The user retries the first page by hand; later changes retry automatically. */
  private giveUp(error: unknown): void {
    this.wanted.older = false;
    this.options.onfailure(error);
    if (!this.isLoaded) return;
    this.options.onolder(this.olderState());
    this.workIn(RETRY_MS);
  }

  /** Older bars may be wanted while the last bars load. */
  private olderState(): 'loading' | 'more' | 'all' {
    if (this.series.nextTo === null) return 'all';
    return this.wanted.older ? 'loading' : 'more';
  }

  private next(): Step | null {
    // Loading the newest page also loads the last bars, so the last bars need no request of their own.
    if (this.wanted.newest) this.wanted.last = false;
    return STEPS.find((name) => this.wanted[name]) ?? null;
  }

  /** A failed step stays in the list and is repeated, so that an uncertain bar does not stay on the
   * screen. */
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
    this.tell(isNew);
  }

  private async loadLast(): Promise<void> {
    const next = withNewest(this.series, await this.ask({ limit: LAST_BARS }));
    if (next === null) {
      this.wanted.newest = true;
      return;
    }
    this.series = next;
    this.tell(false);
  }

  private async loadOlder(): Promise<void> {
    const { nextTo } = this.series;
    if (nextTo === null) return;
    this.options.onolder('loading');
    this.series = withOlder(this.series, await this.ask({ limit: PAGE_BARS, to: nextTo }));
    this.tell(false);
  }

  private tell(isNew: boolean): void {
    const { bars, nextTo } = this.series;
    this.options.onbars(bars, { isNew, isWhole: nextTo === null });
  }

  private ask(query: Query): Promise<BarPage> {
    const { path, signal } = this.options;
    return getAnswer<BarPage>(path, { ...this.options.query, ...query }, signal);
  }
}
