/**
 * Gives way in long work, so that one answer does not hold up the others. Per turn of the event loop one slice of such work
 * runs, however many answers are being made.
 */

/** How long one slice of work lasts, ms. */
const SLICE_MS = 8;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, in a turn of its own. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(releaseOne);
  });
}

function releaseOne(): void {
  const [first] = waiting;
  if (waiting.length > 1) setImmediate(releaseOne);
  waiting.shift();
  first?.();
}

/** Measures the slices of one piece of work: `if (slices.isOver()) await slices.giveWay();` between any two steps. */
export interface Slices {
  isOver(): boolean;
  giveWay(): Promise<void>;
}

export function createSlices(): Slices {
  let began = performance.now();
  return {
    isOver: () => performance.now() - began > SLICE_MS,
    async giveWay() {
      await nextTurn();
      began = performance.now();
    },
  };
}
