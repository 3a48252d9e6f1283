/**
 * Decides when the process or the engine dies and which statement fails. The simulation calls it wherever a
 * failure is possible. The seed makes the decisions repeatable.
 */
import { AppError } from '../../src/errors';
import type { Random } from '../support/random';

type Death =
  /** The client process dies. Running statements finish normally, but their results are lost. */
  | 'client'
  /** The engine dies, and all statements stop at once. */
  | 'engine';

export const crashError = (): AppError => new AppError('unavailable', 'simulated crash');
/** A retryable error: the process continues and starts a new session. */
export const glitchError = (): AppError => new AppError('unavailable', 'simulated failure of the database');

export class FaultPlan {
  death: Death | null = null;
  private crashChance = 0;
  private glitchChance = 0;

  constructor(
    private readonly random: Random,
    private readonly onDeath: () => void,
  ) {}

  /** From now on, the process dies or a statement fails with these probabilities at each possible point. */
  arm(crashChance: number, glitchChance: number): void {
    this.crashChance = crashChance;
    this.glitchChance = glitchChance;
  }

  /** Ends this run of the process now. */
  kill(): void {
    if (this.death !== null) return;
    this.death = this.random.chance(0.5) ? 'client' : 'engine';
    this.onDeath();
  }

  /** Marks a point at which this run of the process may end. Returns true if it has ended. */
  isLast(): boolean {
    if (this.death === null && this.random.chance(this.crashChance)) this.kill();
    return this.death !== null;
  }

  /** Whether a statement fails at this point without a crash. */
  glitches(): boolean {
    return this.random.chance(this.glitchChance);
  }

  /**
   * Delay in ms after which a statement takes effect although its sender gave it up or died; null if the sender waits
   * for the statement.
   */
  lateMs(): number | null {
    const isDying = this.death === null && this.random.chance(this.crashChance / 3);
    if (!isDying && !this.random.chance(this.glitchChance / 2)) return null;
    if (isDying) {
      this.death = 'client';
      this.onDeath();
    }
    return this.random.pick([1, 20, 600, 3_000, 15_000]);
  }

  shuffle<T>(items: readonly T[]): T[] {
    const remainingItems = [...items];
    const order: T[] = [];
    while (remainingItems.length > 0)
      order.push(...remainingItems.splice(this.random.int(0, remainingItems.length - 1), 1));
    return order;
  }
}
