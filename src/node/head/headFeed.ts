/** Reports changes of the node's head. Always polls; endpoints with WebSocket or IPC also push new heads. */
import type { BlockRef } from '../../domain/block';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { onAbort } from '../rpc/abortSignals';
import type { BlockSource } from '../blocks/blockSource';
import { systemClock, type Clock } from '../rpc/clock';
import type { EndpointPool } from '../rpc/endpointPool';
import type { BlockHeader } from '../blocks/parseBlock';
import type { HeadHint } from '../rpc/rpcTransport';

interface HeadFeedOptions {
  readonly pool: EndpointPool;
  readonly source: BlockSource;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /**
   * Returns whether the consumer still has the head that the feed yielded last. If not, a reorg moved the
   * consumer to another branch, and the feed yields that head again. Default: always true.
   */
  readonly isTaken?: (head: BlockRef) => boolean;
}

const POLL_DEFAULT_MS = 500;
const POLL_MIN_MS = 50;
const POLL_MAX_MS = 1_000;
/** Number of polls per mean block time. */
const POLLS_PER_BLOCK = 16;
/** The same while an endpoint pushes the heads. Polls then find only a head whose push is missing. */
const POLLS_PER_PUSHED_BLOCK = 4;
const POLL_PUSHED_MAX_MS = 2_500;
/** Interval in ms for comparing the heads of several endpoints, to find endpoints that lag. */
const REFRESH_MS = 10_000;

/** The newest head that an endpoint pushed over WebSocket. Older ones are dropped, so that pushes cannot queue up. */
interface Wakeup {
  readonly endpoint: number;
  readonly hint: HeadHint | null;
}

/**
 * Yields the node's head whenever its hash changes, also if the height is equal or lower. Yields a head again
 * if the consumer no longer has it. If several heads arrive between two yields, only the newest is yielded. A
 * node that is behind may show an older head. Node failures are logged, and polling continues. Ends when the
 * signal aborts.
 */
export async function* headFeed(options: HeadFeedOptions): AsyncGenerator<BlockHeader, void, void> {
  const { signal, isTaken = () => true } = options;
  const clock = options.clock ?? systemClock();
  const spacing = new SpacingMeter(clock);
  const bell = new Bell(clock);
  const unwatch = options.pool.endpoints.map((endpoint) =>
    endpoint.transport.watchHeads?.((hint) => {
      if (endpoint.record.state === 'ok') bell.ring({ endpoint: endpoint.id, hint });
    }),
  );
  let lastHead: BlockHeader | null = null;
  let refreshedAt = clock.now();
  let refreshing: Promise<unknown> | null = null;
  try {
    while (!signal.aborted) {
      const wakeup: Wakeup | null = bell.take();
      const isKnownHead: boolean =
        lastHead !== null && wakeup?.hint?.hash === lastHead.hash && isTaken(lastHead);
      const head: BlockHeader | null = isKnownHead ? null : await fetchHead(options, wakeup);
      if (head !== null && (head.hash !== lastHead?.hash || !isTaken(head))) {
        lastHead = head;
        spacing.note(wakeup !== null);
        yield head;
      }
      const isDue = refreshing === null && clock.now() - refreshedAt >= REFRESH_MS;
      if (isDue && options.pool.endpoints.length > 1) {
        // The comparison is not awaited, so that a hanging endpoint does not delay the heads of other endpoints.
        refreshing = refreshHeads(options).finally(() => {
          refreshedAt = clock.now();
          refreshing = null;
        });
      }
      await bell.wait(spacing.pollMs(), signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const stop of unwatch) stop?.();
    await refreshing;
  }
}

async function refreshHeads({ pool, signal, log }: HeadFeedOptions): Promise<void> {
  try {
    await pool.refreshHeads(signal);
  } catch (error) {
    if (!signal.aborted)
      log.warn({ error: errorText(error) }, 'comparing the newest blocks of the RPC endpoints failed');
  }
}

/**
 * Reads the head from the endpoint that pushed, otherwise from the best endpoint. Null if no endpoint answers
 * now.
 */
async function fetchHead(options: HeadFeedOptions, wakeup: Wakeup | null): Promise<BlockHeader | null> {
  const { source, signal } = options;
  try {
    if (wakeup !== null) {
      return await source.fetchHeader('latest', { endpoint: wakeup.endpoint, roundsMax: 1, signal });
    }
    return await source.fetchHeader('latest', { signal, roundsMax: 2 });
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError) || !error.retryable) throw error;
    options.log.warn({ error: errorText(error) }, 'reading the head from the node failed; retrying');
    return null;
  }
}

/**
 * Measures the time between heads, and derives the polling interval from it: 50 ms to 1 s, or to 2.5 s while an endpoint
 * pushes the heads. Until the second head, the interval is 500 ms.
 */
class SpacingMeter {
  private readonly clock: Clock;
  private lastHeadAt: number | null = null;
  private meanMs: number | null = null;
  /** Whether an endpoint pushed the newest head. */
  private isPushed = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  note(isPushed: boolean): void {
    this.isPushed = isPushed;
    const now = this.clock.now();
    if (this.lastHeadAt !== null) {
      const gap = now - this.lastHeadAt;
      this.meanMs = this.meanMs === null ? gap : 0.8 * this.meanMs + 0.2 * gap;
    }
    this.lastHeadAt = now;
  }

  pollMs(): number {
    if (this.meanMs === null) return POLL_DEFAULT_MS;
    const polls = this.isPushed ? POLLS_PER_PUSHED_BLOCK : POLLS_PER_BLOCK;
    const maxMs = this.isPushed ? POLL_PUSHED_MAX_MS : POLL_MAX_MS;
    return Math.min(maxMs, Math.max(POLL_MIN_MS, this.meanMs / polls));
  }
}

/** Lets a push end a wait early. Keeps the last push until it is read. */
class Bell {
  private readonly clock: Clock;
  private lastWakeup: Wakeup | null = null;
  private waiter: AbortController | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  ring(wakeup: Wakeup): void {
    this.lastWakeup = wakeup;
    this.waiter?.abort();
  }

  take(): Wakeup | null {
    const { lastWakeup } = this;
    this.lastWakeup = null;
    return lastWakeup;
  }

  /** Waits until a push arrives, or for `ms`. Rejects when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.lastWakeup !== null) return;
    const waiter = new AbortController();
    this.waiter = waiter;
    const release = onAbort(signal, () => waiter.abort());
    try {
      await this.clock.sleep(ms, waiter.signal);
    } catch (error) {
      if (!waiter.signal.aborted) throw error;
    } finally {
      release();
      this.waiter = null;
    }
    signal.throwIfAborted();
  }
}
