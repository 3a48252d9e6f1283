/**
 * When the process or the engine dies, and which statement fails without anybody dying. Asked at every point at which
 * something may go wrong; seeded, so that the same seed dies at the same points.
 */
import { AppError } from '../../src/errors';
import type { Random } from '../support/random';

export type Death =
  /** Statements under way end as if nothing had happened; nobody hears of it. */
  | 'client'
  /** Everything stops where it is. */
  | 'engine';

export const crashError = (): AppError => new AppError('unavailable', 'simulated crash');
/** Retryable: the ingester lives on and begins anew. */
export const glitchError = (): AppError => new AppError('unavailable', 'simulated failure of the database');

export class FaultPlan {
  death: Death | null = null;
  private crashChance = 0;
  private glitchChance = 0;

  constructor(
    private readonly random: Random,
    private readonly onDeath: () => void,
  ) {}

  /** From now on; per point. */
  arm(crashChance: number, glitchChance: number): void {
    this.crashChance = crashChance;
    this.glitchChance = glitchChance;
  }

  /** Ends this life here and now. */
  kill(): void {
    if (this.death !== null) return;
    this.death = this.random.chance(0.5) ? 'client' : 'engine';
    this.onDeath();
  }

  /** A point of no return passed: may be somebody's last. True when they are dead. */
  isLast(): boolean {
    if (this.death === null && this.random.chance(this.crashChance)) this.kill();
    return this.death !== null;
  }

  /** Whether a statement fails here without a death. */
  glitches(): boolean {
    return this.random.chance(this.glitchChance);
  }

  /** How late a statement lands that its sender gave up, or died over; null: it is not given up. */
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
