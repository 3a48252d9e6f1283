/**
 * Splits long work into slices, so one answer does not block the others. Each turn of the event loop runs one slice of
 * such work, however many answers are in progress.
 */

/** Length of one slice of work, ms. */
const SLICE_MS = 8;

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, alone in its turn. */
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

/** Measures slices of one piece of work: `if (slices.isOver()) await slices.giveWay();` between two steps. */
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
