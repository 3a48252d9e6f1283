/** The page of one DEX: its figures and its pairs. */
import type { DexAnswer, DexDetail } from '../../wire/dexes';
import { getAnswer, type Query } from '../core/api.ts';
import type { View } from '../core/app.ts';
import { dexLiquidity } from '../core/countedLiquidity.ts';
import { h, showIn } from '../core/dom.ts';
import { formatCount, formatShare, formatUsd } from '../core/format.ts';
import type { DataTable, TableState } from '../list/dataTable.ts';
import { isMissing, loadingPanel, skeleton } from '../core/panel.ts';
import { badge, coloredChange, POOL_TYPES, tile } from '../core/pieces.ts';
import { readState, stateQuery } from '../list/listState.ts';
import { pairTable } from './marketView.ts';

/** New blocks refresh the view at most this often. */
const REFRESH_MS = 10_000;

export const dexView: View = (app, place, main, signal) => {
  const name = place.path[1] ?? '';
  app.setTitle('DEX');
  const head = h('div');
  const page = h('div', {}, head);
  let table: DataTable | null = null;
  const openPage = (): void => {
    const filters = (): Query => ({ dex: name });
    const onstate = (state: TableState): void => app.remember(stateQuery(state));
    const pairsAndColumns = pairTable({
      state: readState(place.query),
      onstate,
      filters,
      signal,
      emptyText: () => 'No pairs',
    });
    ({ table } = pairsAndColumns);
    const spring = h('span', { class: 'spring' });
    const bar = h('div', { class: 'card-bar' }, h('h2', {}, 'Pairs'), spring, pairsAndColumns.columns);
    page.append(h('section', { class: 'card list-card' }, bar, table.element));
  };
  const figures = loadingPanel({
    load: (loadSignal) => getAnswer<DexAnswer>(`/dexes/${encodeURIComponent(name)}`, { days: 1 }, loadSignal),
    render: ({ data }) => {
      if (table === null) openPage();
      showIn(head, dexHead(data));
      app.setTitle(data.display_name);
      return page;
    },
    skeleton: () => skeleton('tiles'),
    explain: (error) => (isMissing(error) ? `There is no DEX with the name ${name}` : null),
    signal,
  });
  main.replaceChildren(figures.element);
  const refresh = (): void => {
    figures.refresh();
    table?.refresh();
  };
  app.onHead(refresh, REFRESH_MS, signal);
};

function dexHead(dex: DexDetail): HTMLElement {
  const types = dex.pool_types.map((type) => badge(POOL_TYPES[type] ?? String(type)));
  return h(
    'div',
    {},
    h('h1', {}, dex.display_name, ' ', ...types),
    h(
      'dl',
      { class: 'tiles' },
      tile('Volume 24h', formatUsd(dex.volume_24h_usd), coloredChange(dex.volume_change_24h)),
      tile('Share 24h', formatShare(dex.market_share_24h), null, 'Share of the volume of all DEXes'),
      tile('Volume 7d', formatUsd(dex.volume_7d_usd)),
      tile('Liquidity', dexLiquidity(dex)),
      tile('Fees 24h', formatUsd(dex.fees_24h_usd)),
      tile('Swaps 24h', formatCount(dex.tx_24h)),
      tile('Traders 24h', formatCount(dex.traders_24h)),
      tile('Pools', formatCount(dex.pool_count)),
    ),
  );
}
