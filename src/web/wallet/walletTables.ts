/** The tables of a wallet: tokens with their share of the total, and liquidity positions that open. */
import type { PairAnswer } from '../../wire/pairs';
import type { Portfolio, PortfolioPosition, PortfolioToken } from '../../wire/portfolio';
import { getAnswer } from '../core/api.ts';
import { pairPath, tokenPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatAmount, formatShare, formatUsd, formatUsdPrice, symbolOf } from '../core/format.ts';
import { loaded, skeleton, type Loaded } from '../core/panel.ts';
import { avatar, badge, change, POOL_TYPES, withCopy } from '../core/pieces.ts';
import { rangePicture } from './rangePicture.ts';
import { sortedTable, type KeptOrder, type SortedTable } from './sortedTable.ts';

/** A row of the table of tokens: a token, or the native coin without an address. */
interface Holding {
  readonly address: string | null;
  readonly symbol: string;
  readonly item: PortfolioToken | NonNullable<Portfolio['native']>;
  /** Part of the net worth in percent; null if the value does not count. */
  readonly share: number | null;
}

interface WalletTables {
  readonly element: HTMLElement;
  show(data: Portfolio): void;
}

export function walletTables(
  orderOf: (table: 'tokens' | 'positions') => KeptOrder,
  signal: AbortSignal,
): WalletTables {
  const ranges = new Map<string, Loaded>();
  const latest = new Map<string, PortfolioPosition>();
  const tokens = tokenTable(orderOf('tokens'));
  // Shares of positions follow from the net worth, which changes with each answer.
  let worth = 0;
  const positions = positionTable(
    orderOf('positions'),
    (item) => shareOf(item.value_usd, worth),
    (item) => {
      const range = ranges.get(item.id) ?? rangePanel(() => latest.get(item.id) ?? item, signal);
      ranges.set(item.id, range);
      return range.element;
    },
  );
  return {
    element: h('div', {}, tokens.element, positions.element),
    show(data) {
      worth = data.net_worth_usd;
      tokens.show(holdingsOf(data));
      tokens.element.hidden = isEmptyWallet(data);
      for (const position of data.positions) latest.set(position.id, position);
      positions.show(data.positions);
      positions.element.hidden = data.positions.length === 0;
      for (const range of ranges.values()) range.refresh();
    },
  };
}

/** Without a token and a position, and with no native coin either. */
export function isEmptyWallet({ tokens, positions, native }: Portfolio): boolean {
  return tokens.length === 0 && positions.length === 0 && Number(native?.balance ?? 0) === 0;
}

function isTrusted(confidence: string): boolean {
  return confidence === 'high' || confidence === 'medium';
}

function holdingsOf({ tokens, native, net_worth_usd: worth }: Portfolio): Holding[] {
  const holdings = tokens.map((item): Holding => {
    const counts = isTrusted(item.price_confidence);
    return {
      address: item.address,
      symbol: symbolOf(item),
      item,
      share: counts ? shareOf(item.value_usd, worth) : null,
    };
  });
  if (native !== null)
    holdings.unshift({
      address: null,
      symbol: native.symbol,
      item: native,
      share: isTrusted(native.price_confidence) ? shareOf(native.value_usd, worth) : null,
    });
  return holdings;
}

function shareOf(value: number | null, worth: number): number | null {
  return value === null || !(worth > 0) ? null : (value / worth) * 100;
}

function tokenTable(order: KeptOrder): SortedTable<Holding> {
  return sortedTable<Holding>({
    order,
    title: 'Tokens',
    sortBy: 'Value',
    idOf: ({ address }) => address ?? 'native',
    pathOf: ({ address }) => (address === null ? null : tokenPath(address)),
    columns: [
      { label: 'Token', key: ({ symbol }) => symbol.toLowerCase(), cell: holdingName },
      {
        label: 'Balance',
        key: ({ item }) => Number(item.balance),
        cell: ({ item }) => formatAmount(item.balance),
      },
      {
        label: 'Price',
        key: ({ item }) => (item.price_usd === null ? null : Number(item.price_usd)),
        cell: ({ item }) => formatUsdPrice(item.price_usd),
      },
      {
        label: '24h',
        key: ({ item }) => item.price_change_24h,
        cell: ({ item }) => change(item.price_change_24h),
      },
      {
        label: 'Value',
        key: ({ item, share }) => (share === null ? null : item.value_usd),
        hint: 'Values without a trusted price come last',
        cell: valueCell,
      },
      {
        label: 'Share',
        key: ({ share }) => share,
        hint: 'Part of the net worth',
        cell: ({ share }) => shareCell(share),
      },
    ],
  });
}

function holdingName({ address, symbol, item }: Holding): HTMLElement {
  const parts = [
    avatar({ address: address ?? '0x000000ee', symbol }),
    h('span', { class: 'symbol' }, symbol),
  ];
  if (address === null) return h('span', { class: 'named' }, ...parts, badge('native'));
  const [name, flags] = 'flags' in item ? [item.name, item.flags] : [null, []];
  const link = h(
    'a',
    { class: 'named', href: tokenPath(address) },
    ...parts,
    h('span', { class: 'full' }, name ?? ''),
    ...flags.map((flag) => badge(flag, 'warn')),
  );
  return withCopy(link, address);
}

function valueCell({ item, share }: Holding): HTMLElement {
  const isCounted = share !== null || item.value_usd === null;
  return h(
    'span',
    {
      class: isCounted ? null : 'doubtful',
      title: isCounted ? null : 'Not in the totals: the price has low confidence',
    },
    formatUsd(item.value_usd),
  );
}

/** A share with a bar of this length. */
function shareCell(share: number | null): HTMLElement {
  if (share === null) return h('span', { class: 'muted', title: 'Not in the total' }, '–');
  const bar = h('i', { class: 'share-bar', 'aria-hidden': 'true' });
  bar.style.setProperty('--part', `${Math.min(100, share)}%`);
  return h('span', { class: 'share' }, formatShare(share), bar);
}

function positionTable(
  order: KeptOrder,
  shareOfTotal: (item: PortfolioPosition) => number | null,
  open: (item: PortfolioPosition) => Node,
): SortedTable<PortfolioPosition> {
  return sortedTable<PortfolioPosition>({
    order,
    title: 'Positions',
    sortBy: 'Value',
    idOf: ({ id }) => id,
    pathOf: ({ pair_address: pair }) => pairPath(pair),
    open,
    columns: [
      { label: 'Pool', key: (item) => item.tokens.map(symbolOf).join('/').toLowerCase(), cell: positionName },
      { label: 'Amounts', cell: positionAmounts },
      {
        label: 'Pool share',
        key: (item) => item.share_pct,
        hint: 'Part of the liquidity of the pool',
        cell: (item) => formatShare(item.share_pct),
      },
      { label: 'APR 24h', key: (item) => item.apr_24h, cell: (item) => formatShare(item.apr_24h) },
      { label: 'Value', key: (item) => item.value_usd, cell: (item) => formatUsd(item.value_usd) },
      {
        label: 'Unclaimed',
        key: (item) => item.unclaimed_usd ?? null,
        cell: (item) => formatUsd(item.unclaimed_usd),
      },
      {
        label: 'Share',
        key: shareOfTotal,
        hint: 'Part of the net worth',
        cell: (item) => shareCell(item.portfolio_pct > 0 ? shareOfTotal(item) : null),
      },
    ],
  });
}

function positionName(item: PortfolioPosition): HTMLElement {
  const inRange = item.in_range ?? null;
  const link = h(
    'a',
    { class: 'named', href: pairPath(item.pair_address) },
    h('span', { class: 'symbol' }, item.tokens.map(symbolOf).join(' / ')),
    badge(item.dex_name),
    badge(POOL_TYPES[item.pool_type] ?? ''),
    inRange === null ? null : badge(inRange ? 'in range' : 'out of range', inRange ? 'good' : 'warn'),
  );
  return withCopy(link, item.pair_address);
}

function positionAmounts(item: PortfolioPosition): HTMLElement {
  return h(
    'span',
    { class: 'amounts' },
    ...item.tokens.map((token) => h('span', {}, `${formatAmount(token.amount)} ${symbolOf(token)}`)),
  );
}

function holdingLine({ tokens }: PortfolioPosition): HTMLElement {
  const amounts = tokens.map((token) => `${formatAmount(token.amount)} ${symbolOf(token)}`);
  return h('p', {}, `Holds ${amounts.join(' and ')}.`);
}

function rangePanel(position: () => PortfolioPosition, signal: AbortSignal): Loaded {
  return loaded({
    load: (life) => getAnswer<PairAnswer>(`/pairs/${position().pair_address}`, {}, life),
    render: ({ data }) => h('div', {}, holdingLine(position()), rangePicture(position(), data)),
    skeleton: () => skeleton('range'),
    class: 'loaded range-loaded',
    signal,
  });
}
