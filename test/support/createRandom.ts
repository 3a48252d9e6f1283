/** Seeded random numbers for test worlds. */
import { seededRandom } from './random';

export interface Random {
  (): number;
  /** An integer from 0 on, below `below`. */
  int(below: number): number;
  pick<T>(values: readonly T[]): T;
  /** A number of `bits` random bits behind a leading one. */
  big(bits: number): bigint;
}

export function createRandom(seed: number): Random {
  const nextNumber = seededRandom(seed);
  return Object.assign(nextNumber, {
    int: (below: number) => Math.floor(nextNumber() * below),
    pick: <T>(values: readonly T[]): T => values[Math.floor(nextNumber() * values.length)]!,
    big: (bits: number) => {
      let value = 1n;
      for (let i = 0; i < bits; i += 1) value = value * 2n + (nextNumber() < 0.5 ? 0n : 1n);
      return value;
    },
  });
}
