/**
 * How far the heap grows before V8 looks through all of it. Left to itself a heap of 250 MB, of tables that are made anew with every
 * head, grows to 1,000; held to a fixed share, a small one is looked through after every thirty pages of 1,000 logs, each
 * time in the way of two or three requests for 15 ms.
 */
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const MIB = 2 ** 20;
/** What a heap may gather before, whatever its size. */
const GARBAGE_BYTES = 56 * MIB;
/** Percent of what is in use. */
const SHARE_MIN = 50;
const SHARE_MAX = 400;

/** By how many percent of what is in use a heap may grow. */
export function growthOf(usedBytes: number): number {
  return Math.min(SHARE_MAX, Math.max(SHARE_MIN, Math.floor((100 * GARBAGE_BYTES) / Math.max(1, usedBytes))));
}

/** From now on; whatever was in use after the last look decides. Returns how to end that. */
export function boundHeapGrowth(): () => void {
  const bound = (): void => {
    setFlagsFromString(`--heap-growing-percent=${growthOf(process.memoryUsage().heapUsed)}`);
  };
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) bound();
  });
  bound();
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function isMajor(entry: PerformanceEntry): boolean {
  const detail: unknown = 'detail' in entry ? entry.detail : null;
  return (
    typeof detail === 'object' &&
    detail !== null &&
    'kind' in detail &&
    detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
  );
}
