/**
 * Remembers how far each entry of the browser's history was scrolled. "Back" restores the position when the content of
 * the view has arrived; the browser itself would restore it before.
 */
import { fieldOf } from './stored.ts';

const STORAGE_KEY = 'scroll';
/** Number of entries to remember. */
const ENTRIES_MAX = 100;
/** Interval at which the page checks whether the view has loaded, and the longest time to wait for it. */
const CHECK_MS = 150;
const WAIT_MS = 30_000;

/** Restores or resets the scroll position after each change of the view. */
export function createScrollMemory(): (main: HTMLElement, signal: AbortSignal) => void {
  const positions = readPositions();
  let historyEntry = 0;
  let isFirst = true;
  let isRestoring = false;
  history.scrollRestoration = 'manual';
  window.addEventListener(
    'scroll',
    () => {
      if (!isRestoring) positions.set(historyEntry, window.scrollY);
    },
    { passive: true },
  );
  window.addEventListener('pagehide', () => storePositions(positions));
  return (main, signal) => {
    const storedEntry = fieldOf(history.state, 'entry');
    historyEntry = typeof storedEntry === 'number' ? storedEntry : Math.max(0, ...positions.keys()) + 1;
    if (storedEntry !== historyEntry) history.replaceState({ entry: historyEntry }, '');
    const scrollTop = positions.get(historyEntry) ?? 0;
    positions.delete(historyEntry);
    positions.set(historyEntry, scrollTop);
    // A new page is at its top. To scroll there would make the browser lay out the page before its content has come.
    if (scrollTop > 0 || !isFirst) window.scrollTo(0, scrollTop);
    isFirst = false;
    if (scrollTop === 0) return;
    isRestoring = true;
    holdPosition(main, scrollTop, signal, () => (isRestoring = false));
  };
}

const INPUTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Keeps a position while the view loads. Any input of the user ends this. */
function holdPosition(main: HTMLElement, scrollTop: number, signal: AbortSignal, onend: () => void): void {
  const controller = new AbortController();
  const stopHolding = (): void => controller.abort();
  const resizeObserver = new ResizeObserver(() => window.scrollTo(0, scrollTop));
  resizeObserver.observe(main);
  const startedAt = performance.now();
  const checkTimer = setInterval(() => {
    window.scrollTo(0, scrollTop);
    const isLoaded = main.firstElementChild !== null && main.querySelector('[aria-busy=true]') === null;
    if (isLoaded || performance.now() - startedAt > WAIT_MS) stopHolding();
  }, CHECK_MS);
  for (const input of INPUTS)
    window.addEventListener(input, stopHolding, { passive: true, signal: controller.signal });
  signal.addEventListener('abort', stopHolding, { signal: controller.signal });
  controller.signal.addEventListener('abort', () => {
    resizeObserver.disconnect();
    clearInterval(checkTimer);
    onend();
  });
}

function readPositions(): Map<number, number> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]');
    const pairs: readonly unknown[] = Array.isArray(stored) ? stored.slice(-ENTRIES_MAX) : [];
    return new Map(pairs.filter(isPosition));
  } catch {
    return new Map();
  }
}

function isPosition(value: unknown): value is [entry: number, top: number] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => Number.isSafeInteger(part));
}

function storePositions(positions: ReadonlyMap<number, number>): void {
  const pairs = [...positions].slice(-ENTRIES_MAX).map(([entry, top]) => [entry, Math.round(top)]);
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(pairs));
  } catch {
    // Without storage, positions last until the page is left.
  }
}
