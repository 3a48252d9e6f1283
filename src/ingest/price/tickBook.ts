/**
 * Keeps the tick maps of all V3 pools whose creation was ingested, because only then every mint and burn is known.
 * When a block changes a pool, the pool's ticks are walked. Older pools have no map and are not walked.
 */
import type { LiquidityEventRow, PoolRow, PoolStateRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { Journal } from '../../pricing/journal';
import { isTickRange, TickMap, type TickState } from '../../protocols/tickMap';

const V3 = 3;

type TickPool = Pick<PoolRow, 'address' | 'pool_type' | 'created_block'>;
type TickEvent = Pick<
  LiquidityEventRow,
  'kind' | 'pair' | 'pool_type' | 'liquidity' | 'tick_lower' | 'tick_upper'
>;

/** Net liquidity of one tick, as stored. */
export interface StoredTick {
  readonly pair: Hex;
  readonly tick: number;
  readonly net: bigint;
}

type TickStateRow = TickState & Pick<PoolStateRow, 'pair' | 'pool_type'>;

export class TickBook {
  private readonly maps = new Map<Hex, TickMap>();
  private journal = new Journal();

  /** Replaces all maps. `ticks`: sums over all stored blocks. */
  load(pools: Iterable<TickPool>, ticks: Iterable<StoredTick>): void {
    this.maps.clear();
    this.journal = new Journal();
    for (const pool of pools) this.addPool(pool);
    for (const { pair, tick, net } of ticks) this.maps.get(pair)?.add(tick, net);
  }

  /** Applies the next block. A reversible block can be undone until `finalise`. */
  apply(number: number, pools: readonly TickPool[], events: readonly TickEvent[], reversible: boolean): void {
    if (reversible) this.journal.open(number);
    else this.journal.finalise(Infinity);
    for (const pool of pools) this.addPool(pool);
    for (const event of events) if (event.pool_type === V3) this.addEvent(event);
  }

  /** Adds a walk to the last state of each pool in the block, if all ticks of that pool are known. */
  walkLast<Row extends TickStateRow>(states: readonly Row[]): Row[] {
    const walked = [...states];
    const seen = new Set<Hex>();
    for (let i = states.length - 1; i >= 0; i -= 1) {
      const state = states[i];
      if (state?.pool_type !== V3 || seen.has(state.pair)) continue;
      seen.add(state.pair);
      const depth = this.maps.get(state.pair)?.walk(state) ?? null;
      if (depth === null) continue;
      const { liquidity, near0, near1 } = depth;
      walked[i] = { ...state, walked_liquidity: liquidity, near0, near1 };
    }
    return walked;
  }

  rewindTo(number: number): void {
    this.journal.rewindTo(number);
  }

  finalise(number: number): void {
    this.journal.finalise(number);
  }

  private addPool({ address, pool_type: type, created_block: created }: TickPool): void {
    if (type !== V3 || created === null || this.maps.has(address)) return;
    this.maps.set(address, new TickMap());
    this.journal.note(() => this.maps.delete(address));
  }

  private addEvent({ kind, pair, liquidity, tick_lower: lower, tick_upper: upper }: TickEvent): void {
    if (kind !== 'mint' && kind !== 'burn') return;
    const map = this.maps.get(pair);
    if (map === undefined || liquidity === null || lower === null || upper === null) return;
    if (!isTickRange(lower, upper)) return;
    const net = kind === 'mint' ? liquidity : -liquidity;
    map.addRange(lower, upper, net);
    this.journal.note(() => map.addRange(lower, upper, -net));
  }
}
