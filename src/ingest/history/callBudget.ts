/** Limits the calls that the search of the history sends to the node, in calls per second. */
import type { Clock } from '../../chain/rpc/clock';

export class CallBudget {
  private nextAt = -Infinity;

  constructor(
    private readonly clock: Clock,
    readonly perSecond: number,
  ) {}

  /** Waits until the budget allows the calls. The calls of one batch may leave together. */
  async spend(calls: number, signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const at = Math.max(now, this.nextAt);
    this.nextAt = at + (calls / this.perSecond) * 1_000;
    if (at > now) await this.clock.sleep(at - now, signal);
    signal.throwIfAborted();
  }
}
