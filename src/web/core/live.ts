/**
 * The live stream of the page: one EventSource at a time. It is closed while the page is hidden, because browsers
 * allow six connections per origin across all tabs. It resumes from the id of the last event, so no event is missed or
 * repeated.
 */
import { API, urlOf, type Query } from './api.ts';
import type { LiveState } from './serviceState.ts';

export interface LiveEvent {
  readonly kind: 'swap' | 'mint' | 'burn' | 'sync' | 'reorg' | 'gap';
  readonly data: unknown;
}

export interface LiveStream {
  /**
   * Uses another filter until the signal aborts. `onresume` is called after an interruption, before the
   * missed events.
   */
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
  let wantedSubscription: Subscription | null = null;
  let source: EventSource | null = null;
  let lastId: string | null = null;
  let failures = 0;
  let timer = 0;

  const tell = (state: LiveState): void => listeners.forEach((listener) => listener(state));

  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  const connect = (): void => {
    close();
    if (wantedSubscription === null || document.hidden) return tell('idle');
    const { filter, onevent } = wantedSubscription;
    tell('connecting');
    const opened = new EventSource(urlOf(`${API}/activity/stream`, { ...filter, last_event_id: lastId }));
    source = opened;
    opened.addEventListener('open', () => {
      failures = 0;
      tell('live');
    });
    opened.addEventListener('error', () => {
      if (source !== opened) return;
      tell('away');
      // The browser does not retry a refusal (too many clients, no block yet), so this code does.
      if (opened.readyState !== EventSource.CLOSED) return;
      failures += 1;
      timer = window.setTimeout(connect, Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** (failures - 1)));
    });
    for (const kind of KINDS) {
      opened.addEventListener(kind, (event) => {
        if (source !== opened) return;
        if (event.lastEventId !== '') lastId = event.lastEventId;
        onevent({ kind, data: JSON.parse(String(event.data)) });
      });
    }
  };

  document.addEventListener('visibilitychange', connect);
  window.addEventListener('pagehide', close);
  return {
    listen(filter, onevent, signal) {
      const subscription = { filter, onevent };
      wantedSubscription = subscription;
      lastId = null;
      failures = 0;
      connect();
      signal.addEventListener('abort', () => {
        if (wantedSubscription !== subscription) return;
        wantedSubscription = null;
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
