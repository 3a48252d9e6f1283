/** A table whose rows are all on the page, sorted in the browser. Rows can open to show more. */
import { button, joinClasses, h, showKeyed } from '../core/dom.ts';
import { formatCount } from '../core/format.ts';
import { goTo } from '../core/navigation.ts';

interface SortedColumn<T> {
  readonly label: string;
  /** The value by which the column sorts, largest first; null comes last. Absent: the column cannot sort. */
  readonly key?: (item: T) => number | string | null;
  readonly hint?: string;
  readonly cell: (item: T) => Node | string;
}

interface SortedOptions<T> {
  readonly title: string;
  readonly columns: readonly SortedColumn<T>[];
  readonly idOf: (item: T) => string;
  readonly pathOf: (item: T) => string | null;
  /** Creates the content of an opened row, once for a row. Without it, rows cannot be opened. */
  readonly renderDetail?: (item: T) => Node;
  /** Label of the column that sorts by default. */
  readonly sortBy: string;
  readonly order: StoredOrder;
}

/** A sort order in the address bar: the name of a column such as `pool_share`, or with the smallest first `pool_share_asc`. */
export interface StoredOrder {
  readonly initialOrder: string | null;
  readonly store: (order: string | null) => void;
}

export interface SortedTable<T> {
  readonly element: HTMLElement;
  /** Shows these items. Sort order and opened rows stay. */
  show(items: readonly T[]): void;
}

export function sortedTable<T>(options: SortedOptions<T>): SortedTable<T> {
  const { title, columns } = options;
  let [sortedLabel, isAscending] = readOrder(options);
  let items: readonly T[] = [];
  const detailRows = new Map<string, HTMLElement>();
  const body = h('tbody');
  const countText = h('span', { class: 'muted' });
  const headCells = columns.map((column, index) => {
    const sortByColumn = (): void => {
      isAscending = sortedLabel === column.label && !isAscending;
      sortedLabel = column.label;
      const isDefault = sortedLabel === options.sortBy && !isAscending;
      options.order.store(isDefault ? null : orderOf(sortedLabel, isAscending));
      drawRows();
    };
    const label =
      column.key === undefined
        ? column.label
        : h('button', { type: 'button', onclick: sortByColumn }, column.label);
    return h('th', { scope: 'col', class: index === 0 ? 'left' : null, title: column.hint ?? null }, label);
  });
  const toggle = (id: string): void => {
    const item = items.find((item) => options.idOf(item) === id);
    if (!detailRows.delete(id) && options.renderDetail !== undefined && item !== undefined)
      detailRows.set(id, detailRow(id, options.renderDetail(item), shownHeads(headCells)));
    drawRows();
    body.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] .opener`)?.focus();
  };
  const rowsOf = (item: T): HTMLElement[] => {
    const id = options.idOf(item);
    const detail = detailRows.get(id);
    const row = toRow(options, item, detail !== undefined, () => toggle(id));
    return detail === undefined ? [row] : [row, detail];
  };
  const drawRows = (): void => {
    columns.forEach((column, index) => {
      const order = isAscending ? 'ascending' : 'descending';
      headCells[index]?.setAttribute('aria-sort', column.label === sortedLabel ? order : 'none');
    });
    const key = columns.find(({ label }) => label === sortedLabel)?.key;
    const focusedSelector = focusedIn(body);
    showKeyed(body, sortItems(items, key, isAscending).flatMap(rowsOf), ({ dataset }) => dataset['id']);
    if (focusedSelector !== null && !body.contains(document.activeElement))
      body.querySelector<HTMLElement>(focusedSelector)?.focus();
    countText.textContent = formatCount(items.length);
  };
  const table = h(
    'table',
    { class: `data holdings ${title.toLowerCase()}`, 'aria-label': title },
    h('thead', {}, h('tr', {}, ...headCells)),
    body,
  );
  return {
    element: h(
      'section',
      { class: 'card list-card' },
      h('div', { class: 'card-bar' }, h('h2', {}, title), countText),
      h('div', { class: 'table-scroll' }, table),
    ),
    show(newItems) {
      items = newItems;
      drawRows();
    },
  };
}

const orderOf = (label: string, isAscending: boolean): string =>
  label.toLowerCase().replaceAll(' ', '_') + (isAscending ? '_asc' : '');

function readOrder<T>({ columns, sortBy, order }: SortedOptions<T>): [label: string, isAscending: boolean] {
  for (const { label, key } of columns)
    for (const isAscending of [false, true])
      if (key !== undefined && orderOf(label, isAscending) === order.initialOrder)
        return [label, isAscending];
  return [sortBy, false];
}

function detailRow(id: string, content: Node, columns: number): HTMLElement {
  const cell = h('td', { colspan: columns, class: 'left' }, content);
  return h('tr', { class: 'detail', 'data-id': `detail of ${id}` }, cell);
}

/** Number of columns that the width of the window shows. A cell over more columns would add columns. */
function shownHeads(headCells: readonly HTMLElement[]): number {
  const shownCount = headCells.filter((head) => getComputedStyle(head).display !== 'none').length;
  return shownCount === 0 ? headCells.length : shownCount;
}

/** A selector of the focused link or button of a row, which stays focused when the row is drawn again. */
function focusedIn(body: HTMLElement): string | null {
  const { activeElement } = document;
  if (activeElement === null || !body.contains(activeElement)) return null;
  const id = activeElement.closest('tr')?.dataset['id'];
  if (id === undefined) return null;
  const selector = ['.opener', '.copy'].find((selector) => activeElement.matches(selector)) ?? 'a';
  return `[data-id="${CSS.escape(id)}"] ${selector}`;
}

function sortItems<T>(
  items: readonly T[],
  key: ((item: T) => number | string | null) | undefined,
  isAscending: boolean,
): readonly T[] {
  if (key === undefined) return items;
  const sign = isAscending ? 1 : -1;
  return items
    .map((item) => ({ item, value: key(item) }))
    .sort((a, b) => {
      if (a.value === b.value) return 0;
      if (a.value === null) return 1;
      if (b.value === null) return -1;
      return a.value < b.value ? -sign : sign;
    })
    .map(({ item }) => item);
}

function toRow<T>(
  { columns, idOf, pathOf, renderDetail }: SortedOptions<T>,
  item: T,
  isOpen: boolean,
  ontoggle: () => void,
): HTMLTableRowElement {
  const opener =
    renderDetail === undefined
      ? null
      : button(isOpen ? '▾' : '▸', ontoggle, {
          class: 'opener',
          'aria-expanded': String(isOpen),
          'aria-label': 'Range of this position',
        });
  const cells = columns.map(({ cell }, index) =>
    h(
      'td',
      { class: joinClasses(index === 0 && 'left', index === 0 && opener !== null && 'with-opener') },
      index === 0 ? opener : null,
      cell(item),
    ),
  );
  const row = h('tr', { 'data-id': idOf(item) }, ...cells);
  const path = pathOf(item);
  row.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a, button') !== null) return;
    const canOpen = renderDetail !== undefined;
    if (canOpen) ontoggle();
    else if (path !== null) goTo(path);
  });
  return row;
}
