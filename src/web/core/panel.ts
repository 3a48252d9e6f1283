/**
 * A part of a view that loads data. Shows a skeleton of the final size, then the content, or an error with a retry
 * button. A reload keeps the old content until the new content arrives.
 */
import { failureText, type ApiFailure } from './api.ts';
import { button, h, setChildren } from './dom.ts';
import { afterPaint, nextTask } from './nextTask.ts';
import { retryWhenBack } from './recovery.ts';

export interface LoadingPanel {
  readonly element: HTMLElement;
  /** Loads again with changed inputs, and cancels a running request. */
  reload(): void;
  /** Loads the same inputs again for a new block. A running request continues. */
  refresh(): void;
  /** Renders the last answer again, without a request. */
  redraw(): void;
}

interface LoadingPanelOptions<T> {
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly render: (value: T) => Node;
  readonly skeleton: () => Node;
  readonly signal: AbortSignal;
  readonly class?: string;
  /** The view's own message for a failure; null shows the API's message. */
  readonly explain?: (error: unknown) => string | null;
}

export function loadingPanel<T>(options: LoadingPanelOptions<T>): LoadingPanel {
  const element = h('div', { class: options.class ?? 'loaded', 'aria-busy': 'true' }, options.skeleton());
  let runningRequest: AbortController | null = null;
  let shownValue: { readonly value: T } | null = null;
  const show = (node: Node): void => {
    setChildren(element, [node]);
    element.setAttribute('aria-busy', 'false');
  };
  const reload = (): void => {
    runningRequest?.abort();
    const controller = new AbortController();
    runningRequest = controller;
    const signal = AbortSignal.any([controller.signal, options.signal]);
    options.load(signal).then(
      (value) => {
        if (signal.aborted) return;
        runningRequest = null;
        shownValue = { value };
        show(options.render(value));
      },
      (error: unknown) => {
        if (signal.aborted) return;
        runningRequest = null;
        // Content that is on the screen stays. The next block leads to another try.
        if (shownValue !== null) return;
        const text = options.explain?.(error) ?? failureText(error);
        // A missing object is not a failure, and a retry would not help.
        const retryUnlessShown = (): void => {
          if (shownValue === null) retry();
        };
        retryWhenBack(error, retryUnlessShown, options.signal);
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
      if (runningRequest === null) reload();
    },
    redraw() {
      if (shownValue !== null) show(options.render(shownValue.value));
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

export function emptyNotice(text: string, ...details: readonly (Node | string)[]): HTMLElement {
  return h('div', { class: 'notice empty' }, h('p', {}, text), ...details);
}

/** Whether the object or the endpoint does not exist. */
export function isMissing(error: unknown): error is ApiFailure {
  return error instanceof Error && 'status' in error && error.status === 404;
}

/** Grey placeholder bars, with a height in pixels or by a class name of the style sheet. */
export function skeleton(size: number | string, lines = 1): HTMLElement {
  const isClassName = typeof size === 'string';
  const block = h('div', { class: isClassName ? `skeleton sk-${size}` : 'skeleton', 'aria-hidden': 'true' });
  if (!isClassName) block.style.height = `${size}px`;
  for (let line = 0; line < lines; line += 1) block.append(h('span'));
  return block;
}

/** The placeholder of a page with a head, a chart, trades and figures. */
export function pageSkeleton(): Node {
  const rail = h('aside', { class: 'rail' }, skeleton('rail', 12));
  return h('div', {}, skeleton('head'), h('div', { class: 'with-rail' }, columnSkeleton(), rail));
}

/** A column with placeholders of a chart and of trades. */
export function columnSkeleton(): HTMLElement {
  return h('div', { class: 'column' }, skeleton('chart'), skeleton('tape', 9));
}

/**
 * Creates the parts of a column after the next frame, each in a task of its own. The first parts take the places of the
 * placeholders.
 */
export async function fillColumn(
  column: HTMLElement,
  parts: readonly (() => HTMLElement)[],
  signal: AbortSignal,
): Promise<void> {
  const placeholders = [...column.children];
  await afterPaint();
  for (const [index, createPart] of parts.entries()) {
    if (signal.aborted) return;
    const element = createPart();
    const placeholder = placeholders[index];
    if (placeholder === undefined) column.append(element);
    else placeholder.replaceWith(element);
    await nextTask();
  }
}
