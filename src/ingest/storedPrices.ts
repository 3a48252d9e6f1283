/**
 * Reads back what pricing needs to go on after a restart: what the legs were when the running epoch began, the routes and
 * hops of then, and the blocks since, which are then applied again. Nothing above the cursor is looked at.
 */
import type { Database } from '../clickhouse/database';
import type { PoolRow } from '../clickhouse/tables';
import type { Hex } from '../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../domain/ord';
import { AppError } from '../errors';
import { epochOf, epochStart, type LegRecord } from '../pricing/epoch';
import { legKey, type Leg, type LegKey } from '../pricing/leg';
import type { PricedState } from '../pricing/legState';
import { isAnchorRoute, type Route, type RouteWarning, type TokenHop } from '../pricing/route';
import type { PricedPool, PricedRows, PricedSwap } from './marketBlock';

type LegOf = ReadonlyMap<LegKey, Leg>;

export interface StoredPrices {
  /** The last block before the running epoch; null where the first ingested block lies in it. */
  readonly base: { readonly number: number; readonly timestamp: number } | null;
  /** Pools up to the base. */
  readonly pools: readonly PricedPool[];
  records(legOf: LegOf): LegRecord[];
  routes(legOf: LegOf): Route[];
  readonly hops: readonly (readonly [Hex, TokenHop])[];
  /** Blocks of the running epoch up to the cursor, ascending. */
  readonly blocks: readonly PricedRows[];
}

const HEX = (column: string): string => `concat('0x', lower(hex(${column})))`;

export async function readStoredPrices(
  database: Database,
  chainId: number,
  cursor: { readonly number: number },
  startBlock: number,
  pools: readonly PoolRow[],
): Promise<StoredPrices> {
  const first = epochStart(cursor.number);
  const baseNumber = first - 1;
  const hasBase = baseNumber >= startBlock;
  const from = Math.max(first, startBlock);
  const baseOrd = hasBase ? lastOrdOfBlock(baseNumber) : -1;
  const blocks = await readBlocks(database, chainId, from, cursor.number, pools);
  if (!hasBase) return { base: null, pools: [], records: () => [], routes: () => [], hops: [], blocks };
  const [base, records, routes, hops] = await Promise.all([
    readBase(database, chainId, baseNumber),
    readRecords(database, lastOrdOfBlock(first)),
    readRoutes(database, baseOrd),
    readHops(database, baseOrd),
  ]);
  return {
    base,
    pools: pools.filter((pool) => pool.ord <= baseOrd),
    records: (legOf) => records.flatMap((row) => toRecord(row, legOf)),
    routes: (legOf) => routes.map((row) => toRoute(row, legOf)),
    hops,
    blocks,
  };
}

async function readBase(
  database: Database,
  chainId: number,
  number: number,
): Promise<{ number: number; timestamp: number }> {
  const [row] = await database.select<{ timestamp: number }>(
    'read block before the epoch',
    'SELECT timestamp FROM blocks WHERE chain_id = {chain:UInt32} AND number = {number:UInt32}',
    { chain: chainId, number },
  );
  if (row === undefined) throw new AppError('broken_invariant', `final block ${number} is not stored`);
  return { number, timestamp: row.timestamp };
}

interface RecordRow {
  readonly pair: Hex;
  readonly leg: number;
  readonly ord: string;
  readonly timestamp: number;
  readonly price: number;
  readonly reserve0: number;
  readonly reserve1: number;
  readonly liquidity: number;
  readonly depth_liquidity: number;
  readonly mean_log: number;
  readonly traded: number;
  readonly moved_at: number;
}

async function readRecords(database: Database, finalOrd: number): Promise<RecordRow[]> {
  return database.select<RecordRow>(
    'read epochs of pools',
    `SELECT ${HEX('e.pair')} AS pair, leg, ord, timestamp, price, reserve0, reserve1, liquidity, depth_liquidity,
            mean_log, traded, moved_at
     FROM pool_epochs AS e WHERE ord <= {final_ord:UInt64} ORDER BY e.ord DESC LIMIT 1 BY e.pair, e.leg`,
    { final_ord: finalOrd },
  );
}

/** The row was written with the first block after its epoch. */
function toRecord(row: RecordRow, legOf: LegOf): LegRecord[] {
  const leg = legOf.get(legKey(row.pair, row.leg));
  if (leg === undefined) return [];
  return [
    {
      leg,
      state: { price: row.price, liquidity: row.liquidity, reserve0: row.reserve0, reserve1: row.reserve1 },
      depthLiquidity: row.depth_liquidity,
      meanLog: row.mean_log,
      traded: row.traded,
      at: row.timestamp,
      movedAt: row.moved_at,
      epoch: epochOf(blockOfOrd(Number(row.ord))) - 1,
    },
  ];
}

interface RouteRow {
  readonly token: Hex;
  readonly next_token: Hex;
  readonly hops: number;
  readonly hop_confidence: number;
  readonly depth_usd: number;
  readonly recent: boolean;
  readonly stale: boolean;
  readonly pairs: readonly Hex[];
  readonly legs: readonly number[];
  readonly weights: readonly number[];
  readonly warnings: readonly RouteWarning[];
}

async function readRoutes(database: Database, finalOrd: number): Promise<RouteRow[]> {
  return database.select<RouteRow>(
    'read routes',
    `SELECT ${HEX('r.token')} AS token, ${HEX('r.next_token')} AS next_token, hops, hop_confidence, depth_usd, recent,
            stale, arrayMap(p -> ${HEX('p')}, r.pairs) AS pairs, legs, weights, warnings
     FROM token_routes AS r WHERE ord <= {final_ord:UInt64} ORDER BY r.ord DESC LIMIT 1 BY r.token`,
    { final_ord: finalOrd },
  );
}

function toRoute(row: RouteRow, legOf: LegOf): Route {
  const route: Route = {
    token: row.token,
    next: row.next_token,
    hops: row.hops,
    confidence: row.hop_confidence,
    depthUsd: row.depth_usd,
    recent: row.recent,
    stale: row.stale,
    pools: row.pairs.flatMap((pair, i) => {
      const leg = legOf.get(legKey(pair, row.legs[i] ?? 1));
      return leg === undefined ? [] : [{ leg, weight: row.weights[i] ?? 0 }];
    }),
    warnings: row.warnings,
  };
  return isAnchorRoute(route) ? { ...route, depthUsd: Infinity } : route;
}

async function readHops(database: Database, finalOrd: number): Promise<(readonly [Hex, TokenHop])[]> {
  const rows = await database.select<{
    token: Hex;
    next_token: Hex;
    hop_price: number;
    hop_confidence: number;
  }>(
    'read prices',
    `SELECT ${HEX('p.token')} AS token, ${HEX('p.next_token')} AS next_token, hop_price, hop_confidence
     FROM token_prices AS p WHERE ord <= {final_ord:UInt64} ORDER BY p.ord DESC LIMIT 1 BY p.token`,
    { final_ord: finalOrd },
  );
  return rows.map((row) => [
    row.token,
    { next: row.next_token, price: row.hop_price, confidence: row.hop_confidence },
  ]);
}

async function readBlocks(
  database: Database,
  chainId: number,
  from: number,
  to: number,
  pools: readonly PoolRow[],
): Promise<PricedRows[]> {
  if (to < from) return [];
  const range = { chain: chainId, from, to, from_ord: toOrd(from, 0), to_ord: lastOrdOfBlock(to) };
  const blocks = await database.select<{ number: number; timestamp: number }>(
    'read blocks of the epoch',
    `SELECT number, timestamp FROM blocks
     WHERE chain_id = {chain:UInt32} AND number BETWEEN {from:UInt32} AND {to:UInt32} ORDER BY number`,
    range,
  );
  const states = await database.select<{
    ord: string;
    pair: Hex;
    reserve0: string;
    reserve1: string;
    liquidity: string;
    price: number;
    balances: readonly string[];
  }>(
    'read states of the epoch',
    `SELECT ord, ${HEX('s.pair')} AS pair, reserve0, reserve1, liquidity, price,
            arrayMap(b -> toString(b), s.balances) AS balances
     FROM pool_states AS s WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64} ORDER BY s.ord`,
    range,
  );
  const swaps = await database.select<{ ord: string; pair: Hex; leg: number; amount1: string }>(
    'read swaps of the epoch',
    `SELECT ord, ${HEX('s.pair')} AS pair, leg, amount1
     FROM swaps AS s WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64} ORDER BY s.ord`,
    range,
  );
  const statesOf = groupByBlock(states, (row): PricedState => ({
    pair: row.pair,
    reserve0: BigInt(row.reserve0),
    reserve1: BigInt(row.reserve1),
    liquidity: BigInt(row.liquidity),
    price: row.price,
    balances: row.balances.map(BigInt),
  }));
  const swapsOf = groupByBlock(swaps, (row): PricedSwap => ({
    pair: row.pair,
    leg: row.leg,
    amount1: BigInt(row.amount1),
  }));
  const poolsOf = groupByBlock(
    pools.filter((pool) => pool.ord >= range.from_ord && pool.ord <= range.to_ord),
    (pool): PricedPool => pool,
  );
  return blocks.map(({ number, timestamp }) => ({
    number,
    timestamp,
    pools: poolsOf.get(number) ?? [],
    states: statesOf.get(number) ?? [],
    swaps: swapsOf.get(number) ?? [],
  }));
}

function groupByBlock<Row extends { readonly ord: string | number }, T>(
  rows: readonly Row[],
  turn: (row: Row) => T,
): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const number = blockOfOrd(Number(row.ord));
    const known = groups.get(number);
    if (known === undefined) groups.set(number, [turn(row)]);
    else known.push(turn(row));
  }
  return groups;
}
