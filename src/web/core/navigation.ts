/**
 * Opens the locations of the page with the History API: links, Back and Forward, and URLs of older releases, which had the
 * location behind `#`.
 */
import { urlOf, type Query } from './api.ts';
import { inChain, withoutChain } from './pageChain.ts';
import { pathOfOldHash, placeOf, type Place } from './place.ts';

/** Event of the window: the location was changed by `goTo` or `replaceBy`. */
const NAVIGATED_EVENT = 'candlehouse:went';

/** Opens a location such as `/tokens` on the chain of the page, as a new entry of the history. */
export function goTo(place: string): void {
  const path = inChain(place);
  // A second click on a link opens the view again, without a second entry of the history.
  if (path === shownLocation()) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  window.dispatchEvent(new Event(NAVIGATED_EVENT));
}

/** Opens a location in the place of the current entry of the history. */
export function replaceBy(path: string): void {
  history.replaceState(null, '', inChain(path));
  window.dispatchEvent(new Event(NAVIGATED_EVENT));
}

/** Writes parameters into the address bar without opening a view. Parameters that are not named stay. */
export function rememberQuery(query: Query): void {
  const fullQuery = { ...Object.fromEntries(new URLSearchParams(location.search)), ...query };
  openedLocation = urlOf(location.pathname, fullQuery);
  history.replaceState(history.state, '', openedLocation);
}

const shownLocation = (): string => location.pathname + location.search;
/** The location of the open view, without a fragment. */
let openedLocation = '';

/** Calls `openPlace` for the first location and after each change. `isView` tells which names of views the page has. */
export function startNavigation(openPlace: (place: Place) => void, isView: (name: string) => boolean): void {
  const openLocation = (): void => {
    const path = pathOfOldHash(location.hash);
    if (path !== null) history.replaceState(history.state, '', inChain(path));
    openedLocation = shownLocation();
    openPlace(openedPlace(location) ?? placeOf(location));
  };
  // A link to a part of the page, such as "Skip to content", changes the fragment only, and the view stays.
  window.addEventListener('popstate', () => {
    if (pathOfOldHash(location.hash) !== null || shownLocation() !== openedLocation) openLocation();
  });
  window.addEventListener(NAVIGATED_EVENT, openLocation);
  document.addEventListener('click', (event) => {
    const path = pathOfClick(event, isView);
    if (path === null) return;
    event.preventDefault();
    goTo(path);
  });
  openLocation();
}

/** The location without the chain of the page; null for a location of another chain. */
function openedPlace({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place | null {
  const path = withoutChain(pathname);
  return path === null ? null : placeOf({ pathname: path, search });
}

/** The location that a click opens in this page; null if the browser follows the click. */
function pathOfClick(event: MouseEvent, isView: (name: string) => boolean): string | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download'))
    return null;
  const isOwnPage = link.origin === location.origin && link.hash === '';
  const place = isOwnPage ? openedPlace(link) : null;
  return place !== null && isView(place.path[0] ?? '') ? link.pathname + link.search : null;
}
