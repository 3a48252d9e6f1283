/** The market page: its figures, tokens, pairs and DEXes. */
import type { OverviewAnswer } from '../../wire/overview';
import type { PairItem, PairsAnswer } from '../../wire/pairs';
import type { TokenItem, TokensAnswer } from '../../wire/tokens';
import { getAnswer } from '../core/api.ts';
import { pairHash, tokenHash, type App, type Place, type View } from '../core/app.ts';
import {
  dataTable,
  type Column,
  type DataTable,
  type TablePage,
  type TableState,
} from '../list/dataTable.ts';
import { dexShares } from './dexesView.ts';
import { h } from '../core/dom.ts';
import { formatAmount, formatCount, formatPrice, formatUsd, formatUsdPrice } from '../core/format.ts';
import { PAIR_COLUMNS, TOKEN_COLUMNS } from '../list/listColumns.ts';
import { loaded, skeleton } from '../core/panel.ts';
import { change, tile } from '../core/pieces.ts';
import { retryWhenBack } from '../core/recovery.ts';

const REFRESH_MS = 10_000;
const SEARCH_MS = 200;

export const marketView: View = (app, place, main, signal) => {
  app.setTitle('Market');
  const tiles = loaded({
    load: (life) => getAnswer<OverviewAnswer>('/overview', {}, life),
    render: ({ data }) => overviewTiles(data),
    skeleton: () => skeleton('tiles'),
    class: 'tiles-box',
    signal,
  });
  const list = marketList(app, place, signal);
  const shares = dexShares(signal, 14, false);
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
    h('div', { class: 'with-rail' }, list.element, h('aside', { class: 'rail' }, shares)),
  );
};

function overviewTiles(data: OverviewAnswer['data']): HTMLElement {
  const { history } = data;
  if (history.complete) return tilesOf(data);
  const text =
    `Lists and liquidity are incomplete: pools from before block ${history.start_block} are being searched, ` +
    `${formatCount(history.older_pools)} found so far.`;
  return h('div', {}, h('p', { class: 'muted', role: 'status' }, text), tilesOf(data));
}

function tilesOf(data: OverviewAnswer['data']): HTMLElement {
  return h(
    'dl',
    { class: 'tiles' },
    tile('Volume 24h', formatUsd(data.volume_24h_usd), change(data.volume_change_24h)),
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

/** The tables of tokens and pairs, as two tabs with one search field. */
function marketList(app: App, { path, query }: Place, signal: AbortSignal): MarketList {
  const tab = path[0] === 'pairs' ? 'pairs' : 'tokens';
  let q = query.get('q') ?? '';
  let dex = query.get('dex') ?? '';
  let state = readState(query);
  const keep = (): void => {
    const { sort, order, page, limit } = state;
    app.remember({
      q,
      dex,
      sort: sort === DEFAULT_SORT && order === 'desc' ? null : sort,
      order: order === 'desc' ? null : order,
      page: page === 1 ? null : page,
      limit: limit === 25 ? null : limit,
    });
  };
  const onstate = (next: TableState): void => {
    state = next;
    keep();
  };
  const table =
    tab === 'tokens'
      ? tokenTable({ state, onstate, signal, q: () => q })
      : pairTable({ state, onstate, signal, q: () => q, dex: () => dex });
  const search = searchField(q, tab, (text) => {
    q = text;
    keep();
    table.restart();
  });
  const choice = dexChoice(dex, signal, (name) => {
    dex = name;
    keep();
    table.restart();
  });
  const link = (name: string, label: string): HTMLElement =>
    h('a', { href: `#/${name}`, 'aria-current': name === tab ? 'page' : null }, label);
  const bar = h(
    'div',
    { class: 'card-bar' },
    h(
      'nav',
      { class: 'tabs', 'aria-label': 'Tokens or pairs' },
      link('tokens', 'Tokens'),
      link('pairs', 'Pairs'),
    ),
    h('span', { class: 'spring' }),
    tab === 'pairs' && choice,
    search,
  );
  return {
    element: h('section', { class: 'card list-card' }, bar, table.element),
    refresh: () => table.refresh(),
  };
}

const DEFAULT_SORT = 'volume_24h_usd';

function readState(query: URLSearchParams): TableState {
  const page = Number(query.get('page') ?? '1');
  const limit = Number(query.get('limit') ?? '25');
  return {
    sort: query.get('sort') ?? (query.get('q') ? null : DEFAULT_SORT),
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    limit: [25, 50, 100].includes(limit) ? limit : 25,
  };
}

interface ListParts {
  readonly state: TableState;
  readonly onstate: (state: TableState) => void;
  readonly signal: AbortSignal;
  readonly q: () => string;
  readonly dex?: () => string;
}

/** A search without a chosen sort order shows the best match first. */
function orderOf({ sort, order }: TableState, q: string): { sort: string | null; order: string | null } {
  return q !== '' && sort === DEFAULT_SORT && order === 'desc'
    ? { sort: null, order: null }
    : { sort, order: sort === null ? null : order };
}

function tokenTable({ state, onstate, signal, q }: ListParts): DataTable {
  return dataTable<TokenItem>({
    label: 'Tokens',
    columns: TOKEN_COLUMNS,
    state,
    onstate,
    signal,
    hashOf: ({ address }) => tokenHash(address),
    emptyText: 'No matching tokens',
    load: (now, life) =>
      getAnswer<TokensAnswer>(
        '/tokens',
        { ...orderOf(now, q()), page: now.page, limit: now.limit, q: q() },
        life,
      ),
  });
}

function pairTable({ state, onstate, signal, q, dex }: ListParts): DataTable {
  return dataTable<PairItem>({
    label: 'Pairs',
    columns: PAIR_COLUMNS,
    state,
    onstate,
    signal,
    hashOf: ({ address }) => pairHash(address),
    emptyText: 'No matching pairs',
    load: (now, life) =>
      getAnswer<PairsAnswer>(
        '/pairs',
        { ...orderOf(now, q()), page: now.page, limit: now.limit, q: q(), dex: dex?.() ?? '' },
        life,
      ),
  });
}

/** A table of the pairs under an API path, by liquidity. Other views use this table too. */
export function pairsOf(path: string, signal: AbortSignal, emptyText: string): DataTable {
  const columns: readonly Column<PairItem>[] = PAIR_COLUMNS.map(({ sort: _, ...column }) => column);
  return dataTable<PairItem>({
    label: 'Pools',
    columns,
    state: { sort: null, order: 'desc', page: 1, limit: 25 },
    signal,
    hashOf: ({ address }) => pairHash(address),
    emptyText,
    load: ({ page, limit }, life) => getAnswer<TablePage<PairItem>>(path, { page, limit }, life),
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
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => onsearch(input.value.trim()), SEARCH_MS);
  });
  return input;
}

interface DexNames {
  readonly data: readonly { readonly dex_name: string; readonly display_name: string }[];
}

function dexChoice(chosen: string, signal: AbortSignal, onchoice: (name: string) => void): HTMLElement {
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
        select.value = chosen;
      },
      (error: unknown) => retryWhenBack(error, load, signal),
    );
  load();
  return select;
}
