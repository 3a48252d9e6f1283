/**
 * A table with rows from the API: sortable, searchable, paged and refreshed in place. Keyboard: up and down move
 * between rows, Enter opens a row, Page Up and Page Down turn pages.
 */
import { failureText } from '../core/api.ts';
import { button, classes, h, showKeyed, unseen } from '../core/dom.ts';
import { failureNotice } from '../core/panel.ts';
import { formatCount } from '../core/format.ts';
import { afterPaint } from '../core/nextTask.ts';
import { goTo } from '../core/navigation.ts';
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
  /** Whether the user may choose the column, and whether it is on at first. Absent: always shown. */
  readonly choice?: 'on' | 'off';
  /** `place` is the position of the item over all pages, from 1. */
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
  readonly columns: readonly Column<T>[] | (() => readonly Column<T>[]);
  /** Whether all columns are shown, also where the window is too narrow for them. */
  readonly showsAll?: () => boolean;
  readonly state: TableState;
  readonly load: (state: TableState, signal: AbortSignal) => Promise<TablePage<T>>;
  readonly pathOf: (item: T) => string | null;
  readonly emptyText: () => string;
  readonly signal: AbortSignal;
  readonly onstate?: (state: TableState) => void;
  readonly explain?: (error: unknown) => string | null;
}

export interface DataTable {
  readonly element: HTMLElement;
  /** Loads the first page again, for a new search. */
  restart(): void;
  refresh(): void;
  /** Draws the shown page again, after a change of the chosen columns. */
  redraw(): void;
}

const LIMITS = [25, 50, 100] as const;
/** Number of placeholder rows while a table of unknown length loads. */
const SKELETON_ROWS = 25;
/** Number of rows that one frame adds to an empty table. More would block the page for too long. */
const PORTION = 7;

export function dataTable<T>(options: TableOptions<T>): DataTable {
  return new Rows(options);
}

/** The state of the table: the requested page, the shown page, and the running request. */
class Rows<T> implements DataTable {
  readonly element: HTMLElement;
  private readonly options: TableOptions<T>;
  private readonly body = h('tbody');
  private readonly notice = h('div', { class: 'table-notice' });
  private columns: readonly Column<T>[] = [];
  private heads: readonly HTMLTableCellElement[] = [];
  private readonly headRow = h('tr');
  private readonly table: HTMLTableElement;
  private readonly pager: Pager;
  private state: TableState;
  private running: AbortController | null = null;
  private shown: TablePage<T> | null = null;
  /** Whether all rows of the shown page are drawn. */
  private isGrown = true;

  constructor(options: TableOptions<T>) {
    this.options = options;
    this.state = options.state;
    this.pager = createPager((next) => this.change({ ...this.state, ...next }));
    const head = h('thead', {}, this.headRow);
    this.table = h('table', { class: 'data', 'aria-label': options.label }, head, this.body);
    this.readColumns();
    const scroll = h('div', { class: 'table-scroll' }, this.table);
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

  redraw(): void {
    this.readColumns();
    this.markSorted();
    if (this.shown !== null) this.showRows(this.shown);
  }

  private readColumns(): void {
    const { columns, showsAll } = this.options;
    this.columns = typeof columns === 'function' ? columns() : columns;
    this.heads = this.columns.map((column) => headCell(column, (sort) => this.sortBy(sort)));
    this.headRow.replaceChildren(...this.heads);
    this.table.classList.toggle('all-columns', showsAll?.() === true);
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
    const controller = new AbortController();
    this.running = controller;
    const signal = AbortSignal.any([controller.signal, this.options.signal]);
    this.showWaiting(isNew);
    try {
      const page = await this.options.load(this.state, signal);
      if (signal.aborted) return;
      const isFirst = this.shown === null;
      this.shown = page;
      if (isFirst) await this.growRows(page, signal);
      else this.showRows(page);
      if (signal.aborted) return;
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
    this.markSorted();
    if (this.shown === null)
      this.body.replaceChildren(...skeletonRows(this.columns, Math.min(this.state.limit, SKELETON_ROWS)));
    this.element.classList.toggle('waiting', isNew && this.shown !== null);
    this.element.setAttribute('aria-busy', String(isNew));
  }

  private markSorted(): void {
    this.columns.forEach((column, index) => {
      const isSorted = column.sort !== undefined && column.sort === this.state.sort;
      const order = this.state.order === 'asc' ? 'ascending' : 'descending';
      this.heads[index]?.setAttribute('aria-sort', isSorted ? order : 'none');
    });
  }

  private showRows({ data, meta }: TablePage<T>): void {
    const { body } = this;
    const { activeElement } = document;
    this.isGrown = true;
    const focused = body.contains(activeElement) ? [...body.rows].indexOf(rowOf(activeElement)) : -1;
    const focusedKind = ['.star', '.copy'].find((kind) => activeElement?.matches(kind) === true) ?? null;
    for (const row of body.rows) row.tabIndex = -1;
    showKeyed(
      body,
      data.map((item, index) => this.rowOf(item, index, meta)),
      ({ dataset }) => dataset['path'],
    );
    const row = body.rows[Math.max(0, focused)] ?? body.rows[0];
    if (body.contains(document.activeElement)) rowOf(document.activeElement).tabIndex = 0;
    else if (row !== undefined) {
      row.tabIndex = 0;
      const within = focusedKind === null ? null : row.querySelector<HTMLElement>(focusedKind);
      if (focused >= 0) (within ?? row).focus();
    }
    this.showEnd({ data, meta });
  }

  /** Puts the first rows in the places of the placeholders, some in each frame. */
  private async growRows({ data, meta }: TablePage<T>, signal: AbortSignal): Promise<void> {
    const placeholders = [...this.body.rows];
    this.isGrown = false;
    for (const [index, item] of data.entries()) {
      const row = this.rowOf(item, index, meta);
      const placeholder = placeholders[index];
      if (placeholder === undefined) this.body.append(row);
      else placeholder.replaceWith(row);
      if (index === 0) row.tabIndex = 0;
      if ((index + 1) % PORTION !== 0) continue;
      await afterPaint();
      // The user may have chosen other columns, which draws all rows, or another page.
      if (signal.aborted || this.isGrown) return;
    }
    for (const placeholder of placeholders.slice(data.length)) placeholder.remove();
    this.isGrown = true;
    this.showEnd({ data, meta });
  }

  private rowOf(item: T, index: number, { page, limit }: TablePage<T>['meta']): HTMLTableRowElement {
    return toRow(this.options.pathOf(item), this.columns, item, (page - 1) * limit + index + 1);
  }

  private showEnd({ data, meta }: TablePage<T>): void {
    this.notice.replaceChildren(
      data.length === 0 ? h('p', { class: 'notice empty' }, this.options.emptyText()) : '',
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
  if (label === '') return h('th', props, unseen(hint ?? column.name));
  if (sort === undefined) return h('th', props, label);
  const sorter = h('button', { type: 'button', 'data-sort': sort, onclick: () => onsort(sort) }, label);
  return h('th', props, sorter);
}

function toRow<T>(
  path: string | null,
  columns: readonly Column<T>[],
  item: T,
  place: number,
): HTMLTableRowElement {
  const cells = columns.map((column) =>
    h(
      'td',
      { class: classes(`col-${column.name}`, column.align === 'left' && 'left') },
      column.cell(item, place),
    ),
  );
  return h('tr', { tabindex: -1, 'data-path': path }, ...cells);
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
  const path = rowOf(event.target).dataset['path'];
  if (path !== undefined) goTo(path);
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
  const path = row.dataset['path'];
  if (event.key === 'Enter' && event.target === row && path !== undefined) goTo(path);
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
  const previousButton = button('‹', () => onchange({ page: page - 1 }), {
    'aria-label': 'Previous page',
    class: 'button prev',
  });
  const nextButton = button('›', () => onchange({ page: page + 1 }), {
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
    previousButton,
    nextButton,
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
      previousButton.disabled = meta.page <= 1;
      nextButton.disabled = !meta.has_next;
      element.classList.remove('away');
    },
    hide: () => element.classList.add('away'),
    turn(step) {
      (step === 1 ? nextButton : previousButton).click();
    },
  };
}
