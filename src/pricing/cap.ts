/**
 * The cap of a token: the most USD that the pools of its route can pay out together. A value by a token's price is at
 * most the cap of the token, because nobody could sell more.
 */

/** Number of steps per doubling. A stored cap is rounded to steps, so that it does not change with every trade. */
const STEPS = 16;
/** Bounds of a cap, as exponents of 2. A cap is then never 0, and products stay finite. */
const OCTAVES_MIN = -960;
const OCTAVES_MAX = 960;

/** Rounds down to a sixteenth of a doubling: the result is 0 to 4.3 % below `tokens`. */
export function inCapSteps(tokens: number): number {
  const octaves = Math.floor(Math.log2(tokens) * STEPS) / STEPS;
  return 2 ** Math.min(OCTAVES_MAX, Math.max(OCTAVES_MIN, octaves));
}

/** The cap of a stored hop. The stored value 0 means that there is no limit, or that the hop has no price. */
export function storedCap(hopPrice: number, hopCap: number): number {
  return hopPrice > 0 && hopCap === 0 ? Infinity : hopCap;
}

/** Two sides of equal value differ by less than this part, because prices and amounts are floats. */
const ROUNDING = 1e-9;

/** The fields of a hop that decide the cap. */
interface CappedHop {
  /** Price of the hop: whole next tokens per whole token. */
  readonly price: number;
  /** Whole next tokens that the pools of the hop can pay out together. */
  readonly cap: number;
}

/**
 * The smallest USD value that a hop of the path can pay out. `path` goes from the token towards the anchor, without
 * the anchor.
 */
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
  /** Cap of the token in USD; Infinity for an anchor. */
  readonly capUsd: number;
  /** Value of this side by the pool's own price, in any unit that all sides of the pool share. */
  readonly poolWorth: number;
}

/**
 * Limits the value of each trusted side of one pool, in USD. The limit is the larger of two amounts: the cap of the
 * side, and the capped value of another side, converted by the pool's price. So a pool that is the whole route of
 * its token keeps the value of both sides.
 */
export function countSides(sides: readonly CappedValue[]): number[] {
  if (sides.every(({ usd, capUsd }) => usd <= capUsd)) return sides.map(({ usd }) => usd);
  const rates = sides.map(({ usd, capUsd, poolWorth }) =>
    poolWorth > 0 ? Math.min(usd, capUsd) / poolWorth : 0,
  );
  return sides.map(({ usd, capUsd, poolWorth }, i) => {
    const otherRate = rates.reduce(
      (highest, rate, otherIndex) => (otherIndex === i ? highest : Math.max(highest, rate)),
      0,
    );
    const usdMax = Math.max(capUsd, otherRate * poolWorth);
    return usd <= usdMax * (1 + ROUNDING) ? usd : usdMax;
  });
}
