/**
 * Builds the tables of each new head before the first request for them, if there was a recent request. Builds one
 * head at a time, then continues with the newest head. Builds one table after another, so that a request does not
 * wait for all tables.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../../domain/time/steadyTime';
import type { HeadSnapshot } from './headSnapshot';

/** If there is no request for this long, in ms, precomputing stops and the next request waits. */
const DEMAND_MS = 60_000;
/**
 * Delay in ms before the tables of a new head are built. In this time clients request the newest events, which need
 * no tables.
 */
const HEAD_START_MS = 100;

interface Precomputable {
  at(head: HeadSnapshot): Promise<unknown>;
}

export interface Precomputer {
  /**
   * Returns the same tables. A request to them makes the precomputer build the tables of the next heads too.
   */
  watch<T extends Precomputable>(tables: T): T;
  /** Call this with each new head. */
  onHead(head: HeadSnapshot): void;
}

export function createPrecomputer(now: () => number = steadyNow, headStartMs = HEAD_START_MS): Precomputer {
  const watchedTables: Precomputable[] = [];
  let lastAskedAt = -Infinity;
  let nextHead: HeadSnapshot | null = null;
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    let lastRunMs = 0;
    while (nextHead !== null) {
      // Blocks may arrive faster than tables are built. This pause in ms leaves half of the time for requests.
      const pauseMs = headStartMs > 0 ? Math.max(headStartMs, lastRunMs) : 0;
      if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
      const startedAt = now();
      const snapshot: HeadSnapshot = nextHead;
      nextHead = null;
      for (const tables of watchedTables) {
        // A request for the same version reports the error. Here the failure only means that the table is not ready.
        await tables.at(snapshot).catch(() => undefined);
      }
      lastRunMs = now() - startedAt;
    }
    isRunning = false;
  };
  return {
    watch<T extends Precomputable>(tables: T): T {
      watchedTables.push(tables);
      return {
        ...tables,
        at(head: HeadSnapshot) {
          lastAskedAt = now();
          return tables.at(head);
        },
      };
    },
    onHead(head) {
      if (now() - lastAskedAt > DEMAND_MS) return;
      nextHead = head;
      if (!isRunning) void run();
    },
  };
}
