/** The marks of one maker's trades on the loaded bars, and what the page says about them. */
import type { ActivityItem } from '../../wire/activity';
import type { Query } from '../core/api.ts';
import type { TradeFrame } from '../list/tradeFrame.ts';
import type { BarColumn } from './barSeries.ts';
import { createMakerTrades, type MakerTrades } from './makerTrades.ts';
import type { StudiedBars } from './study/studies.ts';
import { marksOf, type TradeMark } from './tradeMarks.ts';

interface MakerMarksOptions {
  /** The filter of /activity: `{ pair }` or `{ token }`. */
  readonly filter: Query;
  /** Called with the marks after each change, and with a sentence about them. */
  readonly onmarks: (marks: readonly TradeMark[], text: string) => void;
  readonly signal: AbortSignal;
}

export class MakerMarks {
  private readonly options: MakerMarksOptions;
  private studied: StudiedBars = { bars: [], barSeconds: 60, isWhole: true };
  private trades: MakerTrades | null = null;
  private tradesController: AbortController | null = null;
  private marks: readonly TradeMark[] = [];

  constructor(options: MakerMarksOptions) {
    this.options = options;
  }

  /** Follows a maker, with trades as seen from the token of the frame; null follows nobody. */
  followMaker(maker: string | null, frame: TradeFrame): void {
    this.tradesController?.abort();
    const newController = new AbortController();
    this.tradesController = newController;
    const signal = AbortSignal.any([newController.signal, this.options.signal]);
    const { filter } = this.options;
    this.trades =
      maker === null
        ? null
        : createMakerTrades({ maker, filter, frame, signal, onchange: () => this.updateMarks() });
    this.setBars(this.studied);
  }

  /** Loads the trades back to the first of these bars. */
  setBars(studied: StudiedBars): void {
    this.studied = studied;
    this.updateMarks();
    const [firstBar] = studied.bars;
    if (firstBar !== undefined) this.trades?.loadBackTo(firstBar.time);
  }

  addActivity(item: ActivityItem): void {
    this.trades?.addActivity(item);
  }

  /** Loads all trades again: a reorg may have removed some, or the stream may have lost some. */
  reload(): void {
    this.trades?.reload();
  }

  /** The marks; null if no maker is chosen. */
  shownMarks(): readonly TradeMark[] | null {
    return this.trades === null ? null : this.marks;
  }

  /** Buys and sells of the maker in each bar. */
  columns(): BarColumn[] {
    if (this.trades === null) return [];
    return (['buy', 'sell'] as const).map((side) => {
      const sideMarks = this.marks.filter((mark) => mark.side === side);
      const counts = new Map(sideMarks.map(({ time, count }) => [time, count]));
      return { column: `maker_${side}s`, values: this.studied.bars.map(({ time }) => counts.get(time) ?? 0) };
    });
  }

  private updateMarks(): void {
    const { bars, barSeconds } = this.studied;
    this.marks = this.trades === null ? [] : marksOf(bars, barSeconds, this.trades.trades());
    this.options.onmarks(this.marks, this.statusText());
  }

  private statusText(): string {
    if (this.trades === null) return '';
    const countTrades = (wantedSide: 'buy' | 'sell'): number =>
      this.marks.reduce((total, { side, count }) => total + (side === wantedSide ? count : 0), 0);
    const doneText = `Buys: ${countTrades('buy')}, sells: ${countTrades('sell')} in the loaded bars.`;
    const texts = {
      loading: 'Loading trades …',
      failed: 'The trades did not load.',
      done: doneText,
      cut: `${doneText} Older trades are not shown.`,
    };
    return texts[this.trades.state()];
  }
}
