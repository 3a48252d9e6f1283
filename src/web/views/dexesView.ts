/** The page of DEXes: market share by day, and the figures of each DEX. */
import type { DexAnswer, DexesAnswer, DexItem } from '../../wire/dexes';
import { getAnswer } from '../core/api.ts';
import { dexPath, type View } from '../core/app.ts';
import { dexLiquidity } from '../core/countedLiquidity.ts';
import { dataTable, type Column } from '../list/dataTable.ts';
import { readState, stateQuery } from '../list/listState.ts';
import { h, segments } from '../core/dom.ts';
import { formatChange, formatCount, formatShare, formatUsd } from '../core/format.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { ago, badge, coloredChange, POOL_TYPES } from '../core/pieces.ts';
import { shareChart, toSeries, type ShareMode, type ShareSeries } from '../chart/shareChart.ts';

/** Most DEXes shown in the chart. */
const DEXES_MAX = 12;
/** New blocks refresh the view at most this often. */
const REFRESH_MS = 15_000;
const DAY_OPTIONS = [
  ['14', '14d'],
  ['30', '30d'],
  ['90', '90d'],
  ['365', '1y'],
] as const;

export const dexesView: View = (app, { query }, main, signal) => {
  app.setTitle('DEXes');
  const table = dataTable<DexItem>({
    label: 'DEXes',
    columns: COLUMNS,
    state: { ...readState(query), sort: null },
    onstate: (state) => app.remember(stateQuery(state)),
    signal,
    pathOf: ({ dex_name }) => dexPath(dex_name),
    emptyText: () => 'No DEX is configured',
    load: ({ page, limit }, loadSignal) => getAnswer<DexesAnswer>('/dexes', { page, limit }, loadSignal),
  });
  app.onHead(() => table.refresh(), REFRESH_MS, signal);
  main.replaceChildren(
    h('h1', {}, 'DEXes'),
    dexShares({ days: 30, isWide: true, signal }),
    h('section', { class: 'card list-card dex-list' }, table.element),
  );
};

const COLUMNS: readonly Column<DexItem>[] = [
  {
    label: 'DEX',
    name: 'name',
    align: 'left',
    cell: (dex) =>
      h(
        'a',
        { class: 'named', href: dexPath(dex.dex_name), tabindex: -1 },
        h('span', { class: 'symbol' }, dex.display_name),
        ...dex.pool_types.map((type) => badge(POOL_TYPES[type] ?? String(type))),
      ),
  },
  {
    label: 'Share',
    name: 'h24',
    hint: 'Share of the 24 h volume of all DEXes',
    cell: (dex) => formatShare(dex.market_share_24h),
  },
  { label: 'Vol 24h', name: 'volume', cell: (dex) => formatUsd(dex.volume_24h_usd) },
  {
    label: 'Change',
    name: 'h6',
    hint: 'Volume compared with the previous 24 h',
    cell: (dex) => coloredChange(dex.volume_change_24h),
  },
  { label: 'Vol 7d', name: 'volume7', cell: (dex) => formatUsd(dex.volume_7d_usd) },
  { label: 'Liquidity', name: 'liquidity', cell: (dex) => dexLiquidity(dex) },
  { label: 'Fees 24h', name: 'fdv', cell: (dex) => formatUsd(dex.fees_24h_usd) },
  { label: 'Swaps', name: 'tx', cell: (dex) => formatCount(dex.tx_24h) },
  { label: 'Traders', name: 'holders', cell: (dex) => formatCount(dex.traders_24h) },
  {
    label: 'Pools',
    name: 'm5',
    hint: 'Pools with a swap in 24 h, of all pools',
    cell: (dex) => `${formatCount(dex.active_pools_24h)}/${formatCount(dex.pool_count)}`,
  },
  { label: 'Last', name: 'age', hint: 'Time since the last swap', cell: (dex) => ago(dex.last_trade_at) },
];

interface SharesOptions {
  /** Days of the chart at first. */
  readonly days: number;
  /** Whether the card has room for the choice between shares and volumes. */
  readonly isWide: boolean;
  readonly signal: AbortSignal;
}

/** The card with the share chart. The market page shows it too, with less room. */
export function dexShares({ days, isWide, signal }: SharesOptions): HTMLElement {
  let dayCount = String(days);
  let mode: ShareMode = 'share';
  let series: readonly ShareSeries[] = [];
  let items: readonly DexItem[] = [];
  const chartBody = (): Node => {
    if (series.every((dexSeries) => dexSeries.days.length === 0)) return emptyNotice('No trades yet');
    return h('div', {}, shareChart(series, mode, signal), dexRows(items));
  };
  const chart = loadingPanel({
    load: async (loadSignal) => {
      const dexes = await getAnswer<DexesAnswer>('/dexes', { limit: DEXES_MAX }, loadSignal);
      const details = dexes.data.map(({ dex_name }) =>
        getAnswer<DexAnswer>(
          `/dexes/${encodeURIComponent(dex_name)}`,
          { days: Number(dayCount) },
          loadSignal,
        ),
      );
      items = dexes.data;
      return toSeries((await Promise.all(details)).map(({ data }) => data));
    },
    render: (newSeries) => {
      series = newSeries;
      return chartBody();
    },
    skeleton: () => skeleton('shares'),
    class: 'loaded share-loaded',
    signal,
  });
  const modeButtons = segments<ShareMode>({
    label: 'Measure',
    values: [
      ['share', 'Share'],
      ['volume', 'Volume'],
    ],
    value: mode,
    onchange(value) {
      mode = value;
      chart.element.replaceChildren(chartBody());
    },
  });
  const dayButtons = segments<string>({
    label: 'Days',
    values: DAY_OPTIONS,
    value: dayCount,
    onchange(value) {
      dayCount = value;
      chart.reload();
    },
  });
  return h(
    'section',
    { class: 'card share-card' },
    h(
      'div',
      { class: 'card-bar' },
      h('h2', {}, 'Market share'),
      h('span', { class: 'spring' }),
      dayButtons,
      isWide && modeButtons,
    ),
    chart.element,
  );
}

function dexRows(items: readonly DexItem[]): HTMLElement {
  return h(
    'ul',
    { class: 'dex-rows' },
    ...items.map((dex) =>
      h(
        'li',
        {},
        h('a', { href: dexPath(dex.dex_name) }, dex.display_name),
        h('span', {}, formatUsd(dex.volume_24h_usd)),
        h(
          'span',
          { class: 'muted', title: 'Volume compared with the previous 24 h' },
          formatChange(dex.volume_change_24h),
        ),
        h('b', {}, formatShare(dex.market_share_24h)),
      ),
    ),
  );
}
