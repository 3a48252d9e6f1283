/** The search box of the header: `/` focuses it, arrow keys select a result, Enter opens it. */
import { failureText } from './api.ts';
import type { App } from './app.ts';
import { h } from './dom.ts';
import { badge } from './pieces.ts';
import { findAnything, SEARCHED_MAX, type Found } from '../views/searchView.ts';

const TYPING_MS = 180;
const FOUND_MAX = 6;

export function setUpSearch(app: App, input: HTMLInputElement, list: HTMLElement): void {
  const box = new SearchBox(app, input, list);
  input.addEventListener('input', () => box.type());
  input.addEventListener('keydown', (event) => box.press(event));
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
  private found: readonly Found[] = [];
  private chosen = -1;
  private timer = 0;
  private running: AbortController | null = null;

  constructor(app: App, input: HTMLInputElement, list: HTMLElement) {
    this.app = app;
    this.input = input;
    this.list = list;
  }

  type(): void {
    const q = this.input.value.trim().slice(0, SEARCHED_MAX);
    this.forget();
    if (q === '') return this.close();
    this.say('Searching …');
    this.timer = window.setTimeout(() => void this.look(q), TYPING_MS);
  }

  press(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.close();
      this.input.blur();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      this.step(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      const q = this.input.value.trim();
      const path = this.found[this.chosen]?.path ?? (q === '' ? null : `/search?q=${encodeURIComponent(q)}`);
      if (path !== null) this.goTo(path);
    }
  }

  close(): void {
    this.forget();
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }

  /** Removes the results of the last search. Below a new text, a click on such a result would open the wrong page. */
  private forget(): void {
    this.running?.abort();
    clearTimeout(this.timer);
    this.found = [];
    this.chosen = -1;
    this.input.removeAttribute('aria-activedescendant');
  }

  /** Selects the next or previous result, wrapping around. Without a selection, up selects the last result. */
  private step(by: 1 | -1): void {
    const count = this.found.length;
    if (count === 0) return;
    this.mark(this.chosen < 0 && by < 0 ? count - 1 : (this.chosen + by + count) % count);
  }

  private async look(q: string): Promise<void> {
    this.running?.abort();
    const controller = new AbortController();
    this.running = controller;
    try {
      const hits = (await findAnything(q, FOUND_MAX, controller.signal)).slice(0, FOUND_MAX * 2);
      if (controller.signal.aborted) return;
      this.found = hits;
      if (hits.length === 0) return this.say('No results. Press Enter to search sources too.');
      this.open(...hits.map((hit, index) => this.option(hit, index)));
      this.mark(-1);
    } catch (error) {
      if (!controller.signal.aborted) this.say(failureText(error));
    }
  }

  private option(hit: Found, index: number): HTMLElement {
    return h(
      'li',
      { id: `found-${index}`, role: 'option', 'aria-selected': 'false', onclick: () => this.goTo(hit.path) },
      badge(hit.kind),
      h('strong', {}, hit.title),
      h('span', { class: 'muted' }, hit.subtitle),
    );
  }

  private say(text: string): void {
    this.open(h('li', { class: 'muted', role: 'option', 'aria-disabled': 'true' }, text));
  }

  private open(...children: readonly Node[]): void {
    this.list.replaceChildren(...children);
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
  }

  private mark(index: number): void {
    this.chosen = index;
    [...this.list.children].forEach((option, place) =>
      option.setAttribute('aria-selected', String(place === index)),
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
