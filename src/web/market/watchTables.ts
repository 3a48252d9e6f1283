/** The watchlist of the market page: the watched tokens and pairs, sorted in the browser. */
import type { PairItem, PairsAnswer } from '../../wire/pairs';
import type { TokenItem, TokensAnswer } from '../../wire/tokens';
import { getAnswer } from '../core/api.ts';
import { pairPath, tokenPath } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import { emptyNotice } from '../core/panel.ts';
import { STORED_MAX } from '../core/stored.ts';
import { dataTable, type DataTable, type TablePage, type TableState } from '../list/dataTable.ts';
import { PAIR_COLUMNS, TOKEN_COLUMNS, usualColumns } from '../list/listColumns.ts';
import { exportWatchlist, importWatchlist, onWatchlist, watchlist } from './watchlist.ts';

/** Most addresses of one call of the API. */
const BATCH = 30;

interface WatchTables {
  readonly element: HTMLElement;
  /** Buttons for import and export. */
  readonly tools: HTMLElement;
  refresh(): void;
}

interface WatchOptions {
  readonly tokens: TableState;
  readonly pairs: TableState;
  readonly onstate: (tokens: TableState, pairs: TableState) => void;
  readonly signal: AbortSignal;
}

export function watchTables(options: WatchOptions): WatchTables {
  const { signal } = options;
  let [tokenState, pairState] = [options.tokens, options.pairs];
  const tokens = dataTable<TokenItem>({
    label: 'Watched tokens',
    columns: usualColumns(TOKEN_COLUMNS),
    state: tokenState,
    signal,
    pathOf: ({ address }) => tokenPath(address),
    emptyText: () => 'No watched token',
    onstate: (next) => options.onstate((tokenState = next), pairState),
    load: (state, life) =>
      loadWatched(watchlist().tokens, state, (addresses) =>
        getAnswer<TokensAnswer>('/tokens', { addresses }, life),
      ),
  });
  const pairs = dataTable<PairItem>({
    label: 'Watched pairs',
    columns: usualColumns(PAIR_COLUMNS),
    state: pairState,
    signal,
    pathOf: ({ address }) => pairPath(address),
    emptyText: () => 'No watched pair',
    onstate: (next) => options.onstate(tokenState, (pairState = next)),
    load: (state, life) =>
      loadWatched(watchlist().pairs, state, (addresses) =>
        getAnswer<PairsAnswer>('/pairs', { addresses }, life),
      ),
  });
  const empty = emptyNotice(
    'Nothing is watched yet. Click the star ☆ of a token or a pair, or import a list.',
  );
  const watchedTables = h('div', {}, titled('Tokens', tokens), titled('Pairs', pairs));
  const element = h('div', { class: 'watched' }, empty, watchedTables);
  const show = (): void => {
    const { tokens: some, pairs: others } = watchlist();
    empty.hidden = some.length + others.length > 0;
    watchedTables.hidden = !empty.hidden;
  };
  show();
  onWatchlist(() => {
    show();
    tokens.restart();
    pairs.restart();
  }, signal);
  return {
    element,
    tools: watchTools(),
    refresh() {
      tokens.refresh();
      pairs.refresh();
    },
  };
}

function titled(title: string, table: DataTable): HTMLElement {
  return h('section', {}, h('h2', { class: 'watched-title' }, title), table.element);
}

/** Loads all watched items, sorts them and returns one page of them. */
async function loadWatched<T extends object>(
  addresses: readonly string[],
  { sort, order, page, limit }: TableState,
  read: (addresses: string) => Promise<{ readonly data: readonly T[] }>,
): Promise<TablePage<T>> {
  const batches: Promise<{ readonly data: readonly T[] }>[] = [];
  for (let from = 0; from < addresses.length; from += BATCH)
    batches.push(read(addresses.slice(from, from + BATCH).join(',')));
  const items = (await Promise.all(batches)).flatMap(({ data }) => data);
  const sorted = sort === null ? items : sortItems(items, sort, order);
  const first = (page - 1) * limit;
  const meta = { total: items.length, page, limit, has_next: first + limit < items.length };
  return { data: sorted.slice(first, first + limit), meta };
}

/** Sorts like the API: unknown values last in both orders. */
function sortItems<T extends object>(items: readonly T[], sort: string, order: 'asc' | 'desc'): T[] {
  const sign = order === 'asc' ? 1 : -1;
  return items
    .map((item) => ({ item, key: keyOf(item, sort) }))
    .sort((a, b) => {
      if (a.key === b.key) return 0;
      if (a.key === null) return 1;
      if (b.key === null) return -1;
      return a.key < b.key ? -sign : sign;
    })
    .map(({ item }) => item);
}

function keyOf(item: object, sort: string): number | string | null {
  const value: unknown = Object.hasOwn(item, sort) ? Reflect.get(item, sort) : null;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  return sort === 'symbol' ? value.toLowerCase() : Number(value);
}

function watchTools(): HTMLElement {
  const importStatus = h('span', { class: 'muted', role: 'status' });
  const file = h('input', { type: 'file', accept: '.json,application/json', 'aria-label': 'Watchlist file' });
  file.hidden = true;
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? [];
    if (chosen === undefined) return;
    void readFile(chosen).then((text) => {
      importStatus.textContent = text;
      file.value = '';
    });
  });
  return h(
    'div',
    { class: 'watch-tools' },
    importStatus,
    file,
    button('Import', () => file.click()),
    button('Export', () => saveFile()),
  );
}

async function readFile(file: File): Promise<string> {
  if (file.size > STORED_MAX) return 'The file is too large for a watchlist';
  const imported = importWatchlist(await file.text());
  if (imported === null) return 'The file is no watchlist';
  const { added, refused } = imported;
  return `${added} added${refused === 0 ? '' : `, ${refused} refused`}`;
}

function saveFile(): void {
  const url = URL.createObjectURL(new Blob([exportWatchlist()], { type: 'application/json' }));
  h('a', { href: url, download: 'candlehouse-watchlist.json' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
