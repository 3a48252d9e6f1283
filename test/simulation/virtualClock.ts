/**
 * Virtual time for simulations. The clock stops while any work can continue, then jumps to the next timer. Hours pass
 * in milliseconds, and the same seed sees the same times in the same order.
 */
import type { Clock } from '../../src/node/rpc/clock';
import { onAbort } from '../../src/node/rpc/abortSignals';
import type { Random } from '../support/random';

interface Timer {
  /** Virtual time in ms. */
  readonly at: number;
  /** Number of the timer. Timers of the same time run in the order of their creation. */
  readonly seq: number;
  /** The action of the timer; null if the timer was cancelled. */
  wake: (() => void) | null;
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq);

export class VirtualClock implements Clock {
  private time: number;
  private seq = 0;
  /** A binary heap with the earliest timer first. */
  private readonly timers: Timer[] = [];
  /** Number of real-time tasks for which the virtual time stops. */
  private heldTasks = 0;
  private onRelease: (() => void) | null = null;

  constructor(
    startMs: number,
    private readonly randomSource: Random,
  ) {
    this.time = startMs;
  }

  readonly now = (): number => this.time;
  readonly random = (): number => this.randomSource.next();

  turn(): Promise<void> {
    return Promise.resolve();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const timer: Timer = { at: this.time + Math.max(0, ms), seq: (this.seq += 1), wake: null };
      const release = onAbort(signal, (reason) => {
        timer.wake = null;
        reject(reason);
      });
      timer.wake = () => {
        release();
        resolve();
      };
      this.push(timer);
    });
  }

  /** Virtual time stops until this real-time work is done. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.heldTasks += 1;
    try {
      return await work;
    } finally {
      this.heldTasks -= 1;
      if (this.heldTasks === 0) this.onRelease?.();
    }
  }

  /** Advances time until the work is done. Throws if the work cannot finish because no timer is left. */
  async run<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const mark = (): void => {
      isDone = true;
      this.onRelease?.();
    };
    work.then(mark, mark);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isDone) return work;
      if (this.heldTasks > 0) {
        await new Promise<void>((resolve) => (this.onRelease = resolve));
        this.onRelease = null;
        continue;
      }
      const timer = this.pop();
      if (timer === undefined)
        throw new Error('the simulated world has no timer left, but the run has not ended');
      if (timer.wake === null) continue;
      this.time = timer.at;
      timer.wake();
    }
  }

  private push(timer: Timer): void {
    const { timers } = this;
    let index = timers.length;
    timers.push(timer);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(timer, timers[parent]!)) break;
      timers[index] = timers[parent]!;
      index = parent;
    }
    timers[index] = timer;
  }

  private pop(): Timer | undefined {
    const { timers } = this;
    const first = timers[0];
    const last = timers.pop();
    if (first === undefined || last === undefined || timers.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= timers.length) break;
      if (child + 1 < timers.length && isBefore(timers[child + 1]!, timers[child]!)) child += 1;
      if (!isBefore(timers[child]!, last)) break;
      timers[index] = timers[child]!;
      index = child;
    }
    timers[index] = last;
    return first;
  }
}
