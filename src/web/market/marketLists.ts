/** The ready-made lists of the market: links that sort and filter the tables of tokens and pairs. */
import { urlOf } from '../core/api.ts';
import { h } from '../core/dom.ts';
import { DEFAULT_SORT } from '../list/listState.ts';

/** The parameters of a list in the address bar. */
interface ListPlace {
  readonly tab: 'tokens' | 'pairs';
  readonly sort: string | null;
  readonly order: 'asc' | 'desc';
  readonly q: string;
  readonly dex: string;
  readonly least: ChosenLeast;
}

/** The smallest liquidity in USD that the user chose; 0 shows all, and null means that nothing was chosen. */
type ChosenLeast = number | null;

/** Lists leave out tiny markets by default: one trade moves their prices by any percentage. */
const DEFAULT_LEAST_USD = 1_000;

/** The smallest liquidity in USD of a list. A search looks through all, unless the user chose a value. */
export function leastOf(chosen: ChosenLeast, q: string): number {
  return chosen ?? (q === '' ? DEFAULT_LEAST_USD : 0);
}

interface ReadyList {
  readonly label: string;
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  /** The tab of the list; absent: the present tab. */
  readonly tab?: 'pairs';
}

const LISTS: readonly ReadyList[] = [
  { label: 'Top volume', sort: DEFAULT_SORT, order: 'desc' },
  { label: 'Gainers', sort: 'price_change_24h', order: 'desc' },
  { label: 'Losers', sort: 'price_change_24h', order: 'asc' },
  { label: 'Most traded', sort: 'tx_24h', order: 'desc' },
  { label: 'New pairs', sort: 'created_at', order: 'desc', tab: 'pairs' },
];

interface ListLinks {
  readonly element: HTMLElement;
  /** Marks the list that the tables show now, and keeps filters in the links. */
  show(listPlace: ListPlace): void;
}

export function listLinks(): ListLinks {
  const links = LISTS.map((list) => ({ list, link: h('a', {}, list.label) }));
  return {
    element: h('nav', { class: 'tabs ready-lists', 'aria-label': 'Lists' }, ...links.map(({ link }) => link)),
    show(listPlace) {
      for (const { list, link } of links) {
        link.setAttribute('href', pathOf(list, listPlace));
        const isCurrent =
          list.sort === (listPlace.sort ?? DEFAULT_SORT) &&
          list.order === listPlace.order &&
          (list.tab ?? listPlace.tab) === listPlace.tab;
        if (isCurrent) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
      }
    },
  };
}

/** The place of a list in the address bar. A filter that the user chose stays. */
function pathOf({ sort, order, tab }: ReadyList, listPlace: ListPlace): string {
  const nextTab = tab ?? listPlace.tab;
  return urlOf(`/${nextTab}`, {
    q: listPlace.q,
    dex: nextTab === 'pairs' ? listPlace.dex : null,
    liquidity: listPlace.least,
    sort: sort === DEFAULT_SORT ? null : sort,
    order: order === 'desc' ? null : order,
  });
}

const LIQUIDITY_OPTIONS = [
  [1_000, '$1k'],
  [10_000, '$10k'],
  [100_000, '$100k'],
  [1_000_000, '$1M'],
] as const;
const LIQUIDITY_MAX = 1e15;

/** Reads the filter of the address bar: a whole number of USD. */
export function readLeast(text: string | null): ChosenLeast {
  const usd = text === null || text === '' ? NaN : Number(text);
  return Number.isSafeInteger(usd) && usd >= 0 && usd <= LIQUIDITY_MAX ? usd : null;
}

interface LeastField {
  readonly element: HTMLSelectElement;
  show(usd: number): void;
}

/** The field that leaves out tokens and pairs with little liquidity. `usd` is the value at the start. */
export function leastField(usd: number, onchoice: (least: ChosenLeast) => void): LeastField {
  const isListed = usd === 0 || LIQUIDITY_OPTIONS.some(([optionUsd]) => optionUsd === usd);
  const element = h(
    'select',
    { 'aria-label': 'Least liquidity', title: 'Leaves out tokens and pairs with less liquidity' },
    h('option', { value: 0 }, 'Any liquidity'),
    ...LIQUIDITY_OPTIONS.map(([optionUsd, label]) => h('option', { value: optionUsd }, `≥ ${label}`)),
    !isListed && h('option', { value: usd }, `≥ $${usd}`),
  );
  const show = (value: number): void => {
    element.value = String(value);
  };
  show(usd);
  element.addEventListener('change', () => onchoice(readLeast(element.value)));
  return { element, show };
}
