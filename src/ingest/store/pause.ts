/**
 * Lets a command in another process pause the ingester. No range begins during a pause, so the command can
 * copy or repair all tables in a consistent state. New blocks are read from the node after the pause. If the
 * command dies, the pause ends by itself.
 */
import type { Clock } from '../../node/rpc/clock';
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import { u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Logger } from '../../log';
import type { GapStore } from '../repair/gapStore';
import type { Gate } from './gates';

/** Name of the stored time, in ms of the database's clock, at which the pause ends. */
const PAUSE_UNTIL = 'pause';
/** A pause ends after this time in ms unless it is renewed. */
const LEASE_MS = 60_000;
const POLL_MS = 50;

interface PauseDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A gate at which each range waits for the end of a pause. */
export function pauseGate(deps: PauseDeps): Gate {
  return { before: async ({ kind }) => (kind === 'range' ? untilNoPause(deps) : undefined) };
}

/** Wraps the store for lost rows so that each repair waits for the end of a pause. */
export function pausableGaps(gaps: GapStore, deps: PauseDeps): GapStore {
  return {
    ...gaps,
    async refill(gap, batch) {
      await untilNoPause(deps);
      await gaps.refill(gap, batch);
    },
  };
}

async function untilNoPause({ database, clock, log, signal }: PauseDeps): Promise<void> {
  let isLogged = false;
  while (await isPaused(database)) {
    if (!isLogged) log.info('a command paused the writing of final blocks');
    isLogged = true;
    await clock.sleep(POLL_MS, signal);
  }
  if (isLogged) log.info('the pause is over; writing final blocks again');
}

/** Uses the clock of the database, because all processes share it. */
async function isPaused(database: Database): Promise<boolean> {
  const pausedUntil = (await readOperations(database, [PAUSE_UNTIL])).get(PAUSE_UNTIL) ?? 0;
  return pausedUntil > 0 && pausedUntil > (await readTime(database));
}

const timeRow = rowType({ now: u64 });

async function readTime(database: Database): Promise<number> {
  const [row] = await selectNamed(database, 'engine/read_time', {}, timeRow);
  return row?.now ?? 0;
}

/**
 * Ends any stored pause. A backup contains the pause under which it was taken, so a restored database would
 * otherwise wait.
 */
export async function endPause(database: Database): Promise<void> {
  await writeOperation(database, PAUSE_UNTIL, 0);
}

/**
 * Runs `work` during a pause, and renews the pause until `work` ends. A range that began before the pause may
 * still be running when `work` starts.
 */
export async function inPause<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const renew = async (): Promise<void> => {
    await writeOperation(database, PAUSE_UNTIL, (await readTime(database)) + LEASE_MS);
  };
  await renew();
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // If a renewal fails, the pause keeps its old end. The next renewal tries again.
    renewing = renew().catch(() => undefined);
  }, LEASE_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
    await endPause(database);
  }
}
