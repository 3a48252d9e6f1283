/** The tables of a wallet: tokens with their share of the total, and liquidity positions that open. */
import type { PairAnswer } from '../../wire/pairs';
import type { Portfolio, PortfolioPosition, PortfolioToken } from '../../wire/portfolio';
import { getAnswer } from '../core/api.ts';
import { pairPath, tokenPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatAmount, formatShare, formatUsd, formatUsdPrice, symbolOf } from '../core/format.ts';
import { loadingPanel, skeleton, type LoadingPanel } from '../core/panel.ts';
import { avatar, badge, coloredChange, POOL_TYPES, withCopy } from '../core/pieces.ts';
import { rangePicture } from './rangePicture.ts';
import { sortedTable, type StoredOrder, type SortedTable } from './sortedTable.ts';

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
  orderOf: (table: 'tokens' | 'positions') => StoredOrder,
  signal: AbortSignal,
): WalletTables {
  const rangePanels = new Map<string, LoadingPanel>();
  const latestPositions = new Map<string, PortfolioPosition>();
  const tokens = tokenTable(orderOf('tokens'));
  // Shares of positions follow from the net worth, which changes with each answer.
  let netWorth = 0;
  const positions = positionTable(
    orderOf('positions'),
    (item) => shareOf(item.value_usd, netWorth),
    (item) => {
      const panel =
        rangePanels.get(item.id) ?? rangePanel(() => latestPositions.get(item.id) ?? item, signal);
      rangePanels.set(item.id, panel);
      return panel.element;
    },
  );
  return {
    element: h('div', {}, tokens.element, positions.element),
    show(data) {
      netWorth = data.net_worth_usd;
      tokens.show(holdingsOf(data));
      tokens.element.hidden = isEmptyWallet(data);
      for (const position of data.positions) latestPositions.set(position.id, position);
      positions.show(data.positions);
      positions.element.hidden = data.positions.length === 0;
      for (const panel of rangePanels.values()) panel.refresh();
    },
  };
}

/** Whether the wallet has no token, no position and no native coin. */
export function isEmptyWallet({ tokens, positions, native }: Portfolio): boolean {
  return tokens.length === 0 && positions.length === 0 && Number(native?.balance ?? 0) === 0;
}

function isTrusted(confidence: string): boolean {
  return confidence === 'high' || confidence === 'medium';
}

function holdingsOf({ tokens, native, net_worth_usd: netWorth }: Portfolio): Holding[] {
  const holdings = tokens.map((item): Holding => {
    const isCounted = isTrusted(item.price_confidence);
    return {
      address: item.address,
      symbol: symbolOf(item),
      item,
      share: isCounted ? shareOf(item.value_usd, netWorth) : null,
    };
  });
  if (native !== null)
    holdings.unshift({
      address: null,
      symbol: native.symbol,
      item: native,
      share: isTrusted(native.price_confidence) ? shareOf(native.value_usd, netWorth) : null,
    });
  return holdings;
}

function shareOf(value: number | null, netWorth: number): number | null {
  return value === null || !(netWorth > 0) ? null : (value / netWorth) * 100;
}

function tokenTable(order: StoredOrder): SortedTable<Holding> {
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
        cell: ({ item }) => coloredChange(item.price_change_24h),
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
  order: StoredOrder,
  shareOfTotal: (item: PortfolioPosition) => number | null,
  renderDetail: (item: PortfolioPosition) => Node,
): SortedTable<PortfolioPosition> {
  return sortedTable<PortfolioPosition>({
    order,
    title: 'Positions',
    sortBy: 'Value',
    idOf: ({ id }) => id,
    pathOf: ({ pair_address: pair }) => pairPath(pair),
    renderDetail,
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

function rangePanel(position: () => PortfolioPosition, signal: AbortSignal): LoadingPanel {
  return loadingPanel({
    load: (loadSignal) => getAnswer<PairAnswer>(`/pairs/${position().pair_address}`, {}, loadSignal),
    render: ({ data }) => h('div', {}, holdingLine(position()), rangePicture(position(), data)),
    skeleton: () => skeleton('range'),
    class: 'loaded range-loaded',
    signal,
  });
}
