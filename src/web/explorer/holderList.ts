/** The holders of a token: the shares of groups of holders, and the holders one by one. */
import type { HoldersAnswer } from '../../wire/holders';
import type { TokenDetail } from '../../wire/tokens';
import { getAnswer } from '../core/api.ts';
import { h, screenReaderText } from '../core/dom.ts';
import { formatAmount, formatCount, formatShare } from '../core/format.ts';
import { emptyNotice } from '../core/panel.ts';
import { badge } from '../core/pieces.ts';
import { addressOf } from './links.ts';
import { pagedList } from './pagedList.ts';

const GROUPS = [
  ['top_10', 'Top 10'],
  ['top_11_20', '11–20'],
  ['top_21_40', '21–40'],
  ['rest', 'Others'],
] as const;

export function holderBar(distribution: NonNullable<TokenDetail['holder_distribution']>): HTMLElement {
  const bar = h('div', { class: 'holder-bar', 'aria-hidden': 'true' });
  GROUPS.forEach(([key], index) => {
    const part = h('i', { class: `series-${index}` });
    part.style.flexGrow = String(distribution[key]);
    bar.append(part);
  });
  const groupNames = GROUPS.map(([key, name], index) =>
    h(
      'span',
      {},
      h('i', { class: `series-${index}` }),
      `${name} `,
      h('b', {}, formatShare(distribution[key])),
    ),
  );
  return h('div', { class: 'holders' }, bar, h('div', { class: 'share-legend' }, ...groupNames));
}

const PAGE_ROWS = 25;

/** The holders page by page, with the names of known contracts. */
export function holderList(token: string, chain: string | null, signal: AbortSignal): HTMLElement {
  return pagedList({
    load: (cursor, loadSignal) => {
      const query = { chainId: chain, limit: PAGE_ROWS, page: cursor };
      return getAnswer<HoldersAnswer>(`/tokens/${token}/holders`, query, loadSignal);
    },
    render: ({ data, meta }) => ({
      element:
        data.length > 0
          ? holderTable(data, chain)
          : emptyNotice(meta.reason === null ? NO_HOLDERS_TEXT : UNKNOWN_TEXT),
      nextCursor: meta.has_next ? String(meta.page + 1) : null,
      rangeText: meta.total === 0 ? '' : `${formatCount(meta.total)} holders`,
    }),
    names: ['Larger holders', 'Smaller holders'],
    signal,
  }).element;
}

const NO_HOLDERS_TEXT = 'No address holds this token';
const UNKNOWN_TEXT =
  'The holders are unknown: the stored transfers do not start at the first one, or transfers of this token do not tell its balances';

function holderTable(holders: HoldersAnswer['data'], chain: string | null): HTMLElement {
  const rows = holders.map(
    ({ rank, address, balance, balance_raw: balanceRaw, share_pct: sharePercent, label }) =>
      h(
        'tr',
        { 'data-address': address },
        h('td', { class: 'muted' }, String(rank)),
        h('td', {}, addressOf(address, chain), ...(label === null ? [] : [' ', nameBadge(label)])),
        h(
          'td',
          { class: 'right', title: balance ?? null },
          balance === null ? `${balanceRaw} raw` : formatAmount(balance),
        ),
        h('td', { class: 'right' }, formatShare(sharePercent)),
      ),
  );
  const titles = [screenReaderText('Rank'), 'Holder', 'Amount', 'Share'];
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'plain holder-list' },
      h(
        'thead',
        {},
        h('tr', {}, ...titles.map((name, index) => h('th', { class: index > 1 ? 'right' : null }, name))),
      ),
      h('tbody', {}, ...rows),
    ),
  );
}

function nameBadge({ kind, name }: NonNullable<HoldersAnswer['data'][number]['label']>): HTMLElement {
  const nameMark = badge(kind === 'pair' ? `${name} pair` : name);
  nameMark.title = kind;
  return nameMark;
}
