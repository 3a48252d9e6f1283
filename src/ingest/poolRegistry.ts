/**
 * The pools of the configured factories and their newest states, as of the block last decoded. Blocks that may still be
 * reorganised are decoded reversibly: `rewindTo` takes them back.
 */
import type { PoolRow } from '../clickhouse/tables';
import type { Hex } from '../domain/hex';
import { EMPTY_STATE, parsePoolType, parseProtocolName, type Pool, type PoolState } from '../domain/pool';

/** A pool with its fixed orientation. */
export interface KnownPool extends Pool {
  readonly baseIsToken0: boolean;
}

interface Before {
  readonly pool: KnownPool | undefined;
  readonly state: PoolState | undefined;
}

interface Undo {
  readonly number: number;
  /** What stood at each touched address before the block. */
  readonly before: Map<Hex, Before>;
}

export class PoolRegistry {
  private readonly pools = new Map<Hex, KnownPool>();
  private readonly states = new Map<Hex, PoolState>();
  private readonly undos: Undo[] = [];
  private current: Undo | null = null;

  get size(): number {
    return this.pools.size;
  }

  /** Forgets everything. */
  clear(): void {
    this.pools.clear();
    this.states.clear();
    this.undos.length = 0;
    this.current = null;
  }

  /** Begins a block; a reversible one can be taken back until it is settled. */
  openBlock(number: number, reversible: boolean): void {
    this.current = reversible ? { number, before: new Map() } : null;
    if (this.current !== null) this.undos.push(this.current);
  }

  findPool(address: Hex): KnownPool | undefined {
    return this.pools.get(address);
  }

  stateOf(address: Hex): PoolState {
    return this.states.get(address) ?? EMPTY_STATE;
  }

  addPool(pool: KnownPool): void {
    this.remember(pool.address);
    this.pools.set(pool.address, pool);
  }

  /** A pool read back from the store. */
  addRow(row: PoolRow): void {
    this.addPool({
      address: row.address,
      dex: row.dex,
      protocol: parseProtocolName(row.protocol),
      poolType: parsePoolType(row.pool_type),
      factory: row.factory,
      token0: row.token0,
      token1: row.token1,
      feePips: row.fee_pips,
      tickSpacing: row.tick_spacing,
      baseIsToken0: row.base_is_token0,
    });
  }

  setState(address: Hex, state: PoolState): void {
    this.remember(address);
    this.states.set(address, state);
  }

  /** Takes back every reversible block above `number`. */
  rewindTo(number: number): void {
    for (let undo = this.undos.at(-1); undo !== undefined && undo.number > number; undo = this.undos.at(-1)) {
      for (const [address, before] of undo.before) {
        restore(this.pools, address, before.pool);
        restore(this.states, address, before.state);
      }
      this.undos.pop();
    }
    this.current = null;
  }

  /** Forgets how to take back blocks up to `number`: they are final. */
  settle(number: number): void {
    while ((this.undos[0]?.number ?? Infinity) <= number) this.undos.shift();
  }

  private remember(address: Hex): void {
    if (this.current === null || this.current.before.has(address)) return;
    this.current.before.set(address, { pool: this.pools.get(address), state: this.states.get(address) });
  }
}

function restore<T>(map: Map<Hex, T>, key: Hex, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
