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
import { tokenPath, pairPath } from '../core/app.ts';
import { listedPairLiquidity, listedTokenLiquidity } from '../core/countedLiquidity.ts';
import { starButton } from '../market/starButton.ts';
import {
  ago,
  avatar,
  badge,
  endedBadge,
  buySellBar,
  coloredChange,
  pairName,
  POOL_TYPES,
  withCopy,
} from '../core/pieces.ts';

/** The columns of a table without a choice of columns. */
export function usualColumns<T>(columns: readonly Column<T>[]): readonly Column<T>[] {
  return columns.filter(({ choice }) => choice !== 'off');
}

const LAST_HINT = 'Time since the last swap';

/** The columns of price changes, of tokens and of pairs. */
function changeColumns<
  T extends Readonly<Record<`price_change_${'5m' | '1h' | '6h' | '24h'}`, number | null>>,
>(): readonly Column<T>[] {
  return [
    changeColumn('5m', 'm5', 'price_change_5m', (item) => item.price_change_5m),
    changeColumn('1h', 'h1', 'price_change_1h', (item) => item.price_change_1h),
    changeColumn('6h', 'h6', 'price_change_6h', (item) => item.price_change_6h),
    changeColumn('24h', 'h24', 'price_change_24h', (item) => item.price_change_24h),
  ];
  function changeColumn(
    label: string,
    name: string,
    sort: string,
    valueOf: (item: T) => number | null,
  ): Column<T> {
    return { label, name, sort, choice: 'on', cell: (item) => coloredChange(valueOf(item)) };
  }
}

export const TOKEN_COLUMNS: readonly Column<TokenItem>[] = [
  {
    label: '',
    name: 'star',
    hint: 'Watchlist',
    cell: (token) => starButton('tokens', token.address, symbolOf(token)),
  },
  { label: '#', name: 'place', cell: (_, place) => String(place) },
  {
    label: 'Token',
    name: 'name',
    sort: 'symbol',
    align: 'left',
    cell: (token) =>
      withCopy(
        h(
          'a',
          { class: 'named', href: tokenPath(token.address), tabindex: -1 },
          avatar(token),
          h('span', { class: 'symbol' }, symbolOf(token)),
          h('span', { class: 'full' }, token.name ?? ''),
        ),
        token.address,
      ),
  },
  { label: 'Price', name: 'price', sort: 'price_usd', cell: (token) => priceCell(token) },
  ...changeColumns<TokenItem>(),
  {
    label: 'Vol 24h',
    name: 'volume',
    sort: 'volume_24h_usd',
    choice: 'on',
    cell: (token) => formatUsd(token.volume_24h_usd),
  },
  {
    label: 'Liquidity',
    name: 'liquidity',
    sort: 'liquidity_usd',
    choice: 'on',
    cell: (token) => listedTokenLiquidity(token),
  },
  {
    label: 'Market cap',
    name: 'mcap',
    sort: 'market_cap_usd',
    choice: 'off',
    hint: 'Price times the circulating supply',
    cell: (token) => formatUsd(token.market_cap_usd),
  },
  {
    label: 'FDV',
    name: 'fdv',
    sort: 'fdv_usd',
    choice: 'on',
    hint: 'Fully diluted value: price times the supply without burned tokens',
    cell: (token) => formatUsd(token.fdv_usd),
  },
  { label: 'Swaps', name: 'tx', sort: 'tx_24h', choice: 'on', cell: (token) => tradesCell(token) },
  {
    label: 'Traders',
    name: 'traders',
    choice: 'off',
    hint: 'Distinct senders of swaps in 24 h',
    cell: (token) => formatCount(token.traders_24h),
  },
  {
    label: 'Pools',
    name: 'pools',
    choice: 'off',
    hint: 'Pools that hold the token',
    cell: (token) => formatCount(token.pool_count),
  },
  {
    label: 'Holders',
    name: 'holders',
    sort: 'holders',
    choice: 'on',
    cell: (token) => formatCount(token.holders),
  },
  { label: 'Age', name: 'age', sort: 'created_at', choice: 'on', cell: (token) => ago(token.created_at) },
  { label: 'Last', name: 'last', choice: 'off', hint: LAST_HINT, cell: (token) => ago(token.last_trade_at) },
];

/** Marks a price with little liquidity behind it, and a missing price. */
function priceCell({ price_usd, price_confidence, price_reason: reason }: TokenItem): HTMLElement {
  const doubtReason =
    price_confidence === 'low' ? 'Low confidence: little liquidity supports this price' : reason?.text;
  return h(
    'span',
    { class: doubtReason === undefined ? null : 'doubtful', title: doubtReason ?? null },
    formatUsdPrice(price_usd),
  );
}

function tradesCell(item: {
  readonly tx_24h: number;
  readonly buys_24h: number;
  readonly sells_24h: number;
}): HTMLElement {
  return h('span', { class: 'trades' }, formatCount(item.tx_24h), buySellBar(item.buys_24h, item.sells_24h));
}

export const PAIR_COLUMNS: readonly Column<PairItem>[] = [
  {
    label: '',
    name: 'star',
    hint: 'Watchlist',
    cell: (pair) =>
      starButton('pairs', pair.address, `${symbolOf(pair.base_token)}/${symbolOf(pair.quote_token)}`),
  },
  { label: '#', name: 'place', cell: (_, place) => String(place) },
  {
    label: 'Pair',
    name: 'name',
    align: 'left',
    cell: (pair) =>
      withCopy(
        h(
          'a',
          { class: 'named', href: pairPath(pair.address), tabindex: -1 },
          h('span', { class: 'avatars' }, avatar(pair.base_token), avatar(pair.quote_token, 18)),
          pairName(pair),
          h(
            'span',
            { class: 'badges' },
            // A narrow list shows the first badge only.
            pair.flags.includes('ended') && endedBadge(),
            badge(pair.dex_name),
            !pair.flags.includes('ended') &&
              badge(`${POOL_TYPES[pair.pool_type] ?? ''} ${formatFee(pair.fee_bps)}`),
          ),
        ),
        pair.address,
      ),
  },
  {
    label: 'Price',
    name: 'price',
    cell: (pair) =>
      pair.price_reason === null
        ? formatUsdPrice(pair.price_usd)
        : h(
            'span',
            { title: pair.price_reason.text },
            formatPrice(pair.price),
            ' ',
            pair.price !== null && h('small', {}, symbolOf(pair.quote_token)),
          ),
  },
  ...changeColumns<PairItem>(),
  {
    label: 'Vol 24h',
    name: 'volume',
    sort: 'volume_24h_usd',
    choice: 'on',
    cell: (pair) => formatUsd(pair.volume_24h_usd),
  },
  {
    label: 'Liquidity',
    name: 'liquidity',
    sort: 'liquidity_usd',
    choice: 'on',
    cell: (pair) => listedPairLiquidity(pair),
  },
  {
    label: 'Fees 24h',
    name: 'fdv',
    sort: 'fees_24h_usd',
    choice: 'on',
    cell: (pair) => formatUsd(pair.fees_24h_usd),
  },
  { label: 'Swaps', name: 'tx', sort: 'tx_24h', choice: 'on', cell: (pair) => tradesCell(pair) },
  {
    label: 'Buyers',
    name: 'traders',
    choice: 'off',
    hint: 'Distinct senders of buys in 24 h',
    cell: (pair) => formatCount(pair.buyers_24h),
  },
  {
    label: 'APR',
    name: 'holders',
    sort: 'apr_24h',
    choice: 'on',
    hint: 'LP fees of 24 h as a yearly percentage of the liquidity',
    cell: (pair) => formatShare(pair.apr_24h),
  },
  { label: 'Age', name: 'age', sort: 'created_at', choice: 'on', cell: (pair) => ago(pair.created_at) },
  { label: 'Last', name: 'last', choice: 'off', hint: LAST_HINT, cell: (pair) => ago(pair.last_trade_at) },
];
