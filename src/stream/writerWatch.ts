/** Reads the state of the ingester in another process at intervals, for /readyz of a process without an ingester. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { QueryRunner } from '../clickhouse/client/namedQueries';
import { bool, f64, text } from '../clickhouse/rows/columns';
import { rowType } from '../clickhouse/rows/rowType';
import { errorText } from '../errors';
import type { Logger } from '../log';
import { viewWriter, type WriterReading, type WriterView } from './writerState';

const POLL_MS = 2_000;
/** After this time in ms without an answer of the database, nothing is known of the writer. */
const READING_KEPT_MS = 8_000;

const writerRow = rowType({ ended: bool, now_ms: f64, silent_ms: f64, state: text, state_age_ms: f64 });

interface WriterWatchOptions {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly log: Logger;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

export interface WriterWatch {
  /** Runs until the signal aborts. Errors of the database never end the loop. */
  run(signal: AbortSignal): Promise<void>;
  /** Reads once. */
  read(): Promise<void>;
  /** The newest known state of the writer. Null if the database has not answered recently. */
  view(): WriterView | null;
  /** Unix time in ms by the clock of the database; null if the database has not answered recently. */
  databaseNow(): number | null;
}

export function createWriterWatch({ runner, chainId, log, now }: WriterWatchOptions): WriterWatch {
  let lastReading: {
    readonly readAt: number;
    readonly nowMs: number | null;
    readonly writer: WriterReading | null;
  } | null = null;
  const recentReading = (): typeof lastReading =>
    lastReading !== null && now() - lastReading.readAt < READING_KEPT_MS ? lastReading : null;
  const readWriter = async (): Promise<void> => {
    const [row] = await runner.run('head/find_writer', { chain_id: chainId }, writerRow);
    const readAt = now();
    if (row === undefined) lastReading = { readAt, nowMs: null, writer: null };
    else {
      const { ended, silent_ms: silentMs, state, state_age_ms: stateAgeMs } = row;
      lastReading = { readAt, nowMs: row.now_ms, writer: { ended, silentMs, state, stateAgeMs } };
    }
  };
  return {
    read: readWriter,
    async run(signal) {
      while (!signal.aborted) {
        // A database of an older version has no table of states, and the tail loop logs a database that is away.
        await readWriter().catch((error: unknown) => {
          log.debug({ error: errorText(error) }, 'reading the state of the ingester failed');
        });
        await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    view() {
      const recentState = recentReading();
      return recentState === null ? null : viewWriter(recentState.writer, now() - recentState.readAt);
    },
    databaseNow() {
      const recentState = recentReading();
      return recentState === null || recentState.nowMs === null
        ? null
        : recentState.nowMs + now() - recentState.readAt;
    },
  };
}
