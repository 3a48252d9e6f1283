/**
 * Reads the pricing state from the database after a restart: legs, routes and hops at the start of the current epoch.
 * Also reads the epoch's later blocks, so that the pricer can apply them again. Ignores rows above the last final
 * block.
 */
import { z } from 'zod';

import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { hexShape, wideIntegerShape } from '../../clickhouse/rows/rowShapes';
import type { PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { poolsOfRoute, readPriceState, toRecords, type RouteRow } from '../../market/priceState';
import { storedCap } from '../../pricing/cap';
import { epochStart, type LegRecord } from '../../pricing/epoch';
import type { Leg, LegKey } from '../../pricing/leg';
import { isAnchorRoute, ROUTE_WARNINGS, type PriceRoute, type TokenHop } from '../../pricing/priceRoute';
import type { PricedPool, PricedRows, PricedSwap, LoggedState } from './marketBlock';
import { readTicks, type StoredTick } from './storedTicks';

/** Largest number of legs, of tokens, and of events of one epoch. The ingester's memory could not hold more. */
const ROWS_MAX = 10_000_000;

type LegOf = ReadonlyMap<LegKey, Leg>;

export interface StoredPrices {
  /** The last block before the current epoch. Null if the epoch contains the first ingested block. */
  readonly base: { readonly number: number; readonly timestamp: number } | null;
  /** Pools created up to the last block before the current epoch. */
  readonly pools: readonly PricedPool[];
  records(legOf: LegOf): LegRecord[];
  routes(legOf: LegOf): PriceRoute[];
  readonly hops: readonly (readonly [Hex, TokenHop])[];
  /** Blocks of the current epoch up to the last final block, ascending. */
  readonly blocks: readonly PricedRows[];
  /** Net liquidity of every initialised tick at the cursor. */
  readonly ticks: readonly StoredTick[];
}

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
  // Ticks are loaded at the cursor, and not at the start of the epoch. The blocks of the epoch do not need ticks, because
  // their stored states contain the results of the walks.
  const ticks = await readTicks(database, { finalTo: cursor.number, commits: [], pairs: [] });
  if (!hasBase)
    return { base: null, pools: [], records: () => [], routes: () => [], hops: [], blocks, ticks };
  const final = { final_ord: lastOrdOfBlock(cursor.number), commits: [] };
  const state = readPriceState(
    (name, params, shape) => selectAll(database, name, { ...final, ...params }, shape, ROWS_MAX),
    { toOrd: baseOrd, epochOrd: lastOrdOfBlock(first) },
  );
  const [base, records, routes, hops] = await Promise.all([
    readBase(database, chainId, baseNumber),
    state.listEpochs(null),
    state.listRoutes(null),
    state.listHops(null),
  ]);
  return {
    base,
    pools: pools.filter((pool) => pool.ord <= baseOrd),
    records: (legOf) => toRecords(records, (key) => legOf.get(key)),
    routes: (legOf) => routes.map((row) => toRoute(row, legOf)),
    hops: hops.map(({ token, next_token: next, hop_price: price, hop_confidence: confidence, hop_cap }) => [
      token,
      { next, price, confidence, cap: storedCap(price, hop_cap) },
    ]),
    blocks,
    ticks,
  };
}

async function readBase(
  database: Database,
  chainId: number,
  number: number,
): Promise<{ number: number; timestamp: number }> {
  const params = { chain: chainId, number };
  const [row] = await selectNamed(database, 'ingest/price/find_block_time', params, timeShape);
  if (row === undefined) throw new AppError('broken_invariant', `final block ${number} is not stored`);
  return { number, timestamp: row.timestamp };
}

const timeShape = z.object({ timestamp: z.int() });

const warningsShape = z.array(z.enum(ROUTE_WARNINGS));

function toRoute(row: RouteRow, legOf: LegOf): PriceRoute {
  const route: PriceRoute = {
    token: row.token,
    next: row.next_token,
    hops: row.hops,
    confidence: row.hop_confidence,
    depthUsd: row.depth_usd,
    otherDepthUsd: row.other_depth_usd,
    recent: row.recent,
    stale: row.stale,
    pools: poolsOfRoute(row, (key) => legOf.get(key)),
    warnings: warningsShape.parse(row.warnings),
  };
  return isAnchorRoute(route) ? { ...route, depthUsd: Infinity } : route;
}

const blockShape = z.object({ number: z.int(), timestamp: z.int() });

const stateShape = z.object({
  ord: wideIntegerShape,
  timestamp: z.int(),
  kind: z.enum([
    'sync',
    'initialize',
    'swap',
    'mint',
    'burn',
    'collect',
    'collect_protocol',
    'flash',
    'fee',
    'register',
    'found',
    'ticks',
  ]),
  pair: hexShape,
  reserve0: wideIntegerShape,
  reserve1: wideIntegerShape,
  liquidity: wideIntegerShape,
  price: z.number(),
  balances: z.array(wideIntegerShape),
  doubts: z.int(),
  walked_liquidity: z.number(),
  near0: z.number(),
  near1: z.number(),
});

const swapShape = z.object({
  ord: wideIntegerShape,
  pair: hexShape,
  maker: hexShape.nullable(),
  leg: z.int(),
  amount1: wideIntegerShape,
});

async function readBlocks(
  database: Database,
  chainId: number,
  from: number,
  to: number,
  pools: readonly PoolRow[],
): Promise<PricedRows[]> {
  if (to < from) return [];
  const range = { chain: chainId, from, to, from_ord: toOrd(from, 0), to_ord: lastOrdOfBlock(to) };
  const blocks = await selectNamed(database, 'ingest/price/list_blocks', range, blockShape);
  const states = await selectAll(database, 'ingest/price/list_states', range, stateShape, ROWS_MAX);
  const swaps = await selectAll(database, 'ingest/price/list_swaps', range, swapShape, ROWS_MAX);
  const statesOf = groupByBlock(states, (row): LoggedState => ({
    ord: Number(row.ord),
    kind: row.kind,
    timestamp: row.timestamp,
    pair: row.pair,
    reserve0: BigInt(row.reserve0),
    reserve1: BigInt(row.reserve1),
    liquidity: BigInt(row.liquidity),
    price: row.price,
    balances: row.balances.map(BigInt),
    doubts: row.doubts,
    walked_liquidity: row.walked_liquidity,
    near0: row.near0,
    near1: row.near1,
  }));
  const swapsOf = groupByBlock(swaps, (row): PricedSwap => ({
    ord: Number(row.ord),
    pair: row.pair,
    maker: row.maker,
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
