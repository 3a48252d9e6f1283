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
const ADDRESSES_PER_CALL = 30;

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
    onstate: (nextState) => options.onstate((tokenState = nextState), pairState),
    load: (state, loadSignal) =>
      loadWatched(watchlist().tokens, state, (addresses) =>
        getAnswer<TokensAnswer>('/tokens', { addresses }, loadSignal),
      ),
  });
  const pairs = dataTable<PairItem>({
    label: 'Watched pairs',
    columns: usualColumns(PAIR_COLUMNS),
    state: pairState,
    signal,
    pathOf: ({ address }) => pairPath(address),
    emptyText: () => 'No watched pair',
    onstate: (nextState) => options.onstate(tokenState, (pairState = nextState)),
    load: (state, loadSignal) =>
      loadWatched(watchlist().pairs, state, (addresses) =>
        getAnswer<PairsAnswer>('/pairs', { addresses }, loadSignal),
      ),
  });
  const emptyBox = emptyNotice(
    'Nothing is watched yet. Click the star ☆ of a token or a pair, or import a list.',
  );
  const watchedTables = h('div', {}, titledTable('Tokens', tokens), titledTable('Pairs', pairs));
  const element = h('div', { class: 'watched' }, emptyBox, watchedTables);
  const show = (): void => {
    const { tokens: tokenAddresses, pairs: pairAddresses } = watchlist();
    emptyBox.hidden = tokenAddresses.length + pairAddresses.length > 0;
    watchedTables.hidden = !emptyBox.hidden;
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

function titledTable(title: string, table: DataTable): HTMLElement {
  return h('section', {}, h('h2', { class: 'watched-title' }, title), table.element);
}

/** Loads all watched items, sorts them and returns one page of them. */
async function loadWatched<T extends object>(
  addresses: readonly string[],
  { sort, order, page, limit }: TableState,
  readBatch: (addresses: string) => Promise<{ readonly data: readonly T[] }>,
): Promise<TablePage<T>> {
  const batches: Promise<{ readonly data: readonly T[] }>[] = [];
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_CALL)
    batches.push(readBatch(addresses.slice(start, start + ADDRESSES_PER_CALL).join(',')));
  const items = (await Promise.all(batches)).flatMap(({ data }) => data);
  const sorted = sort === null ? items : sortItems(items, sort, order);
  const firstIndex = (page - 1) * limit;
  const meta = { total: items.length, page, limit, has_next: firstIndex + limit < items.length };
  return { data: sorted.slice(firstIndex, firstIndex + limit), meta };
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
  const fileInput = h('input', {
    type: 'file',
    accept: '.json,application/json',
    'aria-label': 'Watchlist file',
  });
  fileInput.hidden = true;
  fileInput.addEventListener('change', () => {
    const [chosenFile] = fileInput.files ?? [];
    if (chosenFile === undefined) return;
    void readFile(chosenFile).then((text) => {
      importStatus.textContent = text;
      fileInput.value = '';
    });
  });
  return h(
    'div',
    { class: 'watch-tools' },
    importStatus,
    fileInput,
    button('Import', () => fileInput.click()),
    button('Export', () => downloadFile()),
  );
}

async function readFile(file: File): Promise<string> {
  if (file.size > STORED_MAX) return 'The file is too large for a watchlist';
  const imported = importWatchlist(await file.text());
  if (imported === null) return 'The file is no watchlist';
  const { added, refused } = imported;
  return `${added} added${refused === 0 ? '' : `, ${refused} refused`}`;
}

function downloadFile(): void {
  const url = URL.createObjectURL(new Blob([exportWatchlist()], { type: 'application/json' }));
  h('a', { href: url, download: 'candlehouse-watchlist.json' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
