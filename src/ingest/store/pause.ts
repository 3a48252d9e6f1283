/**
 * A pause of the final tables, asked for by a command in another process: while it lasts no range is begun, so that all
 * tables can be taken as of one moment, or put right. Blocks wait in the node meanwhile. A pause ends by itself when whoever
 * asked for it dies.
 */
import { z } from 'zod';

import type { Clock } from '../../chain/rpc/clock';
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import { wideIntegerShape } from '../../clickhouse/rows/rowShapes';
import type { Logger } from '../../log';
import type { GapStore } from '../repair/gapStore';
import type { Store } from './store';

const NAME = 'pause';
/** A pause that nobody renews ends after this. */
const LEASE_MS = 60_000;
const POLL_MS = 50;

export interface PauseDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The same store, which waits with each range until no pause is asked for. */
export function pausableStore(store: Store, deps: PauseDeps): Store {
  return {
    ...store,
    async writeRange(seq, batch, replayed) {
      await untilNoPause(deps);
      return store.writeRange(seq, batch, replayed);
    },
    async promote(intent, commits, replayed) {
      await untilNoPause(deps);
      return store.promote(intent, commits, replayed);
    },
  };
}

/** The same for ranges that are stored again. */
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
  let told = false;
  while (await isPaused(database)) {
    if (!told) log.info('a command asked for a pause: ranges wait');
    told = true;
    await clock.sleep(POLL_MS, signal);
  }
  if (told) log.info('the pause is over');
}

/** By the database's clock, which all that write share. */
async function isPaused(database: Database): Promise<boolean> {
  const until = (await readOperations(database, [NAME])).get(NAME) ?? 0;
  return until > 0 && until > (await readTime(database));
}

async function readTime(database: Database): Promise<number> {
  const [row] = await selectNamed(database, 'engine/read_time', {}, z.object({ now: wideIntegerShape }));
  return Number(row?.now ?? 0);
}

/** Ends whatever pause is noted: a copy that was taken in a pause does not wait for its end. */
export async function endPause(database: Database): Promise<void> {
  await writeOperation(database, NAME, 0);
}

/** Runs the work in a pause, which is renewed until it ends. Ranges that were begun before may still be under way. */
export async function inPause<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const renew = async (): Promise<void> => {
    await writeOperation(database, NAME, (await readTime(database)) + LEASE_MS);
  };
  await renew();
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A renewal that fails leaves the lease as it was; the next one tries again.
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
