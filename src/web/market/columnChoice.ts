/** The choice of columns of a table, kept in this browser. */
import { h } from '../core/dom.ts';
import { readStored, writeStored } from '../core/stored.ts';
import type { Column } from '../list/dataTable.ts';

/** Most names of a stored choice that are read. */
const NAMES_MAX = 40;

interface ColumnChoice<T> {
  readonly element: HTMLElement;
  /** The columns to show now. */
  shownColumns(): readonly Column<T>[];
  /** Whether the user has chosen; otherwise the width of the window decides. */
  isChosen(): boolean;
}

export function columnChoice<T>(
  key: string,
  columns: readonly Column<T>[],
  onchange: () => void,
): ColumnChoice<T> {
  const usualNames = columns.filter(({ choice }) => choice !== 'off').map(({ name }) => name);
  let chosenNames = readNames(key, columns);
  const choices = columns
    .filter(({ choice }) => choice !== undefined)
    .map(({ name, label, hint }) => {
      const checkbox = h('input', { type: 'checkbox', value: name });
      return { checkbox, row: h('label', { title: hint ?? null }, checkbox, label) };
    });
  const showChecked = (): void => {
    for (const { checkbox } of choices)
      checkbox.checked = (chosenNames ?? usualNames).includes(checkbox.value);
  };
  const setNames = (names: readonly string[] | null): void => {
    chosenNames = names;
    writeStored(key, names);
    showChecked();
    onchange();
  };
  for (const { checkbox } of choices)
    checkbox.addEventListener('change', () =>
      setNames(choices.filter((other) => other.checkbox.checked).map((other) => other.checkbox.value)),
    );
  const resetButton = h(
    'button',
    { type: 'button', class: 'button quiet', onclick: () => setNames(null) },
    'Usual columns',
  );
  showChecked();
  const element = h(
    'details',
    { class: 'menu columns-menu' },
    h('summary', { class: 'button' }, 'Columns'),
    h(
      'div',
      { class: 'menu-box', role: 'group', 'aria-label': 'Columns' },
      ...choices.map(({ row }) => row),
      resetButton,
    ),
  );
  closeOutside(element);
  return {
    element,
    shownColumns: () =>
      columns.filter(
        ({ choice, name }) => choice === undefined || (chosenNames ?? usualNames).includes(name),
      ),
    isChosen: () => chosenNames !== null,
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
