/** Starts the page: header, router and clock. A table below maps locations to views. */
import { onBlock, urlOf, type Query } from './core/api.ts';
import type { App, Place, View } from './core/app.ts';
import { contractView } from './views/contractView.ts';
import { dexesView } from './views/dexesView.ts';
import { byId, h } from './core/dom.ts';
import { blockOf, createLiveStream, type LiveEvent, type LiveStream } from './core/live.ts';
import { marketView } from './views/marketView.ts';
import { pairView } from './views/pairView.ts';
import { emptyNotice } from './core/panel.ts';
import { keepTimes } from './core/pieces.ts';
import { portfolioView } from './views/portfolioView.ts';
import { setUpSearch } from './core/searchBox.ts';
import { searchView } from './views/searchView.ts';
import { watchService } from './core/serviceWatch.ts';
import { setUpTheme } from './core/themeSwitch.ts';
import { tokenView } from './views/tokenView.ts';
import { transactionView } from './views/transactionView.ts';

const VIEWS: Readonly<Record<string, View>> = {
  '': marketView,
  tokens: marketView,
  pairs: marketView,
  pair: pairView,
  token: tokenView,
  tx: transactionView,
  portfolio: portfolioView,
  contract: contractView,
  dexes: dexesView,
  search: searchView,
};

interface HeadListener {
  readonly callback: () => void;
  readonly everyMs: number;
  calledAt: number;
  isDue: boolean;
}

function start(): void {
  const live = createLiveStream();
  const heads = new Set<HeadListener>();
  const service = watchService(live);
  let head = 0;

  const callDue = (): void => {
    if (document.hidden) return;
    const now = performance.now();
    for (const listener of heads) {
      if (!listener.isDue || now - listener.calledAt < listener.everyMs) continue;
      listener.isDue = false;
      listener.calledAt = now;
      listener.callback();
    }
  };
  const seeBlock = (block: number): void => {
    if (block === head) return;
    head = block;
    service.seeBlock(block);
    for (const listener of heads) listener.isDue = true;
  };
  onBlock(seeBlock);
  setInterval(callDue, 500);
  const app: App = {
    live,
    go: (hash) => void (location.hash = hash),
    remember(query: Query) {
      const [path = '#/'] = location.hash.split('?');
      history.replaceState(null, '', urlOf(path === '' ? '#/' : path, query));
    },
    onHead(callback, everyMs, signal) {
      const listener = { callback, everyMs, calledAt: performance.now(), isDue: false };
      heads.add(listener);
      signal.addEventListener('abort', () => heads.delete(listener));
    },
    setTitle: (title) => void (document.title = `${title} · Candlehouse`),
  };
  const follow = (event: LiveEvent): void => {
    const block = blockOf(event.data);
    if (block !== null && block > head) seeBlock(block);
  };
  setUpTheme(byId('theme'));
  const input = byId('search');
  if (input instanceof HTMLInputElement) setUpSearch(app, input, byId('found'));
  keepTimes();
  setUpRouter(app, follow);
}

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').map(decodePart), query: new URLSearchParams(query) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A view lives until the next view opens. */
function setUpRouter(app: App, follow: (event: LiveEvent) => void): void {
  let life: AbortController | null = null;
  const main = byId('main');
  const open = (): void => {
    life?.abort();
    const own = new AbortController();
    life = own;
    const place = placeOf(location.hash);
    const name = place.path[0] ?? '';
    markNavigation(name);
    const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
    window.scrollTo(0, 0);
    if (view === undefined) {
      app.setTitle('Not found');
      main.replaceChildren(
        emptyNotice('This page does not exist. ', h('a', { href: '#/' }, 'Go to the market')),
      );
      return;
    }
    const live = followedBy(app.live, follow);
    view({ ...app, live }, place, main, own.signal);
    // If the view opens no stream, the page follows all swaps to update the header.
    if (!live.isUsed()) app.live.listen({ event_type: 'swap' }, follow, own.signal);
  };
  window.addEventListener('hashchange', open);
  open();
}

/** Wraps the stream so that `follow` sees every event first. */
function followedBy(
  live: LiveStream,
  follow: (event: LiveEvent) => void,
): LiveStream & { isUsed(): boolean } {
  let used = false;
  return {
    ...live,
    isUsed: () => used,
    listen(filter, onevent, signal) {
      used = true;
      const both = (event: LiveEvent): void => {
        follow(event);
        onevent(event);
      };
      live.listen(filter, both, signal);
    },
  };
}

function markNavigation(name: string): void {
  const part = name === 'tokens' || name === 'pairs' || name === 'pair' || name === 'token' ? '' : name;
  for (const link of document.querySelectorAll('[data-nav]')) {
    if (link.getAttribute('data-nav') === part) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

start();
