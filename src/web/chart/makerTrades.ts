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
  /** How far the trades are loaded. */
  state(): LoadState;
  /** Loads the trades back to this time. */
  loadBackTo(time: number): void;
  /** Takes an event of the stream. */
  addActivity(item: ActivityItem): void;
  /** Loads everything again, because a reorg may have removed trades. */
  reload(): void;
}

export function createMakerTrades(options: MakerTradesOptions): MakerTrades {
  let items = new Map<string, ActivityItem>();
  let cursor: string | null = null;
  let state: LoadState = 'loading';
  let oldestWanted = Infinity;
  /** Counts restarts. An answer of an earlier start is ignored. */
  let restarts = 0;
  let isLoading = false;

  const oldestLoaded = (): number => Math.min(...[...items.values()].map(({ timestamp }) => timestamp));
  const isFarEnough = (): boolean => state === 'done' && (cursor === null || oldestLoaded() < oldestWanted);
  const loadPage = async (restartsBefore: number): Promise<void> => {
    const query = { ...options.filter, maker: options.maker, event_type: 'swap', limit: PAGE_TRADES, cursor };
    const page = await getAnswer<ActivityPage>('/activity', query, options.signal);
    if (restartsBefore !== restarts) return;
    for (const item of page.data)
      if (item.event_type === 'swap' && item.maker === options.maker) items.set(item.id, item);
    cursor = page.meta.next_cursor;
    state = items.size >= TRADES_MAX && cursor !== null ? 'cut' : 'done';
    options.onchange();
  };
  const loadPages = async (): Promise<void> => {
    if (isLoading) return;
    isLoading = true;
    try {
      while (!options.signal.aborted && state !== 'cut' && !isFarEnough()) await loadPage(restarts);
    } catch {
      if (options.signal.aborted) return;
      state = 'failed';
      options.onchange();
    } finally {
      isLoading = false;
    }
  };

  return {
    trades: () =>
      [...items.values()].flatMap((item) => {
        const side = item.event_type === 'swap' ? sideOf(item, options.frame) : 'swap';
        return side === 'swap' ? [] : [{ timestamp: item.timestamp, side }];
      }),
    state: () => state,
    loadBackTo(time) {
      oldestWanted = time;
      void loadPages();
    },
    addActivity(item) {
      if (item.event_type !== 'swap' || item.maker !== options.maker) return;
      items.set(item.id, item);
      options.onchange();
    },
    reload() {
      items = new Map();
      cursor = null;
      state = 'loading';
      restarts += 1;
      void loadPages();
    },
  };
}
