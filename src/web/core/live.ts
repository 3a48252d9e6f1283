/**
 * The live stream of the page: one EventSource at a time. It is closed while the page is hidden, because browsers
 * allow six connections per origin across all tabs. It resumes from the id of the last event, so no event is missed or
 * repeated.
 */
import { apiBase, urlOf, type Query } from './api.ts';
import type { LiveState } from './serviceState.ts';

export interface LiveEvent {
  readonly kind: 'swap' | 'mint' | 'burn' | 'sync' | 'reorg' | 'gap';
  readonly data: unknown;
}

export interface LiveStream {
  /** Replaces the filter and the listener of the stream until the signal aborts. */
  listen(filter: Query, onevent: (event: LiveEvent) => void, signal: AbortSignal): void;
  onstate(listener: (state: LiveState) => void): void;
}

const KINDS = ['swap', 'mint', 'burn', 'sync', 'reorg', 'gap'] as const;
const RETRY_MS = 3_000;
const RETRY_MS_MAX = 30_000;

interface Subscription {
  readonly filter: Query;
  readonly onevent: (event: LiveEvent) => void;
}

export function createLiveStream(): LiveStream {
  const listeners: ((state: LiveState) => void)[] = [];
  let currentSubscription: Subscription | null = null;
  let source: EventSource | null = null;
  let lastEventId: string | null = null;
  let failureCount = 0;
  let retryTimer = 0;

  const reportState = (state: LiveState): void => listeners.forEach((listener) => listener(state));

  const close = (): void => {
    clearTimeout(retryTimer);
    source?.close();
    source = null;
  };

  const connect = (): void => {
    close();
    if (currentSubscription === null || document.hidden) return reportState('idle');
    const { filter, onevent } = currentSubscription;
    reportState('connecting');
    const openedSource = new EventSource(
      urlOf(`${apiBase()}/activity/stream`, { ...filter, last_event_id: lastEventId }),
    );
    source = openedSource;
    openedSource.addEventListener('open', () => {
      failureCount = 0;
      reportState('live');
    });
    openedSource.addEventListener('error', () => {
      if (source !== openedSource) return;
      reportState('away');
      // The browser does not retry a refusal (too many clients, no block yet), so this code does.
      if (openedSource.readyState !== EventSource.CLOSED) return;
      failureCount += 1;
      retryTimer = window.setTimeout(connect, Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (failureCount - 1)));
    });
    for (const kind of KINDS) {
      openedSource.addEventListener(kind, (event) => {
        if (source !== openedSource) return;
        if (event.lastEventId !== '') lastEventId = event.lastEventId;
        onevent({ kind, data: JSON.parse(String(event.data)) });
      });
    }
  };

  document.addEventListener('visibilitychange', connect);
  window.addEventListener('pagehide', close);
  return {
    listen(filter, onevent, signal) {
      const subscription = { filter, onevent };
      currentSubscription = subscription;
      lastEventId = null;
      failureCount = 0;
      connect();
      signal.addEventListener('abort', () => {
        if (currentSubscription !== subscription) return;
        currentSubscription = null;
        connect();
      });
    },
    onstate: (listener) => void listeners.push(listener),
  };
}

/** The block number of an event; null if the message has none. */
export function blockOf(data: unknown): number | null {
  if (typeof data !== 'object' || data === null) return null;
  if ('block_number' in data && typeof data.block_number === 'number') return data.block_number;
  return null;
}
