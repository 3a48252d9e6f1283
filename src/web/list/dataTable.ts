/**
 * A table with rows from the API: sortable, searchable, paged and refreshed in place. Keyboard: up and down move
 * between rows, Enter opens a row, Page Up and Page Down turn pages.
 */
import { failureText } from '../core/api.ts';
import { button, joinClasses, h, showKeyed, screenReaderText } from '../core/dom.ts';
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
  /** `place` is the number of the item over all pages, from 1. */
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
const ROWS_PER_FRAME = 7;

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
  private headCells: readonly HTMLTableCellElement[] = [];
  private readonly headRow = h('tr');
  private readonly table: HTMLTableElement;
  private readonly pager: Pager;
  private state: TableState;
  private runningLoad: AbortController | null = null;
  private shownPage: TablePage<T> | null = null;
  /** Whether all rows of the shown page are drawn. */
  private isFullyDrawn = true;

  constructor(options: TableOptions<T>) {
    this.options = options;
    this.state = options.state;
    this.pager = createPager((stateChange) => this.setState({ ...this.state, ...stateChange }));
    const head = h('thead', {}, this.headRow);
    this.table = h('table', { class: 'data', 'aria-label': options.label }, head, this.body);
    this.showColumns();
    const scrollBox = h('div', { class: 'table-scroll' }, this.table);
    this.element = h('div', { class: 'table-box' }, scrollBox, this.notice, this.pager.element);
    this.body.addEventListener('click', (event) => openRow(event));
    this.body.addEventListener('keydown', (event) => handleKey(event, this.pager));
    void this.load(true);
  }

  restart(): void {
    this.setState({ ...this.state, page: 1 });
  }

  refresh(): void {
    if (this.runningLoad === null) void this.load(false);
  }

  redraw(): void {
    this.showColumns();
    this.markSorted();
    if (this.shownPage !== null) this.showRows(this.shownPage);
  }

  private showColumns(): void {
    const { columns, showsAll } = this.options;
    this.columns = typeof columns === 'function' ? columns() : columns;
    this.headCells = this.columns.map((column) => headCell(column, (sort) => this.sortBy(sort)));
    this.headRow.replaceChildren(...this.headCells);
    this.table.classList.toggle('all-columns', showsAll?.() === true);
  }

  private setState(nextState: TableState): void {
    this.state = nextState;
    this.options.onstate?.(nextState);
    void this.load(true);
  }

  private sortBy(sort: string): void {
    const order = this.state.sort === sort && this.state.order === 'desc' ? 'asc' : 'desc';
    this.setState({ ...this.state, sort, order, page: 1 });
  }

  /** `isOtherPage` means another page or order. Otherwise the table refreshes for a new block, and a failure is not
   * shown. */
  private async load(isOtherPage: boolean): Promise<void> {
    this.runningLoad?.abort();
    const controller = new AbortController();
    this.runningLoad = controller;
    const signal = AbortSignal.any([controller.signal, this.options.signal]);
    this.showWaiting(isOtherPage);
    try {
      const page = await this.options.load(this.state, signal);
      if (signal.aborted) return;
      const isFirst = this.shownPage === null;
      this.shownPage = page;
      if (isFirst) await this.drawInPortions(page, signal);
      else this.showRows(page);
      if (signal.aborted) return;
    } catch (error) {
      if (signal.aborted) return;
      if (isOtherPage || this.shownPage === null) {
        this.showFailure(error);
        retryWhenBack(error, () => this.retry(), this.options.signal);
      }
    }
    this.runningLoad = null;
    this.element.classList.remove('waiting');
    this.element.setAttribute('aria-busy', 'false');
  }

  /** Loads again after a failure, unless a refresh has loaded the rows already. */
  private retry(): void {
    if (this.shownPage === null) void this.load(true);
  }

  private showWaiting(isOtherPage: boolean): void {
    this.markSorted();
    if (this.shownPage === null)
      this.body.replaceChildren(...skeletonRows(this.columns, Math.min(this.state.limit, SKELETON_ROWS)));
    this.element.classList.toggle('waiting', isOtherPage && this.shownPage !== null);
    this.element.setAttribute('aria-busy', String(isOtherPage));
  }

  private markSorted(): void {
    this.columns.forEach((column, index) => {
      const isSorted = column.sort !== undefined && column.sort === this.state.sort;
      const order = this.state.order === 'asc' ? 'ascending' : 'descending';
      this.headCells[index]?.setAttribute('aria-sort', isSorted ? order : 'none');
    });
  }

  private showRows({ data, meta }: TablePage<T>): void {
    const { body } = this;
    const { activeElement } = document;
    this.isFullyDrawn = true;
    const focusedRow = body.contains(activeElement) ? [...body.rows].indexOf(rowOf(activeElement)) : -1;
    const focusedSelector =
      ['.star', '.copy'].find((selector) => activeElement?.matches(selector) === true) ?? null;
    for (const row of body.rows) row.tabIndex = -1;
    showKeyed(
      body,
      data.map((item, index) => this.rowOf(item, index, meta)),
      ({ dataset }) => dataset['path'],
    );
    const row = body.rows[Math.max(0, focusedRow)] ?? body.rows[0];
    if (body.contains(document.activeElement)) rowOf(document.activeElement).tabIndex = 0;
    else if (row !== undefined) {
      row.tabIndex = 0;
      const focusTarget = focusedSelector === null ? null : row.querySelector<HTMLElement>(focusedSelector);
      if (focusedRow >= 0) (focusTarget ?? row).focus();
    }
    this.showNoticeAndPager({ data, meta });
  }

  /** Puts the first rows in the places of the placeholders, some in each frame. */
  private async drawInPortions({ data, meta }: TablePage<T>, signal: AbortSignal): Promise<void> {
    const placeholders = [...this.body.rows];
    this.isFullyDrawn = false;
    for (const [index, item] of data.entries()) {
      const row = this.rowOf(item, index, meta);
      const placeholder = placeholders[index];
      if (placeholder === undefined) this.body.append(row);
      else placeholder.replaceWith(row);
      if (index === 0) row.tabIndex = 0;
      if ((index + 1) % ROWS_PER_FRAME !== 0) continue;
      await afterPaint();
      // The user may have chosen other columns, which draws all rows, or another page.
      if (signal.aborted || this.isFullyDrawn) return;
    }
    for (const placeholder of placeholders.slice(data.length)) placeholder.remove();
    this.isFullyDrawn = true;
    this.showNoticeAndPager({ data, meta });
  }

  private rowOf(item: T, index: number, { page, limit }: TablePage<T>['meta']): HTMLTableRowElement {
    return toRow(this.options.pathOf(item), this.columns, item, (page - 1) * limit + index + 1);
  }

  private showNoticeAndPager({ data, meta }: TablePage<T>): void {
    this.notice.replaceChildren(
      data.length === 0 ? h('p', { class: 'notice empty' }, this.options.emptyText()) : '',
    );
    this.pager.show(meta, data.length);
  }

  private showFailure(error: unknown): void {
    this.shownPage = null;
    this.body.replaceChildren();
    this.pager.hide();
    const text = this.options.explain?.(error) ?? failureText(error);
    this.notice.replaceChildren(failureNotice(text, () => void this.load(true)));
  }
}

function headCell<T>(column: Column<T>, onsort: (sort: string) => void): HTMLTableCellElement {
  const { sort, label, hint = null } = column;
  const props = {
    class: joinClasses(`col-${column.name}`, column.align === 'left' && 'left'),
    scope: 'col',
    title: hint,
  };
  if (label === '') return h('th', props, screenReaderText(hint ?? column.name));
  if (sort === undefined) return h('th', props, label);
  const sortButton = h('button', { type: 'button', 'data-sort': sort, onclick: () => onsort(sort) }, label);
  return h('th', props, sortButton);
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
      { class: joinClasses(`col-${column.name}`, column.align === 'left' && 'left') },
      column.cell(item, place),
    ),
  );
  return h('tr', { tabindex: -1, 'data-path': path }, ...cells);
}

/** Placeholder rows with the cells of real rows, so columns keep their widths. */
function skeletonRows<T>(columns: readonly Column<T>[], rowCount: number): HTMLTableRowElement[] {
  return Array.from({ length: rowCount }, () => {
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

function handleKey(event: KeyboardEvent, pager: Pager): void {
  const row = rowOf(event.target);
  const rows = [...(row.parentElement?.children ?? [])];
  const rowIndex = rows.indexOf(row);
  const indexOfKey: Readonly<Record<string, number>> = {
    ArrowDown: rowIndex + 1,
    ArrowUp: rowIndex - 1,
    Home: 0,
    End: rows.length - 1,
  };
  const nextIndex = indexOfKey[event.key];
  if (nextIndex !== undefined) {
    const nextRow = rows[Math.max(0, Math.min(rows.length - 1, nextIndex))];
    if (!(nextRow instanceof HTMLElement)) return;
    event.preventDefault();
    row.tabIndex = -1;
    nextRow.tabIndex = 0;
    nextRow.focus();
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

function createPager(onchange: (stateChange: Partial<TableState>) => void): Pager {
  let page = 1;
  const rangeText = h('span', { class: 'range', role: 'status' });
  const previousButton = button('‹', () => onchange({ page: page - 1 }), {
    'aria-label': 'Previous page',
    class: 'button prev',
  });
  const nextButton = button('›', () => onchange({ page: page + 1 }), {
    'aria-label': 'Next page',
    class: 'button next',
  });
  const limitSelect = h(
    'select',
    { 'aria-label': 'Rows on a page' },
    ...LIMITS.map((limit) => h('option', { value: limit }, `${limit} rows`)),
  );
  limitSelect.addEventListener('change', () => onchange({ limit: Number(limitSelect.value), page: 1 }));
  const element = h(
    'div',
    { class: 'pager away' },
    rangeText,
    h('span', { class: 'spring' }),
    limitSelect,
    previousButton,
    nextButton,
  );
  return {
    element,
    show(meta, count) {
      page = meta.page;
      const firstPosition = (meta.page - 1) * meta.limit;
      rangeText.textContent =
        count === 0
          ? ''
          : `${formatCount(firstPosition + 1)}–${formatCount(firstPosition + count)} of ${formatCount(meta.total)}`;
      limitSelect.value = String(meta.limit);
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
