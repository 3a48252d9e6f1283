/**
 * Keeps all pools and their newest states in memory, as of the last decoded block. For blocks that are not
 * final, also keeps the earlier values, so that `rewindTo` can undo the blocks after a reorg.
 */
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, parsePoolType, type Pool, type PoolState } from '../../domain/pool';
import { Journal } from '../../pricing/journal';
import { getProtocol } from '../../protocols/registry';
import type { ManyTokenState } from '../../protocols/manyTokenProtocol';

/** Largest number of unknown contracts whose fee is remembered. Any contract can emit the event. */
const UNLISTED_MAX = 50_000;

export interface KnownPool extends Pool {
  readonly baseIsToken0: boolean;
}

/**
 * A pool of n tokens. token0 and token1 of `pool` are the two tokens that represent the whole pool (see
 * pickDefaultLeg).
 */
export interface ManyTokenPool {
  readonly pool: KnownPool;
  readonly state: ManyTokenState;
}

/** The column scale_decimals, which is empty if the decimals are unknown. */
function toScaleDecimals([decimals0, decimals1]: readonly number[]): readonly [number, number] | null {
  return decimals0 === undefined || decimals1 === undefined ? null : [decimals0, decimals1];
}

/** The columns of a pool without its place in the chain. */
export type PoolColumns = Omit<PoolRow, 'ord' | 'created_block' | 'created_at' | 'created_tx'>;

export function poolOfRow(row: PoolColumns): KnownPool {
  return {
    address: row.address,
    id: row.pool_id,
    hooks: row.hooks,
    hookBits: row.hook_bits,
    dex: row.dex,
    protocol: getProtocol(row.protocol).name,
    poolType: parsePoolType(row.pool_type),
    factory: row.factory,
    token0: row.token0,
    token1: row.token1,
    feePips: row.fee_pips,
    tickSpacing: row.tick_spacing,
    scaleDecimals: toScaleDecimals(row.scale_decimals),
    baseIsToken0: row.base_is_token0,
  };
}

export class PoolRegistry {
  private readonly pools = new Map<Hex, KnownPool>();
  private readonly states = new Map<Hex, PoolState>();
  /**
   * Pools of many tokens have a map of their own, so that an event of a pair contract never changes one of them, or
   * the reverse.
   */
  private readonly manyTokenPools = new Map<Hex, ManyTokenPool>();
  /** Fees of contracts that are no known pools, from their newest fee events. A found pool may be one of them. */
  private readonly unlistedFees = new Map<Hex, bigint>();
  private readonly journal = new Journal();

  get size(): number {
    return this.pools.size + this.manyTokenPools.size;
  }

  clear(): void {
    this.pools.clear();
    this.states.clear();
    this.manyTokenPools.clear();
    this.unlistedFees.clear();
    this.journal.finaliseAll();
  }

  /** Begins a block. If the block is reversible, its changes can be undone until `finalise`. */
  openBlock(number: number, reversible: boolean): void {
    if (reversible) this.journal.open(number);
    else this.journal.finaliseAll();
  }

  findPool(address: Hex): KnownPool | undefined {
    return this.pools.get(address);
  }

  stateOf(address: Hex): PoolState {
    return this.states.get(address) ?? EMPTY_STATE;
  }

  addPool(pool: KnownPool): void {
    this.set(this.pools, pool.address, pool);
  }

  findManyTokenPool(address: Hex): ManyTokenPool | undefined {
    return this.manyTokenPools.get(address);
  }

  /** Adds a pool of many tokens, or sets its state. */
  setManyTokenPool(added: ManyTokenPool): void {
    this.set(this.manyTokenPools, added.pool.address, added);
  }

  noteUnlistedFee(address: Hex, swapFee: bigint): void {
    if (this.unlistedFees.has(address) || this.unlistedFees.size < UNLISTED_MAX)
      this.set(this.unlistedFees, address, swapFee);
  }

  /** The fee of a pool that is not known yet, if a decoded block has changed it. */
  findUnlistedFee(address: Hex): bigint | undefined {
    return this.unlistedFees.get(address);
  }

  setState(address: Hex, state: PoolState): void {
    this.set(this.states, address, state);
  }

  /** Undoes every reversible block above `number`. */
  rewindTo(number: number): void {
    this.journal.rewindTo(number);
  }

  /** Marks blocks up to `number` as final, and drops the data for undoing them. */
  finalise(number: number): void {
    this.journal.finalise(number);
  }

  private set<T>(map: Map<Hex, T>, key: Hex, value: T): void {
    const valueBefore = map.get(key);
    map.set(key, value);
    this.journal.note(() => (valueBefore === undefined ? map.delete(key) : map.set(key, valueBefore)));
  }
}
