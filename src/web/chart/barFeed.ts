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
  /** Reloads the last bars after a short pause, because of an event. */
  reloadLastSoon(): void;
  /** Reloads the whole newest page, because a reorg may have replaced the shown bars. */
  reloadNewest(): void;
  /** Loads the page before the first bar. */
  requestOlder(): void;
  bars(): readonly Bar[];
}

const PAGE_BARS = 300;
const LAST_PAGE_BARS = 2;
/** Pause in ms after an event, because events come in bursts, once per block. */
const EVENT_PAUSE_MS = 250;
/** Pause in ms after a failed request. */
const RETRY_MS = 3_000;
const STEPS = ['newest', 'last', 'older'] as const;

export function createBarFeed(options: BarFeedOptions): BarFeed {
  return new Feed(options);
}

type Step = (typeof STEPS)[number];

class Feed implements BarFeed {
  private readonly options: BarFeedOptions;
  private readonly waitingSteps: Record<Step, boolean> = { newest: true, last: false, older: false };
  private series: BarSeries = NO_BARS;
  private isLoaded = false;
  private isWorking = false;
  private workTimer = 0;

  constructor(options: BarFeedOptions) {
    this.options = options;
    options.signal.addEventListener('abort', () => clearTimeout(this.workTimer));
    void this.work();
  }

  reloadLastSoon(): void {
    this.waitingSteps.last = true;
    this.workAfter(EVENT_PAUSE_MS);
  }

  reloadNewest(): void {
    this.waitingSteps.newest = true;
    void this.work();
  }

  requestOlder(): void {
    if (this.waitingSteps.older || this.series.nextTo === null) return;
    this.waitingSteps.older = true;
    void this.work();
  }

  bars(): readonly Bar[] {
    return this.series.bars;
  }

  private workAfter(milliseconds: number): void {
    if (this.workTimer !== 0) return;
    this.workTimer = window.setTimeout(() => {
      this.workTimer = 0;
      void this.work();
    }, milliseconds);
  }

  /** Runs the waiting steps one after the other until no step waits. */
  private async work(): Promise<void> {
    const { signal } = this.options;
    if (this.isWorking || signal.aborted) return;
    this.isWorking = true;
    try {
      // Events may arrive faster than answers, so the loop may not end for a long time.
      for (let step = this.nextStep(); step !== null; step = this.nextStep()) {
        await this.runStep(step);
        this.options.onolder(this.olderState());
      }
    } catch (error) {
      if (!signal.aborted) this.reportFailure(error);
    } finally {
      this.isWorking = false;
    }
  }

  /** The user retries the first page by hand; later changes retry automatically. */
  private reportFailure(error: unknown): void {
    this.waitingSteps.older = false;
    this.options.onfailure(error);
    if (!this.isLoaded) return;
    this.options.onolder(this.olderState());
    this.workAfter(RETRY_MS);
  }

  /** Older bars may be wanted while the last bars load. */
  private olderState(): 'loading' | 'more' | 'all' {
    if (this.series.nextTo === null) return 'all';
    return this.waitingSteps.older ? 'loading' : 'more';
  }

  private nextStep(): Step | null {
    // Loading the newest page also loads the last bars, so the last bars need no request of their own.
    if (this.waitingSteps.newest) this.waitingSteps.last = false;
    return STEPS.find((step) => this.waitingSteps[step]) ?? null;
  }

  /** A failed step stays in the list and is repeated, so that an uncertain bar does not stay on the
   * screen. */
  private async runStep(step: Step): Promise<void> {
    this.waitingSteps[step] = false;
    try {
      if (step === 'newest') await this.loadNewest();
      else if (step === 'last') await this.loadLast();
      else await this.loadOlder();
    } catch (error) {
      this.waitingSteps[step] = true;
      throw error;
    }
  }

  private async loadNewest(): Promise<void> {
    const page = await this.readPage({ limit: PAGE_BARS });
    const isNew = !this.isLoaded;
    this.isLoaded = true;
    this.series = (isNew ? null : withNewest(this.series, page)) ?? fromPage(page);
    this.reportBars(isNew);
  }

  private async loadLast(): Promise<void> {
    const updatedSeries = withNewest(this.series, await this.readPage({ limit: LAST_PAGE_BARS }));
    if (updatedSeries === null) {
      this.waitingSteps.newest = true;
      return;
    }
    this.series = updatedSeries;
    this.reportBars(false);
  }

  private async loadOlder(): Promise<void> {
    const { nextTo } = this.series;
    if (nextTo === null) return;
    this.options.onolder('loading');
    this.series = withOlder(this.series, await this.readPage({ limit: PAGE_BARS, to: nextTo }));
    this.reportBars(false);
  }

  private reportBars(isNew: boolean): void {
    const { bars, nextTo } = this.series;
    this.options.onbars(bars, { isNew, isWhole: nextTo === null });
  }

  private readPage(query: Query): Promise<BarPage> {
    const { path, signal } = this.options;
    return getAnswer<BarPage>(path, { ...this.options.query, ...query }, signal);
  }
}
