/**
 * Keeps the reserves of the bins of pools with bins, and walks them to compute the depth of a pool near its price when a
 * block changes the pool. The bins are known if the pool's creation was ingested, because every event is then known. The
 * bins of an older pool are known from the block on from which its bins from before the start block are used. A swap of
 * PancakeSwap Infinity is replayed; if the replay fails, the bins of the pool are unknown from then on.
 */
import type { OldTicksRow } from '../../clickhouse/schema/olderPoolTables';
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import {
  ALL_TOLD,
  readBinParams,
  toBinParams,
  unpackBin,
  UNTOLD_BIN,
  type BinMove,
} from '../../domain/pools/binMoves';
import { shapeOf } from '../../domain/pools/poolShape';
import { Journal } from '../../pricing/journal';
import { replaySwap, unpackReplay } from '../../protocols/ticks/replaySwap';
import { BinMap } from '../../protocols/ticks/binMap';
import type { BlockFacts, SwapFact } from '../rows/blockRows';
import type { StoredBin } from './storedTicks';

type BinPool = Pick<PoolRow, 'address' | 'pool_type' | 'tick_spacing' | 'created_block'>;
type Facts = Pick<BlockFacts, 'pools' | 'pool_states' | 'swaps' | 'toldBins'>;

interface PoolBins {
  readonly map: BinMap;
  /** Whether all events of the pool are known, or its bins from before the start block. */
  whole: boolean;
  /** Number of states that tell all bins of the pool, and of swaps that do not tell how they changed the bins. */
  told: bigint;
  untold: bigint;
}

export class BinBook {
  private readonly pools = new Map<Hex, PoolBins>();
  private journal = new Journal();

  /** Replaces all bins. `bins`: changes by all final blocks. `old`: bins from before the start block that are in use. */
  load(pools: Iterable<BinPool>, bins: Iterable<StoredBin>, old: Iterable<OldTicksRow> = []): void {
    this.pools.clear();
    this.journal = new Journal();
    for (const pool of pools) this.addPool(pool);
    for (const { pair, id, amount0, amount1 } of bins) {
      const pool = this.pools.get(pair);
      const move = { id, amount0: BigInt.asIntN(256, amount0), amount1: BigInt.asIntN(256, amount1) };
      if (pool !== undefined) addTo(pool, move);
    }
    for (const row of old) this.addOld(row);
  }

  /**
   * Applies the next block. Adds the changes of bins to states that do not tell them, and a walk to the last state of each
   * pool. A reversible block can be undone until `finalise`. `old`: older bins that are used from this block on.
   */
  apply(
    number: number,
    { pools, pool_states: states, swaps, toldBins }: Facts,
    reversible: boolean,
    old: readonly OldTicksRow[] = [],
  ): Facts['pool_states'] {
    if (reversible) this.journal.open(number);
    else this.journal.finaliseAll();
    for (const pool of pools) this.addPool(pool);
    for (const row of old) this.addOld(row);
    const lastOf = new Map<Hex, number>();
    const walked = [...states];
    for (const [at, state] of states.entries()) {
      const pool = this.pools.get(state.pair);
      if (pool === undefined) continue;
      const told = lastOf.has(state.pair) ? undefined : toldBins.get(state.pair);
      lastOf.set(state.pair, at);
      const before = told === undefined ? [] : [{ id: ALL_TOLD, amount0: 1n, amount1: 0n }, ...told];
      this.addMoves(pool, before);
      const moves = readBinParams(state.params);
      const found = moves.flatMap((move) => replay(pool, move, state.ord, swaps));
      this.addMoves(pool, found);
      if (told !== undefined || found.length !== moves.length || found.some((move, i) => move !== moves[i]))
        walked[at] = { ...state, params: toBinParams([...before, ...found]) };
    }
    for (const [pair, at] of lastOf) {
      const [state, pool] = [walked[at], this.pools.get(pair)];
      const depth = state === undefined || pool === undefined || !isKnown(pool) ? null : pool.map.walk(state);
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
    const map = new BinMap(tick_spacing);
    this.pools.set(address, { map, whole: created_block !== null, told: 0n, untold: 0n });
    this.journal.note(() => this.pools.delete(address));
  }

  private addOld({ pair, low, high, ticks, nets }: OldTicksRow): void {
    const pool = this.pools.get(pair);
    if (pool === undefined || pool.whole || low > high) return;
    this.addMoves(
      pool,
      ticks.map((id, i) => unpackBin(id, nets[i] ?? 0n)),
    );
    pool.map.limitTo(low, high);
    pool.whole = true;
    this.journal.note(() => (pool.whole = false));
  }

  private addMoves(pool: PoolBins, moves: readonly BinMove[]): void {
    for (const move of moves) {
      addTo(pool, move);
      const { id, amount0, amount1 } = move;
      this.journal.note(() => addTo(pool, { id, amount0: -amount0, amount1: -amount1 }));
    }
  }
}

function isKnown({ whole, told, untold }: PoolBins): boolean {
  return (whole || told > 0n) && untold === 0n;
}

function addTo(pool: PoolBins, move: BinMove): void {
  if (move.id === UNTOLD_BIN) pool.untold += move.amount0;
  else if (move.id === ALL_TOLD) pool.told += move.amount0;
  else pool.map.add(move);
}

/**
 * Replays the swap of a move that does not tell the bins, and returns the changes of each bin. Returns any other move as it
 * is, and a move whose swap cannot be replayed.
 */
function replay(pool: PoolBins, move: BinMove, ord: number, swaps: readonly SwapFact[]): readonly BinMove[] {
  if (move.id !== UNTOLD_BIN || !isKnown(pool)) return [move];
  const swap = swaps.find((each) => each.ord === ord);
  if (swap === undefined) return [move];
  const { amount0, amount1, tick: to, fee_pips: feePips } = swap;
  const event = { amount0, amount1, to, feePips: BigInt(feePips), ...unpackReplay(move.amount1) };
  return replaySwap(pool.map, event) ?? [move];
}
