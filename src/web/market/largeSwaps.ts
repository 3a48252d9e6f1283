/** The live list of large swaps of the whole market, newest first. */
import type { ActivityEntry, ActivityItem, SwapItem } from '../../wire/activity';
import { getAnswer } from '../core/api.ts';
import { transactionPath, type App } from '../core/app.ts';
import { h, setChildren } from '../core/dom.ts';
import { formatCount, formatUsd } from '../core/format.ts';
import type { LiveEvent } from '../core/live.ts';
import { loadingPanel, skeleton } from '../core/panel.ts';
import { ago, withCopy } from '../core/pieces.ts';
import { fieldOf, readStored, writeStored } from '../core/stored.ts';
import { pairLink } from '../list/tape.ts';

interface ActivityPage {
  readonly data: readonly ActivityEntry[];
  readonly meta: { readonly next_cursor: string | null };
}

const LEAST_VALUES = [
  [100, '$100'],
  [1_000, '$1k'],
  [10_000, '$10k'],
  [50_000, '$50k'],
  [250_000, '$250k'],
] as const;
const STORAGE_KEY = 'largeSwaps';
const DEFAULT_LEAST_USD = 1_000;
const ROWS_MAX = 12;
/** Number of swaps of one page, and most pages that are searched for large swaps of the past. */
const PAGE_SWAPS = 100;
const PAGES_MAX = 3;

export function largeSwaps(app: App, signal: AbortSignal): HTMLElement {
  let leastUsd = readLeastUsd();
  let swaps: readonly SwapItem[] = [];
  let searchedCount = 0;
  const newIds = new Set<string>();
  const body = h('tbody');
  const emptyText = h('p', { class: 'notice empty' });
  const table = h(
    'div',
    {},
    h('table', { class: 'data tape large-swaps', 'aria-label': 'Large swaps' }, body),
    emptyText,
  );
  const draw = (): void => {
    const rowById = new Map([...body.rows].map((row) => [row.dataset['id'], row]));
    setChildren(
      body,
      swaps.map((swap) => rowById.get(swap.id) ?? toRow(swap, newIds.has(swap.id))),
    );
    newIds.clear();
    emptyText.hidden = swaps.length > 0;
    emptyText.textContent = `None of the last ${formatCount(searchedCount)} swaps is worth ${formatUsd(leastUsd)}. New ones appear here.`;
  };
  const list = loadingPanel({
    load: (loadSignal) => searchSwaps(leastUsd, loadSignal),
    render: (result) => {
      ({ found: swaps, searched: searchedCount } = result);
      draw();
      return table;
    },
    skeleton: () => skeleton('swaps', 9),
    class: 'loaded swaps-loaded',
    signal,
  });
  app.live.listen(
    { event_type: 'swap' },
    ({ kind, data }: LiveEvent) => {
      const fromBlock = fieldOf(data, 'from_block');
      if (kind === 'gap') return list.reload();
      if (kind === 'reorg' && typeof fromBlock === 'number')
        swaps = swaps.filter(({ block_number }) => block_number < fromBlock);
      else if (isSwap(data) && isLarge(data, leastUsd) && swaps.every(({ id }) => id !== data.id)) {
        newIds.add(data.id);
        swaps = [data, ...swaps].sort(newestFirst).slice(0, ROWS_MAX);
      } else return;
      draw();
    },
    signal,
  );
  const leastSelect = h(
    'select',
    { 'aria-label': 'Least value of a large swap' },
    ...LEAST_VALUES.map(([usd, label]) => h('option', { value: usd }, `≥ ${label}`)),
  );
  leastSelect.value = String(leastUsd);
  leastSelect.addEventListener('change', () => {
    leastUsd = Number(leastSelect.value);
    writeStored(STORAGE_KEY, leastUsd);
    list.reload();
  });
  return h(
    'section',
    { class: 'card swaps-card' },
    h('div', { class: 'card-bar' }, h('h2', {}, 'Large swaps'), h('span', { class: 'spring' }), leastSelect),
    list.element,
  );
}

function readLeastUsd(): number {
  const stored = readStored(STORAGE_KEY);
  return LEAST_VALUES.find(([usd]) => usd === stored)?.[0] ?? DEFAULT_LEAST_USD;
}

/** Searches the newest swaps for large ones. */
async function searchSwaps(
  leastUsd: number,
  signal: AbortSignal,
): Promise<{ found: readonly SwapItem[]; searched: number }> {
  const foundSwaps: SwapItem[] = [];
  let searchedCount = 0;
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX && foundSwaps.length < ROWS_MAX; page += 1) {
    const answer: ActivityPage = await getAnswer<ActivityPage>(
      '/activity',
      { event_type: 'swap', limit: PAGE_SWAPS, cursor },
      signal,
    );
    searchedCount += answer.data.length;
    foundSwaps.push(...answer.data.filter(isSwap).filter((swap) => isLarge(swap, leastUsd)));
    cursor = answer.meta.next_cursor;
    if (cursor === null) break;
  }
  return { found: foundSwaps.slice(0, ROWS_MAX), searched: searchedCount };
}

/** Stream events carry the same items as /activity. */
export function isSwap(data: unknown): data is SwapItem {
  return fieldOf(data, 'event_type') === 'swap' && typeof fieldOf(data, 'id') === 'string';
}

function isLarge({ amount_usd: usd }: SwapItem, leastUsd: number): boolean {
  return usd !== null && usd >= leastUsd;
}

function newestFirst(a: ActivityItem, b: ActivityItem): number {
  return b.block_number - a.block_number || b.log_index - a.log_index;
}

function toRow(swap: SwapItem, isFresh: boolean): HTMLTableRowElement {
  const usd = formatUsd(swap.amount_usd);
  const cells: [string, Node | string][] = [
    ['time', ago(swap.timestamp)],
    ['type', h('span', { class: `kind ${swap.side}` }, swap.side)],
    ['pair', pairLink(swap)],
    [
      'usd',
      withCopy(h('a', { href: transactionPath(swap.tx_hash), title: swap.tx_hash }, usd), swap.tx_hash),
    ],
  ];
  const row = h('tr', { 'data-id': swap.id, class: `${swap.side}${isFresh ? ' fresh' : ''}` });
  row.append(...cells.map(([name, cell]) => h('td', { class: `swap-${name}` }, cell)));
  return row;
}
