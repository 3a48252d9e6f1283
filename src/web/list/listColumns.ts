/** Columns of the token and pair tables, shared by all views. */
import type { PairItem } from '../../wire/pairs';
import type { TokenItem } from '../../wire/tokens';
import type { Column } from './dataTable.ts';
import { h } from '../core/dom.ts';
import {
  formatCount,
  formatFee,
  formatPrice,
  formatShare,
  formatUsd,
  formatUsdPrice,
  symbolOf,
} from '../core/format.ts';
import { tokenHash, pairHash } from '../core/app.ts';
import { ago, avatar, badge, balanceBar, change, pairName, POOL_TYPES } from '../core/pieces.ts';

export const TOKEN_COLUMNS: readonly Column<TokenItem>[] = [
  { label: '#', name: 'place', cell: (_, place) => String(place) },
  {
    label: 'Token',
    name: 'name',
    sort: 'symbol',
    align: 'left',
    cell: (token) =>
      h(
        'a',
        { class: 'named', href: tokenHash(token.address), tabindex: -1 },
        avatar(token),
        h('span', { class: 'symbol' }, symbolOf(token)),
        h('span', { class: 'full' }, token.name ?? ''),
      ),
  },
  { label: 'Price', name: 'price', sort: 'price_usd', cell: (token) => priceCell(token) },
  { label: '5m', name: 'm5', cell: (token) => change(token.price_change_5m) },
  { label: '1h', name: 'h1', sort: 'price_change_1h', cell: (token) => change(token.price_change_1h) },
  { label: '6h', name: 'h6', cell: (token) => change(token.price_change_6h) },
  { label: '24h', name: 'h24', sort: 'price_change_24h', cell: (token) => change(token.price_change_24h) },
  {
    label: 'Vol 24h',
    name: 'volume',
    sort: 'volume_24h_usd',
    cell: (token) => formatUsd(token.volume_24h_usd),
  },
  {
    label: 'Liquidity',
    name: 'liquidity',
    sort: 'liquidity_usd',
    cell: (token) => formatUsd(token.liquidity_usd),
  },
  {
    label: 'FDV',
    name: 'fdv',
    sort: 'fdv_usd',
    hint: 'Fully diluted value: price times the supply without burned tokens',
    cell: (token) => formatUsd(token.fdv_usd),
  },
  { label: 'Swaps', name: 'tx', sort: 'tx_24h', cell: (token) => trades(token) },
  { label: 'Holders', name: 'holders', sort: 'holders', cell: (token) => formatCount(token.holders) },
  { label: 'Age', name: 'age', sort: 'created_at', cell: (token) => ago(token.created_at) },
];

/** Marks a price with little liquidity behind it. */
function priceCell(token: TokenItem): HTMLElement {
  const isDoubtful = token.price_confidence === 'low' || token.price_confidence === 'none';
  return h(
    'span',
    {
      class: isDoubtful ? 'doubtful' : null,
      title: isDoubtful ? 'Low confidence: little liquidity supports this price' : null,
    },
    formatUsdPrice(token.price_usd),
  );
}

function trades(item: {
  readonly tx_24h: number;
  readonly buys_24h: number;
  readonly sells_24h: number;
}): HTMLElement {
  return h('span', { class: 'trades' }, formatCount(item.tx_24h), balanceBar(item.buys_24h, item.sells_24h));
}

export const PAIR_COLUMNS: readonly Column<PairItem>[] = [
  { label: '#', name: 'place', cell: (_, place) => String(place) },
  {
    label: 'Pair',
    name: 'name',
    align: 'left',
    cell: (pair) =>
      h(
        'a',
        { class: 'named', href: pairHash(pair.address), tabindex: -1 },
        h('span', { class: 'avatars' }, avatar(pair.base_token), avatar(pair.quote_token, 18)),
        pairName(pair),
        h(
          'span',
          { class: 'badges' },
          badge(pair.dex_name),
          badge(`${POOL_TYPES[pair.pool_type] ?? ''} ${formatFee(pair.fee_bps)}`),
        ),
      ),
  },
  {
    label: 'Price',
    name: 'price',
    cell: (pair) =>
      pair.price_usd === null && pair.price !== null
        ? h('span', {}, formatPrice(pair.price), ' ', h('small', {}, symbolOf(pair.quote_token)))
        : formatUsdPrice(pair.price_usd),
  },
  { label: '5m', name: 'm5', cell: (pair) => change(pair.price_change_5m) },
  { label: '1h', name: 'h1', cell: (pair) => change(pair.price_change_1h) },
  { label: '6h', name: 'h6', cell: (pair) => change(pair.price_change_6h) },
  { label: '24h', name: 'h24', sort: 'price_change_24h', cell: (pair) => change(pair.price_change_24h) },
  {
    label: 'Vol 24h',
    name: 'volume',
    sort: 'volume_24h_usd',
    cell: (pair) => formatUsd(pair.volume_24h_usd),
  },
  {
    label: 'Liquidity',
    name: 'liquidity',
    sort: 'liquidity_usd',
    cell: (pair) => formatUsd(pair.liquidity_usd),
  },
  { label: 'Fees 24h', name: 'fdv', sort: 'fees_24h_usd', cell: (pair) => formatUsd(pair.fees_24h_usd) },
  { label: 'Swaps', name: 'tx', sort: 'tx_24h', cell: (pair) => trades(pair) },
  {
    label: 'APR',
    name: 'holders',
    sort: 'apr_24h',
    hint: 'LP fees of 24 h as a yearly percentage of the liquidity',
    cell: (pair) => formatShare(pair.apr_24h),
  },
  { label: 'Age', name: 'age', sort: 'created_at', cell: (pair) => ago(pair.created_at) },
];
