/**
 * The trades of one maker in the loaded bars, for the markers of the chart. Pages of /activity are loaded back to the
 * first bar, up to a bound; later trades arrive with the stream.
 */
import type { ActivityEntry, ActivityItem } from '../../wire/activity';
import { getAnswer, type Query } from '../core/api.ts';
import { sideOf, type TradeFrame } from '../list/tradeFrame.ts';
import type { MakerTrade } from './tradeMarks.ts';

const PAGE_TRADES = 100;
const TRADES_MAX = 2_000;

interface ActivityPage {
  readonly data: readonly ActivityEntry[];
  readonly meta: { readonly next_cursor: string | null };
}

interface MakerTradesOptions {
  readonly maker: string;
  /** The filter of the chart: `{ pair }` or `{ token }`. */
  readonly filter: Query;
  readonly frame: TradeFrame;
  readonly signal: AbortSignal;
  readonly onchange: () => void;
}

/** `cut` means that the maker has too many trades to load. */
type LoadState = 'loading' | 'done' | 'failed' | 'cut';

export interface MakerTrades {
  trades(): readonly MakerTrade[];
  /** Text of the page about the trades. */
  state(): LoadState;
  /** Loads the trades back to this time. */
  reachBack(to: number): void;
  /** Takes an event of the stream. */
  see(item: ActivityItem): void;
  /** Loads everything again, because a reorg may have removed trades. */
  doubt(): void;
}

export function createMakerTrades(options: MakerTradesOptions): MakerTrades {
  let items = new Map<string, ActivityItem>();
  let cursor: string | null = null;
  let state: LoadState = 'loading';
  let oldestWanted = Infinity;
  /** Counts restarts. An answer of an earlier start is ignored. */
  let start = 0;
  let isBusy = false;

  const oldest = (): number => Math.min(...[...items.values()].map(({ timestamp }) => timestamp));
  const isReached = (): boolean => state === 'done' && (cursor === null || oldest() < oldestWanted);
  const loadPage = async (ownStart: number): Promise<void> => {
    const query = { ...options.filter, maker: options.maker, event_type: 'swap', limit: PAGE_TRADES, cursor };
    const page = await getAnswer<ActivityPage>('/activity', query, options.signal);
    if (ownStart !== start) return;
    for (const item of page.data)
      if (item.event_type === 'swap' && item.maker === options.maker) items.set(item.id, item);
    cursor = page.meta.next_cursor;
    state = items.size >= TRADES_MAX && cursor !== null ? 'cut' : 'done';
    options.onchange();
  };
  const work = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      while (!options.signal.aborted && state !== 'cut' && !isReached()) await loadPage(start);
    } catch {
      if (options.signal.aborted) return;
      state = 'failed';
      options.onchange();
    } finally {
      isBusy = false;
    }
  };

  return {
    trades: () =>
      [...items.values()].flatMap((item) => {
        const side = item.event_type === 'swap' ? sideOf(item, options.frame) : 'swap';
        return side === 'swap' ? [] : [{ at: item.timestamp, side }];
      }),
    state: () => state,
    reachBack(to) {
      oldestWanted = to;
      void work();
    },
    see(item) {
      if (item.event_type !== 'swap' || item.maker !== options.maker) return;
      items.set(item.id, item);
      options.onchange();
    },
    doubt() {
      items = new Map();
      cursor = null;
      state = 'loading';
      start += 1;
      void work();
    },
  };
}
