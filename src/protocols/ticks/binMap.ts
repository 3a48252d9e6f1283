/**
 * The reserves of all bins of a pool, and what the pool pays out when its price moves. Bins above the active one hold
 * token0, bins below it token1, and the active bin holds both.
 */
import type { BinMove } from '../../domain/pools/binMoves';
import type { WalkedDepth } from './tickMap';

const CLOSE = { up: 1.02, down: 0.98 };
/** The range in which the pool's tokens count as backing of the price, as for ticks. */
const NEAR = { up: 1.5, down: 0.5 };
const CLOSE_UP = 1 - 1 / Math.sqrt(CLOSE.up);
const CLOSE_DOWN = 1 - Math.sqrt(CLOSE.down);
const BASIS_POINTS = 10_000;

interface BinReserves {
  readonly amount0: bigint;
  readonly amount1: bigint;
}

const EMPTY_BIN: BinReserves = { amount0: 0n, amount1: 0n };

/** The active bin and its price, raw token1 per raw token0. */
interface BinState {
  readonly tick: number;
  readonly price: number;
}

export class BinMap {
  private readonly bins = new Map<number, BinReserves>();

  /** First and last known bin. */
  private known: readonly [low: number, high: number] = [-Infinity, Infinity];

  constructor(readonly binStep: number) {}

  /** The bins with reserves, in no order. */
  ids(): number[] {
    return [...this.bins.keys()];
  }

  reservesOf(id: number): BinReserves {
    return this.bins.get(id) ?? EMPTY_BIN;
  }

  /** Ends all walks at these bins, because the bins beyond them are unknown. */
  limitTo(low: number, high: number): void {
    this.known = [low, high];
  }

  /** Adds changes of a bin, which may be negative. */
  add({ id, amount0, amount1 }: BinMove): void {
    const bin = this.bins.get(id);
    const [sum0, sum1] = [(bin?.amount0 ?? 0n) + amount0, (bin?.amount1 ?? 0n) + amount1];
    if (sum0 === 0n && sum1 === 0n) this.bins.delete(id);
    else this.bins.set(id, { amount0: sum0, amount1: sum1 });
  }

  /** Walks the price up and down. Null if the pool has no price. */
  walk({ tick, price }: BinState): WalkedDepth | null {
    if (!(price > 0)) return null;
    const root = Math.sqrt(price);
    const [close, near] = [this.paid(tick, CLOSE), this.paid(tick, NEAR)];
    return {
      liquidity: Math.min((close.amount0 * root) / CLOSE_UP, close.amount1 / root / CLOSE_DOWN),
      near0: near.amount0,
      near1: near.amount1,
    };
  }

  /** Raw token0 in the bins up to `up` times the price, and raw token1 in the bins down to `down` times the price. */
  private paid(active: number, { up, down }: typeof CLOSE): { amount0: number; amount1: number } {
    const base = Math.log1p(this.binStep / BASIS_POINTS);
    const last = Math.min(this.known[1], active + Math.floor(Math.log(up) / base));
    const first = Math.max(this.known[0], active + Math.ceil(Math.log(down) / base));
    let [amount0, amount1] = [0n, 0n];
    for (const id of this.idsWithin(first, last)) {
      const bin = this.bins.get(id);
      if (bin === undefined) continue;
      // Rows of earlier versions have no changes of bins, so a sum can be below 0.
      if (id >= active && bin.amount0 > 0n) amount0 += bin.amount0;
      if (id <= active && bin.amount1 > 0n) amount1 += bin.amount1;
    }
    return { amount0: Number(amount0), amount1: Number(amount1) };
  }

  private idsWithin(first: number, last: number): Iterable<number> {
    if (last - first < this.bins.size)
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
    return this.ids().filter((id) => id >= first && id <= last);
  }
}
