/** Starts the page: header, router and clock. `VIEWS` maps locations to views. */
import { showHit } from './alerts/alertNotice.ts';
import { watchAlerts } from './alerts/alertWatcher.ts';
import { onBlock } from './core/api.ts';
import type { App, View } from './core/app.ts';
import { byId, h } from './core/dom.ts';
import { blockOf, createLiveStream, type LiveEvent, type LiveStream } from './core/live.ts';
import { goTo, rememberQuery, startNavigation } from './core/navigation.ts';
import { marketView } from './views/marketView.ts';
import { setUpChainSwitch } from './market/chainSwitch.ts';
import { nextTask } from './core/nextTask.ts';
import { emptyNotice, failureNotice, pageSkeleton, skeleton } from './core/panel.ts';
import { keepTimes } from './core/pieces.ts';
import type { Place } from './core/place.ts';
import { setUpSearch } from './core/searchBox.ts';
import { createScrollMemory } from './core/scrollMemory.ts';
import { watchService } from './core/serviceWatch.ts';
import { setUpTheme } from './core/themeSwitch.ts';

const VIEWS: Readonly<Record<string, View>> = {
  '': marketView,
  tokens: marketView,
  pairs: marketView,
  watchlist: marketView,
  pair: lazily(async () => (await import('./views/chartViews.ts')).pairView, pageSkeleton),
  token: lazily(async () => (await import('./views/chartViews.ts')).tokenView, pageSkeleton),
  tx: lazily(async () => (await import('./views/transactionView.ts')).transactionView),
  block: lazily(async () => (await import('./views/blockView.ts')).blockView),
  address: lazily(async () => (await import('./views/addressView.ts')).addressView),
  logs: lazily(async () => (await import('./views/logsView.ts')).logsView),
  portfolio: lazily(async () => (await import('./views/portfolioView.ts')).portfolioView),
  contract: lazily(async () => (await import('./views/contractView.ts')).contractView),
  dex: lazily(async () => (await import('./views/dexView.ts')).dexView),
  dexes: lazily(async () => (await import('./views/dexesView.ts')).dexesView),
  alerts: lazily(async () => (await import('./alerts/alertsView.ts')).alertsView),
  search: lazily(async () => (await import('./views/searchView.ts')).searchView),
};

/** A view whose modules load when it opens first, so that they do not delay the first view of the page. */
function lazily(load: () => Promise<View>, createPlaceholder = (): Node => skeleton(400, 8)): View {
  return (app, place, main, signal) => {
    const openView = (): void => {
      main.replaceChildren(createPlaceholder());
      load().then(
        (view) => signal.aborted || view(app, place, main, signal),
        () =>
          signal.aborted ||
          main.replaceChildren(failureNotice('This part of the page did not load', openView)),
      );
    };
    openView();
  };
}

/** Time in ms in which a view opens its stream. */
const STREAM_MS = 1_500;

interface HeadListener {
  readonly callback: () => void;
  readonly everyMs: number;
  calledAt: number;
  isDue: boolean;
}

/** The steps are tasks of their own. The first one waits until the browser has laid out the header of the page. */
async function start(): Promise<void> {
  await nextTask();
  const live = createLiveStream();
  const headListeners = new Set<HeadListener>();
  const service = watchService(live);
  let newestBlock = 0;

  const callDueListeners = (): void => {
    if (document.hidden) return;
    const now = performance.now();
    for (const listener of headListeners) {
      if (!listener.isDue || now - listener.calledAt < listener.everyMs) continue;
      listener.isDue = false;
      listener.calledAt = now;
      listener.callback();
    }
  };
  const showNewBlock = (block: number): void => {
    if (block === newestBlock) return;
    newestBlock = block;
    service.showNewBlock(block);
    for (const listener of headListeners) listener.isDue = true;
  };
  onBlock(showNewBlock);
  setInterval(callDueListeners, 500);
  const app: App = {
    live,
    go: goTo,
    remember: rememberQuery,
    onHead(callback, everyMs, signal) {
      const listener = { callback, everyMs, calledAt: performance.now(), isDue: false };
      headListeners.add(listener);
      signal.addEventListener('abort', () => headListeners.delete(listener));
    },
    setTitle: (title) => void (document.title = `${title} · Candlehouse`),
  };
  const followHead = (event: LiveEvent): void => {
    const block = blockOf(event.data);
    if (block !== null && block > newestBlock) showNewBlock(block);
  };
  setUpTheme(byId('theme'));
  // Without the list of chains, the page shows its chain only.
  void setUpChainSwitch(byId('chain')).catch(() => undefined);
  const input = byId('search');
  if (input instanceof HTMLInputElement) setUpSearch(app, input, byId('found'));
  keepTimes();
  watchAlerts(showHit);
  await nextTask();
  setUpRouter(app, followHead);
}

/** A view lives until the next view opens. */
function setUpRouter(app: App, followHead: (event: LiveEvent) => void): void {
  let viewController: AbortController | null = null;
  let isFirst = true;
  const main = byId('main');
  const restoreScroll = createScrollMemory();
  const isView = (name: string): boolean => Object.hasOwn(VIEWS, name);
  const openPlace = (place: Place): void => {
    viewController?.abort();
    const controller = new AbortController();
    viewController = controller;
    const name = place.path[0] ?? '';
    markNavigation(name);
    const view = isView(name) ? VIEWS[name] : undefined;
    restoreScroll(main, controller.signal);
    // A screen reader goes on at the new view, and the next Tab reaches its first link.
    if (!isFirst) main.focus({ preventScroll: true });
    isFirst = false;
    if (view === undefined) {
      app.setTitle('Not found');
      main.replaceChildren(
        emptyNotice('This page does not exist. ', h('a', { href: '/' }, 'Go to the market')),
      );
      return;
    }
    const live = withFollower(app.live, followHead);
    view({ ...app, live }, place, main, controller.signal);
    // If the view opens no stream, the page follows all swaps to update the header.
    setTimeout(() => {
      if (!controller.signal.aborted && !live.isUsed())
        app.live.listen({ event_type: 'swap' }, followHead, controller.signal);
    }, STREAM_MS);
  };
  startNavigation(openPlace, isView);
}

/** Wraps the stream so that `followHead` sees every event first. */
function withFollower(
  live: LiveStream,
  followHead: (event: LiveEvent) => void,
): LiveStream & { isUsed(): boolean } {
  let wasUsed = false;
  return {
    ...live,
    isUsed: () => wasUsed,
    listen(filter, onevent, signal) {
      wasUsed = true;
      const onEvent = (event: LiveEvent): void => {
        followHead(event);
        onevent(event);
      };
      live.listen(filter, onEvent, signal);
    },
  };
}

function markNavigation(name: string): void {
  const navigationPart = ['tokens', 'pairs', 'watchlist', 'pair', 'token'].includes(name)
    ? ''
    : name === 'dex'
      ? 'dexes'
      : name;
  for (const link of document.querySelectorAll('[data-nav]')) {
    if (link.getAttribute('data-nav') === navigationPart) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

void start();
