/**
 * Controls how much the V8 heap may grow between major garbage collections. With V8's default, a heap that
 * holds large tables grows to several times its size. With a fixed percentage, a small heap would be
 * collected too often, and each collection delays requests.
 */
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const MIB = 2 ** 20;
/** Number of bytes by which any heap may grow between two collections. */
const GARBAGE_BYTES = 56 * MIB;
/** Limits of the growth, in percent of the used heap. */
const SHARE_MIN = 50;
const SHARE_MAX = 400;

/** The allowed growth of the heap, in percent of the used heap. */
function growthPercent(usedBytes: number): number {
  return Math.min(SHARE_MAX, Math.max(SHARE_MIN, Math.floor((100 * GARBAGE_BYTES) / Math.max(1, usedBytes))));
}

/** Starts to control the growth by the heap size after each major collection. Returns a function that stops it. */
export function boundHeapGrowth(): () => void {
  const bound = (): void => {
    setFlagsFromString(`--heap-growing-percent=${growthPercent(process.memoryUsage().heapUsed)}`);
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
