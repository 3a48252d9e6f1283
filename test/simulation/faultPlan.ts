/**
 * Decides when the process or the engine dies and which statement fails. The simulation asks at every point of possible
 * failure. The seed makes the answers repeatable.
 */
import { AppError } from '../../src/errors';
import type { Random } from '../support/random';

type Death =
  /** The client dies. Statements under way finish normally, but their results are lost. */
  | 'client'
  /** The engine dies and all statements stop at once. */
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

  /** Sets both probabilities per point, from now on. */
  arm(crashChance: number, glitchChance: number): void {
    this.crashChance = crashChance;
    this.glitchChance = glitchChance;
  }

  /** Ends this life now. */
  kill(): void {
    if (this.death !== null) return;
    this.death = this.random.chance(0.5) ? 'client' : 'engine';
    this.onDeath();
  }

  /** Marks a point that may be the last of this life. Returns true if the life has ended. */
  isLast(): boolean {
    if (this.death === null && this.random.chance(this.crashChance)) this.kill();
    return this.death !== null;
  }

  /** Whether a statement fails here without a crash. */
  glitches(): boolean {
    return this.random.chance(this.glitchChance);
  }

  /** The delay of a statement that its sender gave up, or did not survive; null if the statement is not given up. */
  lateMs(): number | null {
    const dying = this.death === null && this.random.chance(this.crashChance / 3);
    if (!dying && !this.random.chance(this.glitchChance / 2)) return null;
    if (dying) {
      this.death = 'client';
      this.onDeath();
    }
    return this.random.pick([1, 20, 600, 3_000, 15_000]);
  }

  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items];
    const order: T[] = [];
    while (left.length > 0) order.push(...left.splice(this.random.int(0, left.length - 1), 1));
    return order;
  }
}
