/**
 * Makes the tables of a new head before anybody asks for them, as long as somebody asked lately: one head at a time, the
 * newest next, and of that one table after the other, so that whoever asks meanwhile does not wait behind all of them.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../../domain/steadyTime';
import type { HeadSnapshot } from './headSnapshot';

/** Nobody asked for so long: the next one to ask waits. */
const DEMAND_MS = 60_000;
/** Those who wait for a new head ask at once for what is newest, which needs no tables: they go first. */
const HEAD_START_MS = 100;

interface Warmable {
  at(head: HeadSnapshot): Promise<unknown>;
}

export interface Warmer {
  /** The same tables, noting that they were asked for. */
  watch<T extends Warmable>(tables: T): T;
  /** Told of each new head. */
  onHead(head: HeadSnapshot): void;
}

export function createWarmer(now: () => number = steadyNow, headStartMs = HEAD_START_MS): Warmer {
  const watched: Warmable[] = [];
  let askedAt = -Infinity;
  let next: HeadSnapshot | null = null;
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    let tookMs = 0;
    while (next !== null) {
      // Blocks may come faster than tables are made: half of the time is for others.
      const pauseMs = headStartMs > 0 ? Math.max(headStartMs, tookMs) : 0;
      if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
      const began = now();
      const snapshot: HeadSnapshot = next;
      next = null;
      for (const tables of watched) {
        // Whoever asks for the same version is told of a failure; here it only means that nothing is warm.
        await tables.at(snapshot).catch(() => undefined);
      }
      tookMs = now() - began;
    }
    running = false;
  };
  return {
    watch<T extends Warmable>(tables: T): T {
      watched.push(tables);
      return {
        ...tables,
        at(head: HeadSnapshot) {
          askedAt = now();
          return tables.at(head);
        },
      };
    },
    onHead(head) {
      if (now() - askedAt > DEMAND_MS) return;
      next = head;
      if (!running) void run();
    },
  };
}
