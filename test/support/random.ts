/** A seeded random number generator (mulberry32): the same seed gives the same run. */

export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** An integer in [min, max]. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)]!;
  }

  /** A bigint of at most `bits` bits, log-uniform in size. */
  big(bits: number): bigint {
    const size = this.int(1, bits);
    let value = 1n;
    for (let i = 1; i < size; i += 1) value = (value << 1n) | BigInt(this.int(0, 1));
    return value;
  }
}

/**
 * Like Random, but `big` makes wide numbers from words of 32 bits instead of single bits. It is much faster, and gives
 * other numbers for the same seed.
 */
export class FastRandom extends Random {
  override big(bits: number): bigint {
    const size = this.int(1, bits);
    let value = 1n;
    let bitsLeft = size - 1;
    for (; bitsLeft >= 32; bitsLeft -= 32) value = (value << 32n) | BigInt(this.int(0, 0xffff_ffff));
    return (value << BigInt(bitsLeft)) | BigInt(this.int(0, 2 ** bitsLeft - 1));
  }
}
