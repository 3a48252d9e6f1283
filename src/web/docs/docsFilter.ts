/** The filter of the API reference: shows only the entries that match a text. The text stays in the address. */
import { button, h } from '../core/dom.ts';
import type { Entry } from './endpointSection.ts';

/** Length limit of the text, in characters. */
const LENGTH_MAX = 80;

interface FilterOptions {
  readonly entries: readonly Entry[];
  /** The links of the list of contents by id of the entry. */
  readonly links: ReadonlyMap<string, HTMLElement>;
  /** Parts that only the unfiltered page shows. */
  readonly unfilteredParts: readonly HTMLElement[];
}

interface DocsFilter {
  /** The field with the number of found entries. */
  readonly box: HTMLElement;
  /** The notice that no entry matches. */
  readonly noMatchNotice: HTMLElement;
}

export function createFilter({ entries, links, unfilteredParts }: FilterOptions): DocsFilter {
  const textByEntry = new Map(entries.map((entry) => [entry, entry.words.toLowerCase()]));
  const input = h('input', {
    type: 'search',
    placeholder: 'Filter endpoints',
    'aria-label': 'Filter the endpoints',
    'aria-keyshortcuts': '/',
    maxlength: LENGTH_MAX,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const countLine = h('p', { class: 'filter-count', role: 'status', 'aria-live': 'polite' });
  const noMatchText = h('span', {});
  const clear = (): void => {
    input.value = '';
    applyFilter();
    input.focus();
  };
  const clearButton = button('Clear the filter', clear);
  const noMatchNotice = h('div', { class: 'notice', hidden: true }, noMatchText, clearButton);
  const applyFilter = (): void => {
    const text = input.value.trim();
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matchingEntries = entries.filter((entry) =>
      words.every((word) => textByEntry.get(entry)?.includes(word) === true),
    );
    const shownEntries = new Set(matchingEntries);
    for (const entry of entries) {
      entry.element.hidden = !shownEntries.has(entry);
      const item = links.get(entry.id)?.parentElement;
      if (item != null) item.hidden = !shownEntries.has(entry);
      entry.narrow?.(words);
    }
    for (const group of document.querySelectorAll<HTMLElement>('.contents [data-group]'))
      group.hidden = !matchingEntries.some((entry) => entry.group === group.dataset['group']);
    for (const part of unfilteredParts) part.hidden = words.length > 0;
    noMatchNotice.hidden = matchingEntries.length > 0;
    noMatchText.textContent = `No endpoint matches “${text}”. `;
    countLine.textContent = countText(words.length, matchingEntries.length, entries.length);
    keepInAddress(text);
  };
  input.addEventListener('input', () => {
    applyFilter();
    scrollTo({ top: 0 });
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      if (input.value === '') input.blur();
      else clear();
    } else if (event.key === 'Enter' || event.key === 'ArrowDown')
      entries
        .find(({ element }) => !element.hidden)
        ?.element.querySelector('a')
        ?.focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  input.value = new URLSearchParams(location.search).get('q')?.slice(0, LENGTH_MAX) ?? '';
  applyFilter();
  const keyHint = h('kbd', { 'aria-hidden': 'true' }, '/');
  const field = h('div', { class: 'filter-field' }, input, keyHint);
  return { box: h('div', { class: 'filter', role: 'search' }, field, countLine), noMatchNotice };
}

function countText(wordCount: number, foundCount: number, allCount: number): string {
  if (wordCount === 0) return `${allCount} endpoints`;
  return foundCount === 0 ? 'Nothing matches' : `${foundCount} of ${allCount} endpoints match`;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, select, textarea') !== null;
}

function keepInAddress(text: string): void {
  const url = new URL(location.href);
  if ((url.searchParams.get('q') ?? '') === text) return;
  if (text === '') url.searchParams.delete('q');
  else url.searchParams.set('q', text);
  history.replaceState(history.state, '', url);
}
