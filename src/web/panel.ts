/**
 * A part of a view that is loaded: a skeleton of its final size first, then its content or what went wrong with a way
 * to try again. A reload keeps what is shown until the new content is there.
 */
import { failureText, type ApiFailure } from './api.ts';
import { button, h } from './dom.ts';

export interface Loaded {
  readonly element: HTMLElement;
  /** Loads again what the view now asks for; a load under way is given up. */
  reload(): void;
  /** Loads the same again for a new block; a load under way goes on instead. */
  refresh(): void;
}

export interface LoadedOptions<T> {
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly render: (value: T) => Node;
  readonly skeleton: () => Node;
  readonly signal: AbortSignal;
  readonly class?: string;
  /** What to say of a failure in words of the view; null: the API's own. */
  readonly explain?: (error: unknown) => string | null;
}

export function loaded<T>(options: LoadedOptions<T>): Loaded {
  const element = h('div', { class: options.class ?? 'loaded', 'aria-busy': 'true' }, options.skeleton());
  let running: AbortController | null = null;
  let shown = false;
  const show = (node: Node): void => {
    element.replaceChildren(node);
    element.setAttribute('aria-busy', 'false');
  };
  const reload = (): void => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const signal = AbortSignal.any([own.signal, options.signal]);
    options.load(signal).then(
      (value) => {
        if (signal.aborted) return;
        running = null;
        shown = true;
        show(options.render(value));
      },
      (error: unknown) => {
        if (signal.aborted) return;
        running = null;
        // What is on the screen stays: the next block brings the next try.
        if (shown) return;
        const text = options.explain?.(error) ?? failureText(error);
        // What is not there is no failure, and trying again would not help.
        show(isMissing(error) ? emptyNotice(text) : failureNotice(text, () => retry()));
      },
    );
  };
  const retry = (): void => {
    element.replaceChildren(options.skeleton());
    element.setAttribute('aria-busy', 'true');
    reload();
  };
  reload();
  return {
    element,
    reload,
    refresh() {
      if (running === null) reload();
    },
  };
}

export function failureNotice(text: string, onretry: () => void): HTMLElement {
  return h(
    'div',
    { class: 'notice failure', role: 'alert' },
    h('p', {}, text),
    button('Try again', onretry, { class: 'button retry' }),
  );
}

export function emptyNotice(text: string, ...more: readonly (Node | string)[]): HTMLElement {
  return h('div', { class: 'notice empty' }, h('p', {}, text), ...more);
}

/** Whether a failure says that the thing, or the whole endpoint, is not there. */
export function isMissing(error: unknown): error is ApiFailure {
  return error instanceof Error && 'status' in error && error.status === 404;
}

/** Grey bars where content will be: of a height in pixels, or of what the style sheet has for a name. */
export function skeleton(size: number | string, lines = 1): HTMLElement {
  const named = typeof size === 'string';
  const block = h('div', { class: named ? `skeleton sk-${size}` : 'skeleton', 'aria-hidden': 'true' });
  if (!named) block.style.height = `${size}px`;
  for (let line = 0; line < lines; line += 1) block.append(h('span'));
  return block;
}

export function card(title: string | null, ...children: readonly (Node | string | null)[]): HTMLElement {
  return h('section', { class: 'card' }, title === null ? null : h('h2', {}, title), ...children);
}
