/**
 * Splits long work into slices, so that it does not block other work. Each turn of the event loop runs only one slice
 * of the answers, also if several are being built.
 */

/** Longest time in ms for which work blocks the event loop, so that requests and answers are not delayed. */
const SLICE_MS = 5;

const waitingSlices: (() => void)[] = [];

/** Resolves in a later turn of the event loop that no other slice uses. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waitingSlices.push(resolve);
    if (waitingSlices.length === 1) setImmediate(releaseFirst);
  });
}

function releaseFirst(): void {
  const [resolveFirst] = waitingSlices;
  // The next slice in the queue waits for the next turn, because a turn runs only one slice.
  if (waitingSlices.length > 1) setImmediate(releaseFirst);
  waitingSlices.shift();
  resolveFirst?.();
}

/**
 * Where slices read the time in ms and wait for their turn. The ingester passes its clock, so that its work does not wait
 * behind all answers that are being built.
 */
interface Turns {
  now(): number;
  turn(): Promise<void>;
}

/**
 * Measures slices of one piece of work. Call `step` between two steps. If the steps are tiny, avoid its promise:
 * `if (slices.isOver()) await slices.giveWay();`
 */
export interface Slices {
  isOver(): boolean;
  giveWay(): Promise<void>;
  /** Gives way if the slice is over. */
  step(): Promise<void>;
}

export function createSlices(turns: Turns = { now: () => performance.now(), turn: nextTurn }): Slices {
  let sliceStartedAt = turns.now();
  const isOver = (): boolean => turns.now() - sliceStartedAt >= SLICE_MS;
  const giveWay = async (): Promise<void> => {
    await turns.turn();
    sliceStartedAt = turns.now();
  };
  return { isOver, giveWay, step: async () => (isOver() ? giveWay() : undefined) };
}
