/**
 * The depth of each leg for the route search, from its newest record. A search reads these numbers for every live leg, and
 * waits for memory most of the time. So they are in one array, 64 bytes a leg, and not in the objects of the records.
 */
import { confirmedLiquidity, inSteps, knownSide } from '../depth';
import { DORMANT_SECONDS, matureFrom } from '../epoch';
import type { GroupPool, IndexedLeg } from '../indexedToken';

/** Smallest USD value of a pool's known side. Poorer pools are ignored. */
export const BACKING_MIN_USD = 50;

interface SearchMoment {
  /** First block of the epoch. */
  readonly block: number;
  /** Time of the last block before the epoch, unix seconds. */
  readonly time: number;
}

/**
 * Length of a row. Its first four numbers are in whole tokens: depth and backing of the side of token0, then of the side of
 * token1.
 */
const ROW = 8;
const MOVED_AT = 4;
/** The first block in which the leg may set a trusted price. */
const MATURE_FROM = 5;
/** 1 if the mean liquidity has reached the newest one, so that the row lasts until the next record. */
const IS_SETTLED = 6;

export class LegDepths {
  private rows = new Float64Array(1_024 * ROW);
  /** Legs whose row changes with the next epoch. */
  private readonly outdated = new Set<IndexedLeg>();

  /** The leg has a new record. */
  add(leg: IndexedLeg): void {
    this.outdated.add(leg);
  }

  delete(leg: IndexedLeg): void {
    this.outdated.delete(leg);
  }

  /** Brings the rows up to date for a search at this time. */
  update(time: number, matureAge: number): void {
    for (const leg of this.outdated) {
      const row = leg.id * ROW;
      if (row >= this.rows.length) {
        const { rows } = this;
        this.rows = new Float64Array(2 * row);
        this.rows.set(rows);
      }
      this.rows.set(rowOf(leg, time, matureAge), row);
      if (this.rows[row + IS_SETTLED] === 1) this.outdated.delete(leg);
    }
  }

  /**
   * The leg as a pool that prices one of its tokens in the other one. `usd` is the price of the other one, which is token0
   * or token1. Null if the search ignores the leg. `confirmed`: the pool must be mature, and counts with the liquidity that
   * the previous epoch confirms. Otherwise its newest liquidity counts.
   */
  poolOf(
    leg: IndexedLeg,
    isToken0: boolean,
    usd: number,
    { block, time }: SearchMoment,
    confirmed: boolean,
  ): GroupPool | null {
    const { rows } = this;
    const row = leg.id * ROW;
    const ageSeconds = time - (rows[row + MOVED_AT] ?? 0);
    if (confirmed && (rows[row + MATURE_FROM] ?? Infinity) > block) return null;
    if (!confirmed && rows[row + IS_SETTLED] === 0) {
      const { record } = leg;
      if (record === undefined) return null;
      const { state } = record;
      return toGroupPool(leg, knownSide({ state, liquidity: state.liquidity }, isToken0, usd), ageSeconds);
    }
    const side = isToken0 ? row : row + 2;
    const depthUsd = (rows[side] ?? 0) * usd;
    const backingUsd = (rows[side + 1] ?? 0) * usd;
    return toGroupPool(leg, { depthUsd, backingUsd }, ageSeconds);
  }
}

function rowOf({ record }: IndexedLeg, time: number, matureAge: number): readonly number[] {
  if (record === undefined) return [0, 0, 0, 0, 0, Infinity, 1];
  const { state } = record;
  const liquidity = confirmedLiquidity(record, time);
  const side0 = knownSide({ state, liquidity }, true, 1);
  const side1 = knownSide({ state, liquidity }, false, 1);
  return [
    ...[side0.depthUsd, side0.backingUsd, side1.depthUsd, side1.backingUsd],
    ...[record.movedAt, matureFrom(record, matureAge), liquidity === state.liquidity ? 1 : 0],
  ];
}

/** Null if the pool is dormant or too poor. */
export function toGroupPool(
  leg: IndexedLeg,
  { depthUsd, backingUsd }: { readonly depthUsd: number; readonly backingUsd: number },
  ageSeconds: number,
): GroupPool | null {
  if (ageSeconds > DORMANT_SECONDS || !(backingUsd >= BACKING_MIN_USD)) return null;
  if (!Number.isFinite(depthUsd) || !Number.isFinite(backingUsd)) return null;
  return { leg, weight: inSteps(depthUsd), backingUsd, ageSeconds };
}
