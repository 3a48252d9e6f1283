/**
 * A table with rows from the API: sortable, searchable, paged and refreshed in place. Keyboard: up and down move
 * between rows, Enter opens a row, Page Up and Page Down turn pages.
 */
import { failureText } from '../core/api.ts';
import { button, classes, h } from '../core/dom.ts';
import { failureNotice } from '../core/panel.ts';
import { formatCount } from '../core/format.ts';
import { retryWhenBack } from '../core/recovery.ts';

export interface Column<T> {
  readonly label: string;
  /** Name of the column, a part of its class name: `col-<name>` sets the width. */
  readonly name: string;
  /** Name of this sort order in the API; absent if the column cannot sort. */
  readonly sort?: string;
  readonly align?: 'left';
  /** Tooltip of the column's header. */
  readonly hint?: string;
  readonly cell: (item: T, place: number) => Node | string;
}

export interface TablePage<T> {
  readonly data: readonly T[];
  readonly meta: {
    readonly total: number;
    readonly page: number;
    readonly limit: number;
    readonly has_next: boolean;
  };
}

export interface TableState {
  readonly sort: string | null;
  readonly order: 'asc' | 'desc';
  readonly page: number;
  readonly limit: number;
}

interface TableOptions<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly state: TableState;
  readonly load: (state: TableState, signal: AbortSignal) => Promise<TablePage<T>>;
  readonly hashOf: (item: T) => string | null;
  readonly emptyText: string;
  readonly signal: AbortSignal;
  readonly onstate?: (state: TableState) => void;
  readonly explain?: (error: unknown) => string | null;
}

export interface DataTable {
  readonly element: HTMLElement;
  /** Loads the first page again, for a new search. */
  restart(): void;
  refresh(): void;
}

const LIMITS = [25, 50, 100] as const;
/** Number of placeholder rows while a table of unknown length loads. */
const SKELETON_ROWS = 25;

export function dataTable<T>(options: TableOptions<T>): DataTable {
  return new Rows(options);
}

/** The state of the table: the requested page, the shown page, and the running request. */
class Rows<T> implements DataTable {
  readonly element: HTMLElement;
  private readonly options: TableOptions<T>;
  private readonly body = h('tbody');
  private readonly notice = h('div', { class: 'table-notice' });
  private readonly heads: readonly HTMLTableCellElement[];
  private readonly pager: Pager;
  private state: TableState;
  private running: AbortController | null = null;
  private shown: TablePage<T> | null = null;

  constructor(options: TableOptions<T>) {
    this.options = options;
    this.state = options.state;
    this.heads = options.columns.map((column) => headCell(column, (sort) => this.sortBy(sort)));
    this.pager = createPager((next) => this.change({ ...this.state, ...next }));
    const head = h('thead', {}, h('tr', {}, ...this.heads));
    const table = h('table', { class: 'data', 'aria-label': options.label }, head, this.body);
    const scroll = h('div', { class: 'table-scroll' }, table);
    this.element = h('div', { class: 'table-box' }, scroll, this.notice, this.pager.element);
    this.body.addEventListener('click', (event) => openRow(event));
    this.body.addEventListener('keydown', (event) => walk(event, this.pager));
    void this.load(true);
  }

  restart(): void {
    this.change({ ...this.state, page: 1 });
  }

  refresh(): void {
    if (this.running === null) void this.load(false);
  }

  private change(next: TableState): void {
    this.state = next;
    this.options.onstate?.(next);
    void this.load(true);
  }

  private sortBy(sort: string): void {
    const order = this.state.sort === sort && this.state.order === 'desc' ? 'asc' : 'desc';
    this.change({ ...this.state, sort, order, page: 1 });
  }

  /** `isNew` means another page or order. Otherwise the table refreshes for a new block, and a failure is not
   * shown. */
  private async load(isNew: boolean): Promise<void> {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    const signal = AbortSignal.any([own.signal, this.options.signal]);
    this.showWaiting(isNew);
    try {
      const page = await this.options.load(this.state, signal);
      if (signal.aborted) return;
      this.shown = page;
      this.showRows(page);
    } catch (error) {
      if (signal.aborted) return;
      if (isNew || this.shown === null) {
        this.showFailure(error);
        retryWhenBack(error, () => this.retry(), this.options.signal);
      }
    }
    this.running = null;
    this.element.classList.remove('waiting');
    this.element.setAttribute('aria-busy', 'false');
  }

  /** Loads again after a failure, unless a refresh has loaded the rows already. */
  private retry(): void {
    if (this.shown === null) void this.load(true);
  }

  private showWaiting(isNew: boolean): void {
    const { columns } = this.options;
    columns.forEach((column, index) => {
      const isSorted = column.sort !== undefined && column.sort === this.state.sort;
      const order = this.state.order === 'asc' ? 'ascending' : 'descending';
      this.heads[index]?.setAttribute('aria-sort', isSorted ? order : 'none');
    });
    if (this.shown === null)
      this.body.replaceChildren(...skeletonRows(columns, Math.min(this.state.limit, SKELETON_ROWS)));
    this.element.classList.toggle('waiting', isNew && this.shown !== null);
    this.element.setAttribute('aria-busy', String(isNew));
  }

  private showRows({ data, meta }: TablePage<T>): void {
    const { body, options } = this;
    const { activeElement } = document;
    const focused = body.contains(activeElement) ? [...body.rows].indexOf(rowOf(activeElement)) : -1;
    const first = (meta.page - 1) * meta.limit;
    body.replaceChildren(...data.map((item, index) => toRow(options, item, first + index + 1)));
    const [firstRow] = body.rows;
    if (focused >= 0) body.rows[focused]?.focus();
    else if (firstRow !== undefined) firstRow.tabIndex = 0;
    this.notice.replaceChildren(
      data.length === 0 ? h('p', { class: 'notice empty' }, options.emptyText) : '',
    );
    this.pager.show(meta, data.length);
  }

  private showFailure(error: unknown): void {
    this.shown = null;
    this.body.replaceChildren();
    this.pager.hide();
    const text = this.options.explain?.(error) ?? failureText(error);
    this.notice.replaceChildren(failureNotice(text, () => void this.load(true)));
  }
}

function headCell<T>(column: Column<T>, onsort: (sort: string) => void): HTMLTableCellElement {
  const { sort, label, hint = null } = column;
  const props = {
    class: classes(`col-${column.name}`, column.align === 'left' && 'left'),
    scope: 'col',
    title: hint,
  };
  if (sort === undefined) return h('th', props, label);
  const sorter = h('button', { type: 'button', 'data-sort': sort, onclick: () => onsort(sort) }, label);
  return h('th', props, sorter);
}

function toRow<T>(options: TableOptions<T>, item: T, place: number): HTMLTableRowElement {
  const hash = options.hashOf(item);
  const cells = options.columns.map((column) =>
    h(
      'td',
      { class: classes(`col-${column.name}`, column.align === 'left' && 'left') },
      column.cell(item, place),
    ),
  );
  return h('tr', { tabindex: -1, 'data-hash': hash }, ...cells);
}

/** Placeholder rows with the cells of real rows, so columns keep their widths. */
function skeletonRows<T>(columns: readonly Column<T>[], rows: number): HTMLTableRowElement[] {
  return Array.from({ length: rows }, () => {
    const cells = columns.map(({ name }) => h('td', { class: `col-${name}` }, h('span')));
    return h('tr', { class: 'skeleton-row', 'aria-hidden': 'true' }, ...cells);
  });
}

const NO_ROW = document.createElement('tr');

function rowOf(target: EventTarget | null): HTMLTableRowElement {
  const row = target instanceof Element ? target.closest('tr') : null;
  return row ?? NO_ROW;
}

function openRow(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest('a, button') !== null) return;
  if (getSelection()?.isCollapsed === false) return;
  const hash = rowOf(event.target).dataset['hash'];
  if (hash !== undefined) location.hash = hash;
}

function walk(event: KeyboardEvent, pager: Pager): void {
  const row = rowOf(event.target);
  const rows = [...(row.parentElement?.children ?? [])];
  const at = rows.indexOf(row);
  const places: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.length - 1,
  };
  const next = places[event.key];
  if (next !== undefined) {
    const other = rows[Math.max(0, Math.min(rows.length - 1, next))];
    if (!(other instanceof HTMLElement)) return;
    event.preventDefault();
    row.tabIndex = -1;
    other.tabIndex = 0;
    other.focus();
    return;
  }
  if (event.key === 'PageDown' || event.key === 'PageUp') {
    event.preventDefault();
    pager.turn(event.key === 'PageDown' ? 1 : -1);
  }
  const hash = row.dataset['hash'];
  if (event.key === 'Enter' && event.target === row && hash !== undefined) location.hash = hash;
}

interface Pager {
  readonly element: HTMLElement;
  show(meta: TablePage<unknown>['meta'], count: number): void;
  hide(): void;
  turn(step: 1 | -1): void;
}

function createPager(onchange: (next: Partial<TableState>) => void): Pager {
  let page = 1;
  const text = h('span', { class: 'range', role: 'status' });
  const before = button('‹', () => onchange({ page: page - 1 }), {
    'aria-label': 'Previous page',
    class: 'button prev',
  });
  const after = button('›', () => onchange({ page: page + 1 }), {
    'aria-label': 'Next page',
    class: 'button next',
  });
  const limits = h(
    'select',
    { 'aria-label': 'Rows on a page' },
    ...LIMITS.map((limit) => h('option', { value: limit }, `${limit} rows`)),
  );
  limits.addEventListener('change', () => onchange({ limit: Number(limits.value), page: 1 }));
  const element = h(
    'div',
    { class: 'pager away' },
    text,
    h('span', { class: 'spring' }),
    limits,
    before,
    after,
  );
  return {
    element,
    show(meta, count) {
      page = meta.page;
      const first = (meta.page - 1) * meta.limit;
      text.textContent =
        count === 0
          ? ''
          : `${formatCount(first + 1)}–${formatCount(first + count)} of ${formatCount(meta.total)}`;
      limits.value = String(meta.limit);
      before.disabled = meta.page <= 1;
      after.disabled = !meta.has_next;
      element.classList.remove('away');
    },
    hide: () => element.classList.add('away'),
    turn(step) {
      (step === 1 ? after : before).click();
    },
  };
}
