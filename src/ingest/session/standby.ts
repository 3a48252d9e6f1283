/**
 * Lets a standby process take over when the writer ends or dies. The writer stores a sign of life at
 * intervals; the standby waits until the signs stop.
 */
import type { Clock } from '../../node/rpc/clock';
import type { Database } from '../../clickhouse/client/database';
import { AppError, errorText } from '../../errors';
import type { Logger } from '../../log';
import { findNewestWriter, type WriterClaim, type WriterRow } from '../store/writerClaim';

/** Longest time in ms between two signs of life. */
const BEAT_MS = 10_000;
/** Interval in ms at which the writer compares its state. Changed problems are told at once, after a failure again. */
const LOOK_MS = 2_000;
/** A writer without a sign of life for this time in ms counts as dead, and a standby takes over. */
const SILENCE_MS = 20_000;
const POLL_MS = 1_000;
/**
 * Each standby waits up to this time in ms longer, chosen at random, so that two of them do not take over at
 * the same moment.
 */
const SPREAD_MS = 2_000;

interface BeatDeps {
  readonly claim: WriterClaim;
  readonly clock: Clock;
  readonly log: Logger;
  /** The state that is stored as a sign of life: JSON as in writer_states. */
  state(): string;
  /** The part of the state that readers get at once when it changes. */
  news(): string;
  /** Called when a newer writer has claimed the database. */
  onFenced(error: AppError): void;
}

/** Writes signs of life and the state until the signal aborts, and then stores that the writer has ended. */
export class WriterBeat {
  constructor(private readonly deps: BeatDeps) {}

  async run(signal: AbortSignal): Promise<void> {
    const { claim, clock, log, state, news, onFenced } = this.deps;
    let lastNews = '';
    let beatAt = -Infinity;
    while (!signal.aborted) {
      try {
        // Nothing is written before the claim, so the claim is news too.
        const latestNews = `${claim.session} ${news()}`;
        if (latestNews !== lastNews || clock.now() - beatAt >= BEAT_MS) {
          await claim.beat(state());
          lastNews = latestNews;
          beatAt = clock.now();
        }
      } catch (error) {
        if (error instanceof AppError && error.code === 'fenced') {
          onFenced(error);
          return;
        }
        // If ClickHouse is down, the session fails too and logs it. So a failed sign of life is logged only at the
        // level debug.
        log.debug({ error: errorText(error) }, 'writing a sign of life failed');
      }
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
    }
    // The last state says why the writer ended.
    await claim.beat(state()).catch(() => undefined);
    await claim.end().catch(() => undefined);
  }
}

interface StandbyDeps {
  readonly database: Database;
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Resolves when no other process writes the chain: either the newest writer has ended, or ClickHouse answered
 * for 20 to 22 s without a new sign of life. Rejects when the signal aborts.
 */
export async function waitForSilence(deps: StandbyDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const spreadMs = clock.random() * SPREAD_MS;
  let sign = '';
  let signChangedAt = clock.now();
  let toldName: string | null = null;
  for (;;) {
    const newest = await findWriter(deps);
    const newestSign = newest === undefined ? 'no answer' : JSON.stringify(newest);
    if (newestSign !== sign || newest === undefined) signChangedAt = clock.now();
    sign = newestSign;
    const isRunning = newest !== null && newest?.ended !== true;
    if (newest !== undefined && clock.now() - signChangedAt >= (isRunning ? SILENCE_MS : 0) + spreadMs) break;
    const name = newest?.name ?? null;
    if (isRunning && name !== null && name !== toldName) {
      log.info({ writer: name }, 'standby: waiting while another process writes');
      toldName = name;
    }
    await clock.sleep(POLL_MS, signal);
  }
  log.warn({ writer: toldName }, 'standby: no other process writes; taking over');
}

/** Returns the newest writer. Undefined if ClickHouse does not answer. */
async function findWriter({ database, chainId, log }: StandbyDeps): Promise<WriterRow | null | undefined> {
  try {
    return await findNewestWriter(database, chainId);
  } catch (error) {
    log.debug({ error: errorText(error) }, 'standby: ClickHouse gave no answer');
    return undefined;
  }
}
