/** A seeded random number generator, so that the development chain is reproducible. */

export interface Random {
  /** A float from 0 (included) to 1 (excluded). */
  next(): number;
  /** An integer from 0 to bound − 1. */
  below(bound: number): number;
  /** A normally distributed number with mean 0 and variance 1. */
  normal(): number;
  /** True with this probability. */
  chance(probability: number): boolean;
}

/** A generator (mulberry32) that repeats its numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const nextFloat = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next: nextFloat,
    below: (bound) => Math.floor(nextFloat() * bound),
    normal: () => Math.sqrt(-2 * Math.log(1 - nextFloat())) * Math.cos(2 * Math.PI * nextFloat()),
    chance: (probability) => nextFloat() < probability,
  };
}

/** Picks an index by weight; −1 for an empty list. */
export function createPicker(weights: readonly number[]): (random: Random) => number {
  let total = 0;
  const cumulative = weights.map((weight) => (total += weight));
  return (random) => {
    const drawnWeight = random.next() * total;
    return cumulative.findIndex((endWeight) => drawnWeight < endWeight);
  };
}
