/** Reads the net liquidity of V3 ticks and the reserves of bins: the sums over stored mints, burns and states. */
import type { Database } from '../../clickhouse/client/database';
import { selectAll } from '../../clickhouse/client/namedQueries';
import { address, i256, i32, u256 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { TICK_MAX, TICK_MIN } from '../../protocols/ticks/tickMath';

/** Largest number of ticks, and of bins. The ingester's memory could not hold more. */
const ROWS_MAX = 10_000_000;

const tickRow = rowType({ pair: address, tick: i32, net: i256 });
/** Net liquidity of one tick, as stored. */
export type StoredTick = RowOf<typeof tickRow>;

const binRow = rowType({ pair: address, id: i32, amount0: u256, amount1: u256 });
/** Changes of one bin, modulo 2^256, as stored. */
export type StoredBin = RowOf<typeof binRow>;

interface TickRange {
  /** Last block in the final tables. */
  readonly finalTo: number;
  /** Commits of the canonical blocks after `finalTo`. If empty, only final blocks count. */
  readonly commits: readonly number[];
  /** The pools whose ticks are read; empty means all pools. */
  readonly pairs: readonly Hex[];
}

export async function readTicks(
  database: Database,
  { finalTo, commits, pairs }: TickRange,
): Promise<StoredTick[]> {
  const params = {
    final_ord: lastOrdOfBlock(finalTo),
    commits,
    pairs: pairs.map((pair) => pair.slice(2)),
    tick_min: TICK_MIN,
    tick_max: TICK_MAX,
  };
  return selectAll(database, 'ingest/price/list_ticks', params, tickRow, ROWS_MAX);
}

/** Reads the sums of changes of bins. A pool that is older than the first ingested block had more in them. */
export async function readBins(
  database: Database,
  { finalTo, commits, pairs }: TickRange,
): Promise<StoredBin[]> {
  const params = {
    final_ord: lastOrdOfBlock(finalTo),
    commits,
    pairs: pairs.map((pair) => pair.slice(2)),
  };
  return selectAll(database, 'ingest/price/list_bins', params, binRow, ROWS_MAX);
}
