/**
 * The part that the oracles of two-token pools share: which pools exist, and the lines of their rows. Shares no code with
 * the product. What contracts answer comes from the simulated chain.
 */
import type { ChainBlock, ChainLog } from '../../../src/domain/block';
import type { LegSwap } from './oracleVault';
import { parsePlain, type PlainEvent, type plainEvents } from './plainEvents';

export type Line = readonly (string | number | null)[];
type Events = ReturnType<typeof plainEvents>;

/** A place in the chain. `ord` is the position of the log in the tables. */
export interface LogPlace {
  readonly block: ChainBlock;
  readonly log: ChainLog;
  readonly ord: number;
}

export interface OraclePair {
  readonly address: string;
  readonly token0: string;
  readonly token1: string;
  isListed: boolean;
  reserves: readonly [bigint, bigint];
}

/** The columns of a state beside the reserves. */
export interface StateParts {
  readonly root?: bigint;
  readonly liquidity?: bigint;
  readonly tick?: number;
  readonly doubts?: number;
}

export abstract class PairOracle<Pool extends OraclePair> {
  /** Lines of: ord, address, token0, token1, block of creation. */
  readonly pools: Line[] = [];
  /** Lines of: ord, pair, kind, reserve0, reserve1, sqrtPriceX96, liquidity, tick, doubts. */
  readonly states: Line[] = [];
  /** Lines of: ord, pair, kind, owner, amount0, amount1, liquidity, lower, upper. */
  readonly liquidity: Line[] = [];
  protected readonly known = new Map<string, Pool>();
  /** The first state of an older pool, as the node told it: the product stores it if its block has no other. */
  private readonly told = new Map<string, { readonly block: number; readonly line: Line }>();

  constructor(
    protected readonly factory: string,
    protected readonly firstBlock: number,
    private readonly events: Events,
  ) {}

  /** The pool of a creation event. Null for another event. `isIngested`: the product sees the event. */
  protected abstract create(event: PlainEvent, isIngested: boolean): Pool | null;
  /** What the event of a listed pool changes. Returns the swap if it is one. */
  protected abstract apply(pool: Pool, event: PlainEvent, place: LogPlace): LegSwap | null;
  /** The columns of the state as the node tells it. Null if it tells none. */
  protected abstract toldState(pool: Pool): StateParts | null;
  /** The fee of the pool as lists show it, in pips. */
  protected abstract feeOf(pool: Pool): number;

  /** The pool that a log concerns. */
  protected keyOf(log: ChainLog): string {
    return log.address;
  }

  /** Applies the log. Returns the swap if the log is a swap of a listed pool. */
  read(block: ChainBlock, log: ChainLog): LegSwap | null {
    const topic = log.topics[0] ?? '';
    if (!this.events.has(topic)) return null;
    const event = parsePlain(log, this.events);
    const place = { block, log, ord: block.number * 2 ** 20 + log.logIndex };
    if (log.address === this.factory && event !== null) this.add(event, place);
    if (block.number < this.firstBlock) return null;
    const pool = this.known.get(this.keyOf(log));
    if (pool === undefined) return null;
    // An older pool is listed at its first log, even if that log is malformed.
    if (!pool.isListed) {
      this.list(pool, place.ord, null);
      const told = this.toldState(pool);
      if (told !== null) {
        this.note(pool, place, 'fee', told);
        this.told.set(pool.address, { block: block.number, line: this.states.at(-1)! });
      }
    }
    return event === null ? null : this.apply(pool, event, place);
  }

  /** The fee of each listed pool, in pips. */
  feesNow(): [string, number][] {
    const listed = [...this.known.values()].filter(({ isListed }) => isListed);
    return listed.map((pool) => [pool.address, this.feeOf(pool)]);
  }

  private add(event: PlainEvent, { block, ord }: LogPlace): void {
    const isIngested = block.number >= this.firstBlock;
    const pool = this.create(event, isIngested);
    if (pool === null || this.known.has(pool.address)) return;
    this.known.set(pool.address, pool);
    if (isIngested) this.list(pool, ord, block.number);
  }

  private list(pool: Pool, ord: number, created: number | null): void {
    pool.isListed = true;
    this.pools.push([ord, pool.address, pool.token0, pool.token1, created]);
  }

  protected note(
    { address, reserves }: Pool,
    { block, ord }: LogPlace,
    kind: string,
    { root = 0n, liquidity = 0n, tick = 0, doubts = 0 }: StateParts,
  ): void {
    const told = this.told.get(address);
    if (told?.block === block.number) this.states.splice(this.states.indexOf(told.line), 1);
    this.told.delete(address);
    const [reserve0, reserve1] = reserves.map(String);
    this.states.push([
      ord,
      address,
      kind,
      reserve0!,
      reserve1!,
      String(root),
      String(liquidity),
      tick,
      doubts,
    ]);
  }
}

/** Adds to the balances, which stay within 0 and 2^256 − 1. */
export function addTo(reserves: readonly [bigint, bigint], delta0: bigint, delta1: bigint): [bigint, bigint] {
  const largest = (1n << 256n) - 1n;
  const add = (value: bigint, delta: bigint): bigint => {
    const sum = value + delta;
    return sum < 0n ? 0n : sum > largest ? largest : sum;
  };
  return [add(reserves[0], delta0), add(reserves[1], delta1)];
}
