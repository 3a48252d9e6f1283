/** Limits how many calls per second the pool search sends to the node. */
import type { Clock } from '../../node/rpc/clock';

export class CallBudget {
  private nextAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    readonly perSecond: number,
  ) {}

  /** Waits until the limit allows this many calls. The calls of one batch may be sent together. */
  async spend(calls: number, signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const startMs = Math.max(now, this.nextAt);
    this.nextAt = startMs + (calls / this.perSecond) * 1_000;
    if (startMs > now) await this.clock.sleep(startMs - now, signal);
    signal.throwIfAborted();
  }
}
