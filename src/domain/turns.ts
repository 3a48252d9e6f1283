/**
 * Splits long work into slices, so that one answer does not block the others. Each turn of the event loop
 * runs only one slice, also if several answers are being built.
 */

/** Length of one slice of work, in ms. */
const SLICE_MS = 8;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop that no other slice uses. */
function nextTurn(): Promise<void> {
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

/**
 * Measures slices of one piece of work. Use between two steps: `if (slices.isOver()) await slices.giveWay();`
 */
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
