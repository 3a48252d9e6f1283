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
    const at = Math.max(now, this.nextAt);
    this.nextAt = at + (calls / this.perSecond) * 1_000;
    if (at > now) await this.clock.sleep(at - now, signal);
    signal.throwIfAborted();
  }
}
