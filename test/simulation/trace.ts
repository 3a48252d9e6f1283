/** Computes a short hash over the events of a run, in order and with virtual times. Equal hashes mean equal runs. */
import { createHash } from 'node:crypto';

export class Trace {
  private readonly digest = createHash('sha256');
  /** SIMULATION_TRACE=1 prints every event. */
  private readonly print = process.env['SIMULATION_TRACE'] === '1';

  constructor(private readonly now: () => number) {}

  add(event: string): void {
    const line = `${this.now()} ${event}\n`;
    this.digest.update(line);
    if (this.print) process.stderr.write(line);
  }

  hash(): string {
    return this.digest.copy().digest('hex').slice(0, 16);
  }
}
