/**
 * Keeps the reserves of the bins of pools with bins, and walks them to compute the depth of a pool near its price when a
 * block changes the pool. The bins are known if the pool's creation was ingested, because every event is then known. The
 * bins of an older pool are known from the block on from which its bins from before the start block are used.
 */
import type { OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { PoolRow, PoolStateRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { readBinParams, unpackBin, type BinMove } from '../../domain/pools/binMoves';
import { shapeOf } from '../../domain/pools/poolShape';
import { Journal } from '../../pricing/journal';
import { BinMap } from '../../protocols/ticks/binMap';
import type { StoredBin } from './storedTicks';

type BinPool = Pick<PoolRow, 'address' | 'pool_type' | 'tick_spacing' | 'created_block'>;
type BinStateRow = Pick<PoolStateRow, 'pair' | 'tick' | 'price' | 'params'>;

interface PoolBins {
  readonly map: BinMap;
  /** Whether the map has all that the bins hold, so that it can be walked. */
  known: boolean;
}

export class BinBook {
  private readonly pools = new Map<Hex, PoolBins>();
  private journal = new Journal();

  /** Replaces all bins. `bins`: changes by all final blocks. `old`: bins from before the start block that are in use. */
  load(pools: Iterable<BinPool>, bins: Iterable<StoredBin>, old: Iterable<OldTicksRow> = []): void {
    this.pools.clear();
    this.journal = new Journal();
    for (const pool of pools) this.addPool(pool);
    for (const { pair, id, amount0, amount1 } of bins)
      this.pools
        .get(pair)
        ?.map.add({ id, amount0: BigInt.asIntN(256, amount0), amount1: BigInt.asIntN(256, amount1) });
    for (const row of old) this.addOld(row);
  }

  /**
   * Applies the next block, and adds a walk to its last state of each pool. A reversible block can be undone until
   * `finalise`. `old`: older bins that are used from this block on.
   */
  apply<Row extends BinStateRow>(
    number: number,
    pools: readonly BinPool[],
    states: readonly Row[],
    reversible: boolean,
    old: readonly OldTicksRow[] = [],
  ): readonly Row[] {
    if (reversible) this.journal.open(number);
    else this.journal.finaliseAll();
    for (const pool of pools) this.addPool(pool);
    for (const row of old) this.addOld(row);
    const lastOf = new Map<Hex, number>();
    states.forEach(({ pair, params }, at) => {
      const pool = this.pools.get(pair);
      if (pool === undefined) return;
      if (pool.known) lastOf.set(pair, at);
      for (const move of readBinParams(params)) this.addMove(pool, move);
    });
    if (lastOf.size === 0) return states;
    const walked = [...states];
    for (const [pair, at] of lastOf) {
      const state = states[at];
      const depth = state === undefined ? null : (this.pools.get(pair)?.map.walk(state) ?? null);
      if (state === undefined || depth === null) continue;
      const { liquidity, near0, near1 } = depth;
      walked[at] = { ...state, walked_liquidity: liquidity, near0, near1 };
    }
    return walked;
  }

  rewindTo(number: number): void {
    this.journal.rewindTo(number);
  }

  finalise(number: number): void {
    this.journal.finalise(number);
  }

  private addPool({ address, pool_type, tick_spacing, created_block }: BinPool): void {
    if (shapeOf(pool_type).liquidity !== 'walked' || this.pools.has(address)) return;
    this.pools.set(address, { map: new BinMap(tick_spacing), known: created_block !== null });
    this.journal.note(() => this.pools.delete(address));
  }

  private addOld({ pair, low, high, ticks, nets }: OldTicksRow): void {
    const pool = this.pools.get(pair);
    if (pool === undefined || pool.known || low > high) return;
    ticks.forEach((id, i) => this.addMove(pool, unpackBin(id, nets[i] ?? 0n)));
    pool.map.limitTo(low, high);
    pool.known = true;
    this.journal.note(() => (pool.known = false));
  }

  private addMove({ map }: PoolBins, { id, amount0, amount1 }: BinMove): void {
    map.add({ id, amount0, amount1 });
    this.journal.note(() => map.add({ id, amount0: -amount0, amount1: -amount1 }));
  }
}
