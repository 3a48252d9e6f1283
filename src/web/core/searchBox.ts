/** The search box of the header: `/` focuses it, arrow keys select a result, Enter opens it. */
import { failureText } from './api.ts';
import type { App } from './app.ts';
import { h } from './dom.ts';
import { badge } from './pieces.ts';
import { findAnything, SEARCH_TEXT_MAX, type SearchResult } from '../views/searchView.ts';

const TYPING_MS = 180;
const HITS_MAX = 6;

export function setUpSearch(app: App, input: HTMLInputElement, list: HTMLElement): void {
  const box = new SearchBox(app, input, list);
  input.addEventListener('input', () => box.onInput());
  input.addEventListener('keydown', (event) => box.onKey(event));
  input.addEventListener('blur', () => setTimeout(() => box.close(), BLUR_MS));
  document.addEventListener('keydown', (event) => {
    const target = event.target;
    const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/** The page waits before it hides the results, because the click on a result arrives after the blur event. */
const BLUR_MS = 150;

class SearchBox {
  private readonly app: App;
  private readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private hits: readonly SearchResult[] = [];
  private chosenIndex = -1;
  private typingTimer = 0;
  private runningSearch: AbortController | null = null;

  constructor(app: App, input: HTMLInputElement, list: HTMLElement) {
    this.app = app;
    this.input = input;
    this.list = list;
  }

  onInput(): void {
    const searchText = this.input.value.trim().slice(0, SEARCH_TEXT_MAX);
    this.clearResults();
    if (searchText === '') return this.close();
    this.showMessage('Searching …');
    this.typingTimer = window.setTimeout(() => void this.search(searchText), TYPING_MS);
  }

  onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.close();
      this.input.blur();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      this.moveSelection(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      const searchText = this.input.value.trim();
      const path =
        this.hits[this.chosenIndex]?.path ??
        (searchText === '' ? null : `/search?q=${encodeURIComponent(searchText)}`);
      if (path !== null) this.goTo(path);
    }
  }

  close(): void {
    this.clearResults();
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }

  /** Removes the results of the last search. Below a new text, a click on such a result would open the wrong page. */
  private clearResults(): void {
    this.runningSearch?.abort();
    clearTimeout(this.typingTimer);
    this.hits = [];
    this.chosenIndex = -1;
    this.input.removeAttribute('aria-activedescendant');
  }

  /** Selects the next or previous result, wrapping around. Without a selection, up selects the last result. */
  private moveSelection(direction: 1 | -1): void {
    const count = this.hits.length;
    if (count === 0) return;
    this.select(
      this.chosenIndex < 0 && direction < 0 ? count - 1 : (this.chosenIndex + direction + count) % count,
    );
  }

  private async search(searchText: string): Promise<void> {
    this.runningSearch?.abort();
    const controller = new AbortController();
    this.runningSearch = controller;
    try {
      const hits = (await findAnything(searchText, HITS_MAX, controller.signal)).slice(0, HITS_MAX * 2);
      if (controller.signal.aborted) return;
      this.hits = hits;
      if (hits.length === 0) return this.showMessage('No results. Press Enter to search sources too.');
      this.showItems(...hits.map((hit, index) => this.optionOf(hit, index)));
      this.select(-1);
    } catch (error) {
      if (!controller.signal.aborted) this.showMessage(failureText(error));
    }
  }

  private optionOf(hit: SearchResult, index: number): HTMLElement {
    return h(
      'li',
      { id: `found-${index}`, role: 'option', 'aria-selected': 'false', onclick: () => this.goTo(hit.path) },
      badge(hit.kind),
      h('strong', {}, hit.title),
      h('span', { class: 'muted' }, hit.subtitle),
    );
  }

  private showMessage(text: string): void {
    this.showItems(h('li', { class: 'muted', role: 'option', 'aria-disabled': 'true' }, text));
  }

  private showItems(...children: readonly Node[]): void {
    this.list.replaceChildren(...children);
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
  }

  private select(index: number): void {
    this.chosenIndex = index;
    [...this.list.children].forEach((option, optionIndex) =>
      option.setAttribute('aria-selected', String(optionIndex === index)),
    );
    if (index >= 0) this.input.setAttribute('aria-activedescendant', `found-${index}`);
  }

  private goTo(path: string): void {
    this.close();
    this.input.value = '';
    this.input.blur();
    this.app.go(path);
  }
}
