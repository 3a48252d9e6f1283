/** The choice of columns of a table, kept in this browser. */
import { h } from '../core/dom.ts';
import { readStored, writeStored } from '../core/stored.ts';
import type { Column } from '../list/dataTable.ts';

/** Most names of a stored choice that are read. */
const NAMES_MAX = 40;

interface ColumnChoice<T> {
  readonly element: HTMLElement;
  /** The columns to show now. */
  shown(): readonly Column<T>[];
  /** Whether the user has chosen; otherwise the width of the window decides. */
  isChosen(): boolean;
}

export function columnChoice<T>(
  key: string,
  columns: readonly Column<T>[],
  onchange: () => void,
): ColumnChoice<T> {
  const usual = columns.filter(({ choice }) => choice !== 'off').map(({ name }) => name);
  let names = readNames(key, columns);
  const boxes = columns
    .filter(({ choice }) => choice !== undefined)
    .map(({ name, label, hint }) => {
      const box = h('input', { type: 'checkbox', value: name });
      return { box, row: h('label', { title: hint ?? null }, box, label) };
    });
  const show = (): void => {
    for (const { box } of boxes) box.checked = (names ?? usual).includes(box.value);
  };
  const change = (next: readonly string[] | null): void => {
    names = next;
    writeStored(key, next);
    show();
    onchange();
  };
  for (const { box } of boxes)
    box.addEventListener('change', () =>
      change(boxes.filter((each) => each.box.checked).map((each) => each.box.value)),
    );
  const reset = h(
    'button',
    { type: 'button', class: 'button quiet', onclick: () => change(null) },
    'Usual columns',
  );
  show();
  const element = h(
    'details',
    { class: 'menu columns-menu' },
    h('summary', { class: 'button' }, 'Columns'),
    h(
      'div',
      { class: 'menu-box', role: 'group', 'aria-label': 'Columns' },
      ...boxes.map(({ row }) => row),
      reset,
    ),
  );
  closeOutside(element);
  return {
    element,
    shown: () =>
      columns.filter(({ choice, name }) => choice === undefined || (names ?? usual).includes(name)),
    isChosen: () => names !== null,
  };
}

/** Closes the menu on Escape, and when the focus leaves it. */
function closeOutside(menu: HTMLDetailsElement): void {
  menu.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') menu.open = false;
  });
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
  });
}

function readNames<T>(key: string, columns: readonly Column<T>[]): readonly string[] | null {
  const stored = readStored(key);
  if (!Array.isArray(stored)) return null;
  const storedNames = stored.slice(0, NAMES_MAX);
  return columns.map(({ name }) => name).filter((name) => storedNames.includes(name));
}
