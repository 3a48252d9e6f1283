/**
 * Keeps the tick maps of all V3 pools. When a block changes a pool whose ticks are known, this module walks them to
 * compute the pool's depth near its price. The ticks are known if the pool's creation was ingested, because every
 * mint and burn is then known. The ticks of an older pool are known from the block on from which its ticks from
 * before the start block are used. Other pools are not walked.
 */
import type { OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { LiquidityEventRow, PoolRow, PoolStateRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { shapeOf } from '../../domain/pools/poolShape';
import { Journal } from '../../pricing/journal';
import { isTickRange, TickMap, type TickState } from '../../protocols/ticks/tickMap';
import { TICK_MAX, TICK_MIN } from '../../protocols/ticks/tickMath';
import type { StoredTick } from './storedTicks';

type TickPool = Pick<PoolRow, 'address' | 'pool_type' | 'created_block'>;
type TickEvent = Pick<
  LiquidityEventRow,
  'kind' | 'pair' | 'pool_type' | 'liquidity' | 'tick_lower' | 'tick_upper'
>;

type TickStateRow = TickState & Pick<PoolStateRow, 'pair' | 'pool_type'>;

interface PoolTicks {
  /**
   * Net liquidity by tick: the sum of the ingested mints and burns, and of the ticks from before the first
   * ingested block if they are known.
   */
  readonly map: TickMap;
  /** Whether the map also has the ticks from before the first ingested block, so that it can be walked. */
  known: boolean;
}

export class TickBook {
  private readonly pools = new Map<Hex, PoolTicks>();
  private journal = new Journal();

  /** Replaces all maps. `ticks`: sums over all stored blocks. `old`: ticks from before the start block that are in use. */
  load(pools: Iterable<TickPool>, ticks: Iterable<StoredTick>, old: Iterable<OldTicksRow> = []): void {
    this.pools.clear();
    this.journal = new Journal();
    for (const pool of pools) this.addPool(pool);
    for (const { pair, tick, net } of ticks) this.poolOf(pair).map.add(tick, net);
    for (const row of old) this.addOld(row);
  }

  /**
   * Applies the next block. A reversible block can be undone until `finalise`. `old`: older ticks that are used from this
   * block on.
   */
  apply(
    number: number,
    pools: readonly TickPool[],
    events: readonly TickEvent[],
    reversible: boolean,
    old: readonly OldTicksRow[] = [],
  ): void {
    if (reversible) this.journal.open(number);
    else this.journal.finaliseAll();
    for (const row of old) this.addOld(row);
    for (const pool of pools) this.addPool(pool);
    for (const event of events) if (shapeOf(event.pool_type).hasTicks) this.addEvent(event);
  }

  /** Adds a walk to the last state of each pool in the block, if all ticks of that pool are known. */
  walkLast<Row extends TickStateRow>(states: readonly Row[]): Row[] {
    const walked = [...states];
    const walkedPairs = new Set<Hex>();
    for (let i = states.length - 1; i >= 0; i -= 1) {
      const state = states[i];
      if (state === undefined || !shapeOf(state.pool_type).hasTicks || walkedPairs.has(state.pair)) continue;
      walkedPairs.add(state.pair);
      const pool = this.pools.get(state.pair);
      const depth = pool?.known === true ? pool.map.walk(state) : null;
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
    if (!shapeOf(type).hasTicks || created === null) return;
    const pool = this.poolOf(address);
    if (pool.known) return;
    pool.known = true;
    this.journal.note(() => (pool.known = false));
  }

  private addOld({ pair, low, high, ticks, nets }: OldTicksRow): void {
    // Ids of bins are far above all ticks.
    if (low > high || low < TICK_MIN || high > TICK_MAX) return;
    const pool = this.poolOf(pair);
    if (pool.known) return;
    const add = (sign: bigint): void =>
      ticks.forEach((tick, i) => pool.map.add(tick, sign * (nets[i] ?? 0n)));
    add(1n);
    pool.map.limitTo(low, high);
    pool.known = true;
    // An undo need not remove the limits of the map: the map of a pool whose ticks are not known is never read.
    this.journal.note(() => {
      add(-1n);
      pool.known = false;
    });
  }

  private addEvent({ kind, pair, liquidity, tick_lower: lower, tick_upper: upper }: TickEvent): void {
    if (kind !== 'mint' && kind !== 'burn') return;
    if (liquidity === null || lower === null || upper === null) return;
    if (!isTickRange(lower, upper)) return;
    const { map } = this.poolOf(pair);
    const net = kind === 'mint' ? liquidity : -liquidity;
    map.addRange(lower, upper, net);
    this.journal.note(() => map.addRange(lower, upper, -net));
  }

  private poolOf(pair: Hex): PoolTicks {
    const storedTicks = this.pools.get(pair);
    if (storedTicks !== undefined) return storedTicks;
    const pool: PoolTicks = { map: new TickMap(), known: false };
    this.pools.set(pair, pool);
    return pool;
  }
}
