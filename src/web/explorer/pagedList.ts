/** A list that loads page by page. It remembers the cursors of earlier pages, so that it can go back. */
import { button, h } from '../core/dom.ts';
import { loadingPanel, skeleton } from '../core/panel.ts';

interface ListPage {
  readonly element: Node;
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
  /** A text beside the buttons, such as the number of items. */
  readonly rangeText: string;
}

interface PagedListOptions<T> {
  /** The cursor of the page to begin with; null or absent for the first page. */
  readonly firstCursor?: string | null;
  /** Called with the cursor of a page that the user turns to. */
  readonly onturn?: (cursor: string | null) => void;
  /** Loads the page at a cursor; the first page has the cursor null. */
  readonly load: (cursor: string | null, signal: AbortSignal) => Promise<T>;
  readonly render: (answer: T, cursor: string | null) => ListPage;
  /** Names of the buttons for screen readers. */
  readonly names: readonly [before: string, after: string];
  readonly signal: AbortSignal;
  readonly explain?: (error: unknown) => string | null;
}

interface PagedList {
  readonly element: HTMLElement;
  /** Loads the first page again. */
  restart(): void;
}

export function pagedList<T>({
  load,
  render,
  names: [backName, forwardName],
  firstCursor = null,
  onturn,
  ...options
}: PagedListOptions<T>): PagedList {
  let cursors: (string | null)[] = firstCursor === null ? [null] : [null, firstCursor];
  const currentCursor = (): string | null => cursors.at(-1) ?? null;
  const turnTo = (nextCursors: (string | null)[]) => (): void => {
    cursors = nextCursors;
    onturn?.(currentCursor());
    list.reload();
  };
  const list = loadingPanel({
    ...options,
    load: (loadSignal) => load(currentCursor(), loadSignal),
    render: (answer) => {
      const { element, nextCursor, rangeText } = render(answer, currentCursor());
      const isOnlyPage = nextCursor === null && cursors.length === 1;
      return h(
        'div',
        {},
        element,
        isOnlyPage && rangeText === ''
          ? null
          : h(
              'div',
              { class: 'pager' },
              h('span', { class: 'range' }, rangeText),
              h('span', { class: 'spring' }),
              button('‹', turnTo(cursors.slice(0, -1)), {
                disabled: cursors.length === 1,
                'aria-label': backName,
              }),
              button('›', turnTo([...cursors, nextCursor]), {
                disabled: nextCursor === null,
                'aria-label': forwardName,
              }),
            ),
      );
    },
    skeleton: () => skeleton(400, 8),
  });
  return { element: list.element, restart: turnTo([null]) };
}
