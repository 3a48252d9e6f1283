/**
 * Keeps the reserves of the bins of pools with bins, and walks them to compute the depth of a pool near its price when a
 * block changes the pool. The bins are known if the pool's creation was ingested, because every event is then known.
 */
import type { PoolRow, PoolStateRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { readBinParams } from '../../domain/pools/binMoves';
import { shapeOf } from '../../domain/pools/poolShape';
import { Journal } from '../../pricing/journal';
import { BinMap } from '../../protocols/ticks/binMap';
import type { StoredBin } from './storedTicks';

type BinPool = Pick<PoolRow, 'address' | 'pool_type' | 'tick_spacing' | 'created_block'>;
type BinStateRow = Pick<PoolStateRow, 'pair' | 'tick' | 'price' | 'params'>;

export class BinBook {
  private readonly pools = new Map<Hex, BinMap>();
  private journal = new Journal();

  /** Replaces all bins. `bins`: the reserves by all final blocks. */
  load(pools: Iterable<BinPool>, bins: Iterable<StoredBin>): void {
    this.pools.clear();
    this.journal = new Journal();
    for (const pool of pools) this.addPool(pool);
    for (const { pair, id, amount0, amount1 } of bins)
      this.pools
        .get(pair)
        ?.add({ id, amount0: BigInt.asIntN(256, amount0), amount1: BigInt.asIntN(256, amount1) });
  }

  /**
   * Applies the next block, and adds a walk to its last state of each pool. A reversible block can be undone until
   * `finalise`.
   */
  apply<Row extends BinStateRow>(
    number: number,
    pools: readonly BinPool[],
    states: readonly Row[],
    reversible: boolean,
  ): readonly Row[] {
    if (reversible) this.journal.open(number);
    else this.journal.finaliseAll();
    for (const pool of pools) this.addPool(pool);
    const lastOf = new Map<Hex, number>();
    states.forEach(({ pair, params }, at) => {
      const map = this.pools.get(pair);
      if (map === undefined) return;
      lastOf.set(pair, at);
      for (const move of readBinParams(params)) {
        map.add(move);
        const { id, amount0, amount1 } = move;
        this.journal.note(() => map.add({ id, amount0: -amount0, amount1: -amount1 }));
      }
    });
    if (lastOf.size === 0) return states;
    const walked = [...states];
    for (const [pair, at] of lastOf) {
      const state = states[at];
      const depth = state === undefined ? null : (this.pools.get(pair)?.walk(state) ?? null);
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
    if (shapeOf(pool_type).liquidity !== 'walked' || created_block === null || this.pools.has(address))
      return;
    this.pools.set(address, new BinMap(tick_spacing));
    this.journal.note(() => this.pools.delete(address));
  }
}
