/** Seeded random numbers for worlds. */

export interface Random {
  (): number;
  int(below: number): number;
  pick<T>(values: readonly T[]): T;
  big(bits: number): bigint;
}

/** mulberry32: small, seeded, the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return Object.assign(next, {
    int: (below: number) => Math.floor(next() * below),
    pick: <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!,
    big: (bits: number) => {
      let value = 1n;
      for (let i = 0; i < bits; i += 1) value = value * 2n + (next() < 0.5 ? 0n : 1n);
      return value;
    },
  });
}
