/** The market page: its figures, tokens, pairs and DEXes. */
import type { OverviewAnswer } from '../../wire/overview';
import type { PairItem, PairsAnswer } from '../../wire/pairs';
import type { TokenItem, TokensAnswer } from '../../wire/tokens';
import { getAnswer, type Query } from '../core/api.ts';
import { pairPath, tokenPath, type App, type View } from '../core/app.ts';
import {
  dataTable,
  type Column,
  type DataTable,
  type TablePage,
  type TableState,
} from '../list/dataTable.ts';
import { columnChoice } from '../market/columnChoice.ts';
import { historyNote } from '../market/historyNote.ts';
import { largeSwaps } from '../market/largeSwaps.ts';
import { DEFAULT_SORT, readState, stateQuery } from '../list/listState.ts';
import { leastField, leastOf, listLinks, readLeast } from '../market/marketLists.ts';
import { watchTables } from '../market/watchTables.ts';
import { dexShares } from './dexesView.ts';
import { h, showIn } from '../core/dom.ts';
import { formatAmount, formatCount, formatPrice, formatUsd, formatUsdPrice } from '../core/format.ts';
import { PAIR_COLUMNS, TOKEN_COLUMNS, usualColumns } from '../list/listColumns.ts';
import { fillColumn, loadingPanel, skeleton } from '../core/panel.ts';
import { coloredChange, tile } from '../core/pieces.ts';
import type { Place } from '../core/place.ts';
import { retryWhenBack } from '../core/recovery.ts';

/** New blocks refresh the view at most this often. */
const REFRESH_MS = 10_000;
const SEARCH_MS = 200;

export const marketView: View = (app, place, main, signal) => {
  app.setTitle('Market');
  const figures = h('div');
  const tiles = loadingPanel({
    load: (loadSignal) => getAnswer<OverviewAnswer>('/overview', {}, loadSignal),
    render({ data }) {
      showIn(figures, overviewTiles(data));
      return figures;
    },
    skeleton: () => skeleton('tiles'),
    class: 'tiles-box',
    signal,
  });
  const list = marketList(app, place, signal);
  const sideColumn = h('aside', { class: 'rail', 'aria-busy': 'true' });
  app.onHead(
    () => {
      tiles.refresh();
      list.refresh();
    },
    REFRESH_MS,
    signal,
  );
  main.replaceChildren(
    h('h1', { class: 'visually-hidden' }, 'Market'),
    tiles.element,
    h('div', { class: 'with-rail' }, list.element, sideColumn),
  );
  const parts = [() => largeSwaps(app, signal), () => dexShares({ days: 14, isWide: false, signal })];
  void fillColumn(sideColumn, parts, signal).then(() => sideColumn.removeAttribute('aria-busy'));
};

function overviewTiles(data: OverviewAnswer['data']): HTMLElement {
  const text = historyNote(data.history);
  if (text === '') return tilesOf(data);
  return h('div', {}, h('p', { class: 'muted', role: 'status' }, text), tilesOf(data));
}

function tilesOf(data: OverviewAnswer['data']): HTMLElement {
  return h(
    'dl',
    { class: 'tiles' },
    tile('Volume 24h', formatUsd(data.volume_24h_usd), coloredChange(data.volume_change_24h)),
    tile('Liquidity', formatUsd(data.tvl_usd)),
    tile('Swaps 24h', formatCount(data.swaps_24h)),
    tile('Traders 24h', formatCount(data.traders_24h)),
    tile('Active pools', formatCount(data.active_pools), null, 'Pools with a swap in 24 h'),
    tile('Native coin', formatUsdPrice(data.native_price_usd)),
    tile('Gas', formatPrice(data.gas_gwei), h('small', {}, 'gwei'), 'Median gas price of the last 20 blocks'),
    tile(
      'Burned 24h',
      formatAmount(data.token_burned_24h),
      data.token_burned_symbol === null ? null : h('small', {}, data.token_burned_symbol),
    ),
  );
}

interface MarketList {
  readonly element: HTMLElement;
  refresh(): void;
}

/** The tables of tokens and pairs and the watchlist, as three tabs. */
function marketList(app: App, place: Place, signal: AbortSignal): MarketList {
  const tab = TABS.find(({ name }) => name === place.path[0])?.name ?? 'tokens';
  const tabs = h(
    'nav',
    { class: 'tabs', 'aria-label': 'Tokens or pairs' },
    ...TABS.map(({ name, label }) =>
      h('a', { href: `/${name}`, 'aria-current': name === tab ? 'page' : null }, label),
    ),
  );
  return tab === 'watchlist'
    ? watchedList(app, place, tabs, signal)
    : fullList(app, place, tab, tabs, signal);
}

const TABS = [
  { name: 'tokens', label: 'Tokens' },
  { name: 'pairs', label: 'Pairs' },
  { name: 'watchlist', label: '★ Watchlist' },
] as const;

function watchedList(app: App, { query }: Place, tabs: HTMLElement, signal: AbortSignal): MarketList {
  const pairQuery = new URLSearchParams(
    ['sort', 'order', 'page', 'limit'].flatMap((name) => {
      const value = query.get(`pair_${name}`);
      return value === null ? [] : [[name, value]];
    }),
  );
  const tables = watchTables({
    tokens: readState(query),
    pairs: readState(pairQuery),
    onstate(tokens, pairs) {
      const pairParams = Object.entries(stateQuery(pairs)).map(([name, value]) => [`pair_${name}`, value]);
      app.remember({ ...stateQuery(tokens), ...Object.fromEntries(pairParams) });
    },
    signal,
  });
  const bar = h('div', { class: 'card-bar' }, tabs, h('span', { class: 'spring' }), tables.tools);
  return {
    element: h('section', { class: 'card list-card' }, bar, tables.element),
    refresh: () => tables.refresh(),
  };
}

/** All tokens or all pairs, with search and filters. */
function fullList(
  app: App,
  { query }: Place,
  tab: 'tokens' | 'pairs',
  tabs: HTMLElement,
  signal: AbortSignal,
): MarketList {
  let [searchText, dexName] = [query.get('q') ?? '', query.get('dex') ?? ''];
  let chosenLeast = readLeast(query.get('liquidity'));
  let state = readState(query);
  const readyLists = listLinks();
  const showLists = (): void => {
    const { sort, order } = state;
    readyLists.show({ tab, q: searchText, dex: dexName, least: chosenLeast, sort, order });
  };
  const rememberState = (): void => {
    app.remember({ q: searchText, dex: dexName, liquidity: chosenLeast, ...stateQuery(state) });
    showLists();
    leastInput.show(leastOf(chosenLeast, searchText));
  };
  const onstate = (newState: TableState): void => {
    state = newState;
    rememberState();
  };
  const filters = (): Query => ({
    q: searchText,
    min_liquidity_usd: leastOf(chosenLeast, searchText) || null,
    dex: tab === 'pairs' ? dexName : null,
  });
  const emptyText = (): string => {
    const usd = leastOf(chosenLeast, searchText);
    const leastText =
      usd === 0 ? '' : ` with ${formatUsd(usd)} of liquidity; “Any liquidity” shows the others`;
    return `No matching ${tab}${leastText}`;
  };
  const restart = (): void => {
    rememberState();
    table.restart();
  };
  const searchInput = searchField(searchText, tab, (text) => {
    searchText = text;
    restart();
  });
  const dexSelect = dexChoice(dexName, signal, (name) => {
    dexName = name;
    restart();
  });
  const leastInput = leastField(leastOf(chosenLeast, searchText), (usd) => {
    chosenLeast = usd;
    restart();
  });
  const parts: ListParts = { state, onstate, signal, filters, emptyText };
  const { table, columns } = tab === 'tokens' ? tokenTable(parts) : pairTable(parts);
  showLists();
  const bar = h('div', { class: 'card-bar' }, tabs, h('span', { class: 'spring' }), searchInput);
  const secondBar = h(
    'div',
    { class: 'card-bar list-bar' },
    readyLists.element,
    h('span', { class: 'spring' }),
    tab === 'pairs' && dexSelect,
    leastInput.element,
    columns,
  );
  return {
    element: h('section', { class: 'card list-card' }, bar, secondBar, table.element),
    refresh: () => table.refresh(),
  };
}

interface ListParts {
  readonly state: TableState;
  readonly onstate: (state: TableState) => void;
  readonly signal: AbortSignal;
  readonly filters: () => Query;
  readonly emptyText: () => string;
}

/** A table and the choice of its columns. */
interface ChosenTable {
  readonly table: DataTable;
  readonly columns: HTMLElement;
}

/** The query of a page. A search without a chosen sort order shows the best match first. */
function listQuery({ sort, order, page, limit }: TableState, filters: Query): Query {
  const isBestMatchFirst =
    sort === null || (filters['q'] !== '' && sort === DEFAULT_SORT && order === 'desc');
  return {
    sort: isBestMatchFirst ? null : sort,
    order: isBestMatchFirst ? null : order,
    page,
    limit,
    ...filters,
  };
}

function tokenTable({ filters, ...parts }: ListParts): ChosenTable {
  const columnMenu = columnChoice('columns.tokens', TOKEN_COLUMNS, () => table.redraw());
  const table = dataTable<TokenItem>({
    ...parts,
    label: 'Tokens',
    columns: () => columnMenu.shownColumns(),
    showsAll: () => columnMenu.isChosen(),
    pathOf: ({ address }) => tokenPath(address),
    load: (tableState, loadSignal) =>
      getAnswer<TokensAnswer>('/tokens', listQuery(tableState, filters()), loadSignal),
  });
  return { table, columns: columnMenu.element };
}

export function pairTable({ filters, ...parts }: ListParts): ChosenTable {
  const columnMenu = columnChoice('columns.pairs', PAIR_COLUMNS, () => table.redraw());
  const table = dataTable<PairItem>({
    ...parts,
    label: 'Pairs',
    columns: () => columnMenu.shownColumns(),
    showsAll: () => columnMenu.isChosen(),
    pathOf: ({ address }) => pairPath(address),
    load: (tableState, loadSignal) =>
      getAnswer<PairsAnswer>('/pairs', listQuery(tableState, filters()), loadSignal),
  });
  return { table, columns: columnMenu.element };
}

/** A table of the pairs under an API path, by liquidity. Other views use this table too. */
export function pairsOf(
  app: App,
  { query }: Place,
  path: string,
  signal: AbortSignal,
  emptyText: string,
): DataTable {
  const columns: readonly Column<PairItem>[] = usualColumns(PAIR_COLUMNS).map(
    ({ sort: _, ...column }) => column,
  );
  return dataTable<PairItem>({
    label: 'Pools',
    columns,
    state: { ...readState(query), sort: null },
    onstate: ({ page, limit }) => app.remember(stateQuery({ sort: null, order: 'desc', page, limit })),
    signal,
    pathOf: ({ address }) => pairPath(address),
    emptyText: () => emptyText,
    load: ({ page, limit }, loadSignal) => getAnswer<TablePage<PairItem>>(path, { page, limit }, loadSignal),
  });
}

function searchField(text: string, tab: string, onsearch: (text: string) => void): HTMLElement {
  const label = tab === 'tokens' ? 'Filter tokens' : 'Filter pairs';
  const input = h('input', {
    type: 'search',
    placeholder: label,
    'aria-label': label,
    maxlength: 64,
    class: 'filter',
    value: text,
  });
  let typingTimer = 0;
  input.addEventListener('input', () => {
    clearTimeout(typingTimer);
    typingTimer = window.setTimeout(() => onsearch(input.value.trim()), SEARCH_MS);
  });
  return input;
}

interface DexNames {
  readonly data: readonly { readonly dex_name: string; readonly display_name: string }[];
}

function dexChoice(chosenDex: string, signal: AbortSignal, onchoice: (name: string) => void): HTMLElement {
  const select = h(
    'select',
    { 'aria-label': 'DEX', class: 'dex-choice' },
    h('option', { value: '' }, 'All DEXes'),
  );
  select.addEventListener('change', () => onchoice(select.value));
  const load = (): void =>
    void getAnswer<DexNames>('/dexes', { limit: 100 }, signal).then(
      ({ data }) => {
        select.append(
          ...data.map(({ dex_name, display_name }) => h('option', { value: dex_name }, display_name)),
        );
        select.value = chosenDex;
      },
      (error: unknown) => retryWhenBack(error, load, signal),
    );
  load();
  return select;
}
