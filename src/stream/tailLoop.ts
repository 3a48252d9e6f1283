/**
 * The loop in each API process that polls ClickHouse for changes. Keeps the current snapshot of the head for
 * all reads, and passes each change to the hub once and in order. After a database outage, the loop continues
 * from its last snapshot, and all missed changes become one change.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { steadyNow } from '../domain/time/steadyTime';
import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import type { FreshRows } from '../query/activity/eventRows';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import {
  followHead,
  readChangeMark,
  readHeadRow,
  type PublishedFlip,
  type HeadReading,
} from '../query/head/headState';
import { createPoolNames, type PoolNameReader } from '../query/pairs/poolNames';
import { Directory } from '../query/tokens/directory';
import { readChange } from './chainChange';
import type { ChainChange, Hub } from './hub';

/**
 * Longest time in ms between two full reads of the head. A full read finds changes that do not change the row
 * counts (change mark).
 */
const FULL_READ_MS = 5_000;
/** The same while a writer in this process reports its changes. */
const FULL_READ_WITH_WRITER_MS = 60_000;
const BACKOFF_MAX_MS = 2_000;
/** After this time in ms without requests and streams, the loop polls every REST_MS. */
const DEMAND_KEPT_MS = 10_000;
/** Interval in ms between two polls without readers. It is long, because ClickHouse runs a query for each poll. */
const RESTING_POLL_MS = 1_000;
/** Longest time in ms that the first request after a time without readers waits for the newest head. */
const FIRST_READER_MS = 250;
/**
 * Number of attempts to stream a change; then all streams are restarted. Attempts during a database outage
 * are not counted.
 */
const CHANGE_ATTEMPTS = 5;

export interface TailFacts {
  /** Time in ms since the last answer of the database. Null before the first answer. */
  readonly silenceMs: number | null;
  /** Time in ms since the newest block arrived in this process. Null without a block. */
  readonly headKnownMs: number | null;
  /** Error of the last attempt, or null after a success. For the log only, because clients must not see
   * it. */
  readonly lastError: string | null;
}

export interface TailLoop {
  /** Runs until the signal aborts. Database errors never end the loop. */
  run(signal: AbortSignal): Promise<void>;
  /** The newest snapshot. Null before the first ingested block or the first answer of the database. */
  current(): HeadSnapshot | null;
  /** The snapshot that the hub has reached: live events come after it. */
  streamHead(): HeadSnapshot | null;
  /** Resolves when a poll that began after this call is published, or after the timeout in ms. */
  refreshed(timeoutMs: number): Promise<void>;
  /**
   * Reports a request, so that the loop polls often. If it polled every REST_MS before, resolves after the next poll,
   * otherwise at once.
   */
  demand(): Promise<void>;
  /**
   * Reports a change from the ingester in the same process. A change of the head (flip) is applied directly;
   * null makes the loop read the database. The next poll compares the result with the database.
   */
  wake(flip: PublishedFlip | null): void;
  facts(): TailFacts;
}

/** A writer in the same process. */
interface TellingWriter {
  /** Whether `wake` is called for every change of the stored head. */
  isTelling(): boolean;
  /** Rejects if the database does not answer. */
  ping(): Promise<void>;
}

interface TailLoopOptions {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly hub: Hub;
  readonly log: Logger;
  readonly directory?: Directory;
  readonly poolNames?: PoolNameReader;
  /**
   * The writer in this process. While it reports all changes, a poll only checks that the database answers, without a
   * statement. Absent or null if another process writes.
   */
  readonly writer?: TellingWriter | null;
  /** Called with each new snapshot, after it is published to the streams. */
  readonly onHead?: (head: HeadSnapshot) => void;
  /** Interval in ms between two polls while there are readers, by default 50 ms. */
  readonly pollMs?: number;
  /** Longest time in ms that `demand` waits for a poll, by default 250 ms. */
  readonly firstReaderMs?: number;
  /** Monotonic clock, in ms. */
  readonly now?: () => number;
  /** Called with the length of each pause between two polls, in ms. A pause may end early. */
  readonly onPause?: (ms: number) => void;
}

export function createTailLoop(options: TailLoopOptions): TailLoop {
  return new DatabaseTail(options);
}

class DatabaseTail implements TailLoop {
  private head: HeadSnapshot | null = null;
  private publishedHead: HeadSnapshot | null = null;
  private changeMark: string | null = null;
  private fullReadAt = 0;
  private lastDemandAt = -Infinity;
  private changeFailures = 0;
  private readonly refreshWaiters = new Set<() => void>();
  private lastPollAt: number | null = null;
  private headSeenAt: number | null = null;
  private lastError: string | null = null;
  /** Changes reported since the last step. */
  private reportedFlips: (PublishedFlip | null)[] = [];
  private headReading: HeadReading | null = null;
  private readonly directory: Directory;
  private readonly poolNames: PoolNameReader;
  private endPause: () => void = () => undefined;

  constructor(private readonly options: TailLoopOptions) {
    this.directory = options.directory ?? new Directory(options.runner);
    this.poolNames = options.poolNames ?? createPoolNames(options.runner, []);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, pollMs = 50 } = this.options;
    signal.addEventListener('abort', () => this.endPause(), { once: true });
    for (let failures = 0; !signal.aborted;) {
      const newFlips = this.reportedFlips;
      this.reportedFlips = [];
      const waitersOfStep = [...this.refreshWaiters];
      try {
        // A database that does not answer must not delay the shutdown.
        await untilAborted(this.step(newFlips), signal);
        for (const resolve of waitersOfStep) resolve();
        if (failures > 0) log.info({ failures }, 'the API can read the newest block from the database again');
        failures = 0;
        this.lastError = null;
      } catch (error) {
        failures += 1;
        this.lastError = errorText(error);
        if (failures === 1 || failures % 30 === 0) {
          log.warn(
            { err: error, failures },
            'the API cannot read the newest block from the database; retrying',
          );
        }
      }
      const backoffMs = Math.min(BACKOFF_MAX_MS, pollMs * 2 ** Math.min(failures, 10));
      await this.pause(failures > 0 ? backoffMs : this.isResting() ? RESTING_POLL_MS : pollMs, signal);
    }
  }

  current(): HeadSnapshot | null {
    return this.head;
  }

  streamHead(): HeadSnapshot | null {
    return this.publishedHead;
  }

  facts(): TailFacts {
    const now = (this.options.now ?? steadyNow)();
    return {
      silenceMs: this.lastPollAt === null ? null : now - this.lastPollAt,
      headKnownMs: this.headSeenAt === null ? null : now - this.headSeenAt,
      lastError: this.lastError,
    };
  }

  wake(flip: PublishedFlip | null): void {
    this.reportedFlips.push(flip);
    this.endPause();
  }

  async demand(): Promise<void> {
    const wasResting = this.isResting();
    this.lastDemandAt = (this.options.now ?? steadyNow)();
    if (wasResting && this.lastError === null)
      await this.refreshed(this.options.firstReaderMs ?? FIRST_READER_MS);
  }

  /** Whether the loop polls every REST_MS, because there are no requests and no streams. */
  private isResting(): boolean {
    const { hub, now = steadyNow, pollMs = 50 } = this.options;
    return pollMs < RESTING_POLL_MS && hub.clientCount() === 0 && now() - this.lastDemandAt >= DEMAND_KEPT_MS;
  }

  async refreshed(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const finishWait = (): void => {
        clearTimeout(timer);
        this.refreshWaiters.delete(finishWait);
        resolve();
      };
      const timer = setTimeout(finishWait, timeoutMs);
      this.refreshWaiters.add(finishWait);
      if (this.lastError === null) this.endPause();
    });
  }

  /**
   * The pause ends early on `wake`, and on `refreshed` unless the last attempt failed. Both may be called during the
   * previous step.
   */
  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    this.options.onPause?.(ms);
    const pauseEnd = new AbortController();
    this.endPause = () => pauseEnd.abort();
    const isAwaited = this.refreshWaiters.size > 0 && this.lastError === null;
    if (this.reportedFlips.length > 0 || isAwaited || signal.aborted) pauseEnd.abort();
    await sleep(ms, undefined, { signal: pauseEnd.signal }).catch(() => undefined);
  }

  private async step(newFlips: readonly (PublishedFlip | null)[]): Promise<void> {
    if (!this.applyFlips(newFlips)) await this.refresh(newFlips.length > 0);
    const { head, publishedHead } = this;
    if (head === null || head.version === publishedHead?.version) return;
    await this.publish(publishedHead, head, freshOf(newFlips));
    this.options.onHead?.(head);
  }

  private async refresh(hasReports: boolean): Promise<void> {
    const { runner, chainId, writer, now = steadyNow } = this.options;
    const isWriterTelling = writer?.isTelling() === true;
    if (isWriterTelling && !hasReports && now() - this.fullReadAt < FULL_READ_WITH_WRITER_MS) {
      await writer.ping();
      this.lastPollAt = now();
      return;
    }
    // After `wake`, the change mark (row counts) is not read. The next poll therefore finds a new mark and reads the
    // head once more.
    const newMark = hasReports || isWriterTelling ? this.changeMark : await readChangeMark(runner);
    this.lastPollAt = now();
    if (
      !hasReports &&
      !isWriterTelling &&
      newMark === this.changeMark &&
      now() - this.fullReadAt < FULL_READ_MS
    )
      return;
    const newReading = await readHeadRow(runner, chainId);
    this.lastPollAt = now();
    this.compareWithStored(newReading?.snapshot ?? null);
    this.takeReading(newReading);
    // The mark is set last, so that the read is repeated if it fails. It was read before the head, so no change in
    // between is missed.
    this.changeMark = newMark;
    this.fullReadAt = now();
  }

  /** Applies the reported changes of the head without a read. Returns false if a read is needed. */
  private applyFlips(newFlips: readonly (PublishedFlip | null)[]): boolean {
    const flips = newFlips.flatMap((flip) => flip ?? []);
    if (this.headReading === null || flips.length === 0 || flips.length < newFlips.length) return false;
    const newReading = followHead(this.headReading, flips);
    if (newReading !== null) this.takeReading(newReading);
    return newReading !== null;
  }

  private takeReading(newReading: HeadReading | null): void {
    const { now = steadyNow } = this.options;
    const head = newReading?.snapshot ?? null;
    if (head?.hash !== this.head?.hash) this.headSeenAt = head === null ? null : now();
    this.headReading = newReading;
    this.head = head;
  }

  /** Logs a difference between the head in memory and the stored head, if both have the same version. */
  private compareWithStored(storedHead: HeadSnapshot | null): void {
    const { head } = this;
    if (storedHead === null || head === null || storedHead.version !== head.version) return;
    const chainTextOf = ({ blocks }: HeadSnapshot): string =>
      blocks.map(({ hash, commit }) => `${hash} ${commit}`).join();
    if (storedHead.finalTo !== head.finalTo || chainTextOf(storedHead) !== chainTextOf(head))
      this.options.log.error(
        { version: head.version },
        'the newest block in memory differs from the database; using the database',
      );
  }

  private async publish(
    oldHead: HeadSnapshot | null,
    newHead: HeadSnapshot,
    freshRows: ReadonlyMap<number, FreshRows>,
  ): Promise<void> {
    const { hub, log } = this.options;
    if (oldHead === null || hub.clientCount() === 0) {
      this.publishedHead = newHead;
      return;
    }
    if (newHead.finalTo < oldHead.finalTo || newHead.startBlock !== oldHead.startBlock) {
      log.warn(
        { old: oldHead.finalTo, next: newHead.finalTo },
        'the newest final block in the database moved back; restarting all streams',
      );
      this.restart(newHead);
      return;
    }
    const change = await this.readChangeOrGiveUp(oldHead, newHead, freshRows);
    if (change === null) return;
    // From now on, new clients start at `newHead`, and present clients get the change.
    this.publishedHead = newHead;
    await hub.publish(change);
  }

  /** Ends all streams. Clients reconnect with their last ids and get a replay from the tables. */
  private restart(newHead: HeadSnapshot): void {
    this.publishedHead = newHead;
    this.options.hub.endAll();
  }

  private async readChangeOrGiveUp(
    oldHead: HeadSnapshot,
    newHead: HeadSnapshot,
    freshRows: ReadonlyMap<number, FreshRows>,
  ): Promise<ChainChange | null> {
    const { runner, chainId, log } = this.options;
    try {
      const change = await readChange(
        { runner, directory: this.directory, poolNames: this.poolNames, fresh: freshRows },
        chainId,
        oldHead,
        newHead,
      );
      this.changeFailures = 0;
      return change;
    } catch (error) {
      const isPassing = error instanceof AppError && error.retryable;
      if (!isPassing) this.changeFailures += 1;
      if (this.changeFailures < CHANGE_ATTEMPTS) throw error;
      const facts = { err: error, from: oldHead.number, to: newHead.number };
      log.error(facts, 'a change of the chain could not be streamed; restarting all streams');
      this.changeFailures = 0;
      this.restart(newHead);
      return null;
    }
  }
}

/** Rows that came with the reported changes, by commit. A repeated step reads the tables instead. */
function freshOf(newFlips: readonly (PublishedFlip | null)[]): ReadonlyMap<number, FreshRows> {
  const freshBlocks = newFlips.flatMap((flip) => flip?.fresh ?? []);
  return new Map(freshBlocks.map(({ commit, rows }) => [commit, rows]));
}

/** Waits until the work ends or the signal aborts. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
