/** The star that puts a token or a pair on the watchlist, and the tools next to the name of its page. */
import { h } from '../core/dom.ts';
import { isWatched, toggleWatched, type WatchedKind } from './watchlist.ts';

export function starButton(kind: WatchedKind, address: string, name: string): HTMLButtonElement {
  const star = h('button', { type: 'button', class: 'star', 'data-watch': address });
  const show = (isOnList: boolean): void => {
    star.textContent = isOnList ? '★' : '☆';
    star.setAttribute('aria-pressed', String(isOnList));
    star.setAttribute('aria-label', `Watch ${name}`);
    star.title = isOnList ? 'On the watchlist' : 'Add to the watchlist';
  };
  show(isWatched(kind, address));
  star.addEventListener('click', () => show(toggleWatched(kind, address)));
  return star;
}

/** The star, and a link to a new alert about `token`. */
export function headTools(kind: WatchedKind, address: string, name: string, token: string): HTMLElement {
  return h(
    'span',
    { class: 'head-tools' },
    starButton(kind, address, name),
    h('a', { class: 'badge', href: `/alerts?token=${token}` }, 'Set an alert'),
  );
}
