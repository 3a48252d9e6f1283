/**
 * The cap of a token: the most USD that the pools of its route can pay out together. A value by a token's price is at
 * most the cap of the token, because nobody could sell more.
 */

/** Steps per octave, so that a stored cap changes with liquidity and not with every trade. */
const STEPS = 16;
/** Bounds of a cap as powers of two, so that a cap is never 0 and products stay finite. */
const OCTAVES_MIN = -960;
const OCTAVES_MAX = 960;

/** Rounds down to a sixteenth of an octave: 0 to 4.3 % below `tokens`. */
export function inCapSteps(tokens: number): number {
  const octaves = Math.floor(Math.log2(tokens) * STEPS) / STEPS;
  return 2 ** Math.min(OCTAVES_MAX, Math.max(OCTAVES_MIN, octaves));
}

/** The cap of a stored hop. 0 stands for no limit, or for a hop without a price. */
export function storedCap(hopPrice: number, hopCap: number): number {
  return hopPrice > 0 && hopCap === 0 ? Infinity : hopCap;
}

/** Two sides of equal value differ by less than this part, because prices and amounts are floats. */
const ROUNDING = 1e-9;

/** A hop as the cap needs it. */
interface CappedHop {
  /** Whole next tokens per whole token. */
  readonly price: number;
  /** Whole next tokens that the pools of the hop can pay out together. */
  readonly cap: number;
}

/** The least USD that a hop of the path can pay out. `path`: from the token towards the anchor, without the anchor. */
export function capAlong(path: readonly CappedHop[], anchorUsd: number): number {
  let usd = anchorUsd;
  let capUsd = Infinity;
  for (let i = path.length - 1; i >= 0; i -= 1) {
    const { price = 0, cap = 0 } = path[i] ?? {};
    capUsd = Math.min(capUsd, cap * usd);
    usd *= price;
  }
  return capUsd;
}

/** One side of a pool, a swap or a position, by a trusted price. */
export interface CappedValue {
  /** Value before the cap, USD, ≥ 0. */
  readonly usd: number;
  /** USD; Infinity for an anchor. */
  readonly capUsd: number;
  /** Part of the pool's value that this side has by the pool's own price, up to a common factor. */
  readonly part: number;
}

/**
 * Limits the value of each trusted side of one pool, in USD. The limit is the cap of the side, or the capped value of
 * another side, converted by the pool's price, if that is more. So a pool that is the whole route of its token keeps
 * the value of both sides.
 */
export function countSides(sides: readonly CappedValue[]): number[] {
  if (sides.every(({ usd, capUsd }) => usd <= capUsd)) return sides.map(({ usd }) => usd);
  const rates = sides.map(({ usd, capUsd, part }) => (part > 0 ? Math.min(usd, capUsd) / part : 0));
  return sides.map(({ usd, capUsd, part }, i) => {
    const beside = rates.reduce((most, rate, j) => (j === i ? most : Math.max(most, rate)), 0);
    const most = Math.max(capUsd, beside * part);
    return usd <= most * (1 + ROUNDING) ? usd : most;
  });
}
