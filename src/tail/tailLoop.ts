/**
 * The one loop of an API process that looks at ClickHouse: it keeps the snapshot that all reads are as of, and hands
 * each change of the chain to the hub, in order and once. When the database is away it waits and goes on from where it
 * was; what happened meanwhile is one change like any other.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { steadyNow } from '../domain/steadyTime';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { FreshRows } from '../query/activity/freshEvents';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import {
  followHead,
  readChangeMark,
  readHeadRow,
  type HeadNews,
  type HeadReading,
} from '../query/head/headState';
import { Directory } from '../query/tokens/directory';
import { readChange } from './chainChange';
import type { ChainChange, Hub } from './hub';

/** The head is read at least this often, should the cheap mark ever miss a change. */
const FULL_READ_MS = 5_000;
const BACKOFF_MAX_MS = 2_000;
/** A change that cannot be told for another reason than a database that is away is given up after this many tries. */
const CHANGE_ATTEMPTS = 5;

export interface TailFacts {
  /** How long the database has not answered, ms; null before the first time. */
  readonly silenceMs: number | null;
  /** How long the newest block has been the newest here, ms; null while there is none. */
  readonly headKnownMs: number | null;
  /** What the last attempt failed with; null after a good one. For the log, not for callers. */
  readonly lastError: string | null;
}

export interface TailLoop {
  /** Runs until the signal; resolves then. Trouble with the database never ends it. */
  run(signal: AbortSignal): Promise<void>;
  /** The newest snapshot; null while nothing is ingested or the database was never reached. */
  current(): HeadSnapshot | null;
  /** The snapshot up to which the hub has everything: live events lie beyond it. */
  streamHead(): HeadSnapshot | null;
  /** Resolves when a look at the database that began after this call is done and published; or after the time, ms. */
  refreshed(timeoutMs: number): Promise<void>;
  /**
   * Says that the database changed, to who is beside the ingester: by a flip of the head, which is taken as told, or (null)
   * by something that must be read. What was told is compared with the database at the next poll.
   */
  wake(flip: HeadNews | null): void;
  facts(): TailFacts;
}

export interface TailLoopOptions {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly hub: Hub;
  readonly log: Logger;
  readonly directory?: Directory;
  /** Told of each new snapshot, after the streams. */
  readonly onHead?: (head: HeadSnapshot) => void;
  /** Default 50 ms. */
  readonly pollMs?: number;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

export function createTailLoop(options: TailLoopOptions): TailLoop {
  return new DatabaseTail(options);
}

class DatabaseTail implements TailLoop {
  private head: HeadSnapshot | null = null;
  private published: HeadSnapshot | null = null;
  private mark: string | null = null;
  private readAt = 0;
  private changeFailures = 0;
  private readonly waiters = new Set<() => void>();
  private lastPollAt: number | null = null;
  private headAt: number | null = null;
  private lastError: string | null = null;
  /** What was told of since the last step; empty: nothing. */
  private news: (HeadNews | null)[] = [];
  private reading: HeadReading | null = null;
  private readonly directory: Directory;
  private endPause: () => void = () => undefined;

  constructor(private readonly options: TailLoopOptions) {
    this.directory = options.directory ?? new Directory(options.runner);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, pollMs = 50 } = this.options;
    signal.addEventListener('abort', () => this.endPause(), { once: true });
    for (let failures = 0; !signal.aborted;) {
      const news = this.news;
      this.news = [];
      const waiting = [...this.waiters];
      try {
        // A database that hangs must not hold up the end of the process.
        await untilAborted(this.step(news), signal);
        for (const resolve of waiting) resolve();
        if (failures > 0) log.info({ failures }, 'the tail loop is back');
        failures = 0;
        this.lastError = null;
      } catch (error) {
        failures += 1;
        this.lastError = errorText(error);
        if (failures === 1 || failures % 30 === 0) {
          log.warn({ err: error, failures }, 'the tail loop cannot read the head');
        }
      }
      await this.pause(
        failures === 0 ? pollMs : Math.min(BACKOFF_MAX_MS, pollMs * 2 ** Math.min(failures, 10)),
        signal,
      );
    }
  }

  current(): HeadSnapshot | null {
    return this.head;
  }

  streamHead(): HeadSnapshot | null {
    return this.published;
  }

  facts(): TailFacts {
    const now = (this.options.now ?? steadyNow)();
    return {
      silenceMs: this.lastPollAt === null ? null : now - this.lastPollAt,
      headKnownMs: this.headAt === null ? null : now - this.headAt,
      lastError: this.lastError,
    };
  }

  wake(flip: HeadNews | null): void {
    this.news.push(flip);
    this.endPause();
  }

  async refreshed(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiters.add(done);
    });
  }

  /** Ends early when woken, also by what was said during the step before. */
  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.endPause = () => over.abort();
    if (this.news.length > 0 || signal.aborted) over.abort();
    await sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  }

  private async step(news: readonly (HeadNews | null)[]): Promise<void> {
    if (!this.follow(news)) await this.refresh(news.length > 0);
    const { head, published } = this;
    if (head === null || head.version === published?.version) return;
    await this.publish(published, head, freshOf(news));
    this.options.onHead?.(head);
  }

  private async refresh(told: boolean): Promise<void> {
    const { runner, chainId, now = steadyNow } = this.options;
    // Who was told of a change need not ask for the mark; the next poll finds another one and reads the head once more.
    const mark = told ? this.mark : await readChangeMark(runner);
    this.lastPollAt = now();
    if (!told && mark === this.mark && now() - this.readAt < FULL_READ_MS) return;
    const reading = await readHeadRow(runner, chainId);
    this.lastPollAt = now();
    this.compare(reading?.snapshot ?? null);
    this.take(reading);
    // Set last: a failed read is repeated. The mark is older than the head, so no change between the two is missed.
    this.mark = mark;
    this.readAt = now();
  }

  /** Whether all that was told of could be taken without reading it. */
  private follow(news: readonly (HeadNews | null)[]): boolean {
    const flips = news.flatMap((flip) => flip ?? []);
    if (this.reading === null || flips.length === 0 || flips.length < news.length) return false;
    const reading = followHead(this.reading, flips);
    if (reading !== null) this.take(reading);
    return reading !== null;
  }

  private take(reading: HeadReading | null): void {
    const { now = steadyNow } = this.options;
    const head = reading?.snapshot ?? null;
    if (head?.hash !== this.head?.hash) this.headAt = head === null ? null : now();
    this.reading = reading;
    this.head = head;
  }

  /** What is stored must be what was told: the same version is the same chain. */
  private compare(stored: HeadSnapshot | null): void {
    const { head } = this;
    if (stored === null || head === null || stored.version !== head.version) return;
    const links = ({ blocks }: HeadSnapshot): string =>
      blocks.map(({ hash, commit }) => `${hash} ${commit}`).join();
    if (stored.finalTo !== head.finalTo || links(stored) !== links(head))
      this.options.log.error({ version: head.version }, 'the head was told otherwise than it is stored');
  }

  private async publish(
    old: HeadSnapshot | null,
    next: HeadSnapshot,
    fresh: ReadonlyMap<number, FreshRows>,
  ): Promise<void> {
    const { hub, log } = this.options;
    if (old === null || hub.clientCount() === 0) {
      this.published = next;
      return;
    }
    if (next.finalTo < old.finalTo || next.startBlock !== old.startBlock) {
      log.warn(
        { old: old.finalTo, next: next.finalTo },
        'the final cursor went back; all streams are restarted',
      );
      this.restart(next);
      return;
    }
    const change = await this.readChangeOrGiveUp(old, next, fresh);
    if (change === null) return;
    // From here on a new client starts at `next`; those that are there get the change.
    this.published = next;
    await hub.publish(change);
  }

  /** Ends all streams: their clients come back with their last ids and are told from the tables. */
  private restart(next: HeadSnapshot): void {
    this.published = next;
    this.options.hub.endAll();
  }

  private async readChangeOrGiveUp(
    old: HeadSnapshot,
    next: HeadSnapshot,
    fresh: ReadonlyMap<number, FreshRows>,
  ): Promise<ChainChange | null> {
    const { runner, chainId, log } = this.options;
    try {
      const change = await readChange({ runner, directory: this.directory, fresh }, chainId, old, next);
      this.changeFailures = 0;
      return change;
    } catch (error) {
      const passing = error instanceof AppError && error.retryable;
      if (!passing) this.changeFailures += 1;
      if (this.changeFailures < CHANGE_ATTEMPTS) throw error;
      const facts = { err: error, from: old.number, to: next.number };
      log.error(facts, 'a change cannot be streamed; all streams are restarted');
      this.changeFailures = 0;
      this.restart(next);
      return null;
    }
  }
}

/** What came with the news, by commit. A step that fails is repeated without it, from the tables. */
function freshOf(news: readonly (HeadNews | null)[]): ReadonlyMap<number, FreshRows> {
  const blocks = news.flatMap((flip) => flip?.fresh ?? []);
  return new Map(blocks.map(({ commit, rows }) => [commit, rows]));
}

/** Waits for the work or the signal, whichever comes first. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
