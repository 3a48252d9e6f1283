/**
 * Reads the pricing state from the database after a restart: legs, routes and hops at the start of the current epoch.
 * Also reads the epoch's later blocks, so that the pricer can apply them again. Ignores rows above the last final
 * block.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { pick, rowType } from '../../clickhouse/rows/rowType';
import { blocksTable, poolStatesTable, swapsTable, type PoolRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { poolsOfRoute, readPriceState, toRecords, type RouteRow } from '../../market/priceState';
import { storedCap } from '../../pricing/cap';
import { epochStart, type LegRecord } from '../../pricing/epoch';
import type { Leg, LegKey } from '../../pricing/leg';
import { isAnchorRoute, type PriceRoute, type TokenHop } from '../../pricing/priceRoute';
import type { PricedPool, PricedRows } from './marketBlock';
import { readBins, readTicks, type StoredBin, type StoredTick } from './storedTicks';

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
  /** Reserves of every bin at the cursor. */
  readonly bins: readonly StoredBin[];
}

export async function readStoredPrices(
  database: Database,
  chainId: number,
  cursor: { readonly number: number },
  startBlock: number,
  pools: readonly PoolRow[],
): Promise<StoredPrices> {
  const epochFirst = epochStart(cursor.number);
  const baseNumber = epochFirst - 1;
  const hasBase = baseNumber >= startBlock;
  const from = Math.max(epochFirst, startBlock);
  const baseOrd = hasBase ? lastOrdOfBlock(baseNumber) : -1;
  const blocks = await readBlocks(database, chainId, from, cursor.number, pools);
  // Ticks are loaded at the cursor, and not at the start of the epoch. The blocks of the epoch do not need ticks, because
  // their stored states contain the results of the walks.
  const ticks = await readTicks(database, { finalTo: cursor.number, commits: [], pairs: [] });
  const bins = await readBins(database, { finalTo: cursor.number, commits: [], pairs: [] });
  if (!hasBase)
    return { base: null, pools: [], records: () => [], routes: () => [], hops: [], blocks, ticks, bins };
  const final = { final_ord: lastOrdOfBlock(cursor.number), commits: [] };
  const state = readPriceState(
    (name, params, row) => selectAll(database, name, { ...final, ...params }, row, ROWS_MAX),
    { toOrd: baseOrd, epochOrd: lastOrdOfBlock(epochFirst) },
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
    bins,
  };
}

async function readBase(
  database: Database,
  chainId: number,
  number: number,
): Promise<{ number: number; timestamp: number }> {
  const params = { chain: chainId, number };
  const [row] = await selectNamed(database, 'ingest/price/find_block_time', params, timeRow);
  if (row === undefined) throw new AppError('broken_invariant', `final block ${number} is not stored`);
  return { number, timestamp: row.timestamp };
}

const timeRow = rowType(pick(blocksTable.types, ['timestamp']));

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
    warnings: row.warnings,
  };
  return isAnchorRoute(route) ? { ...route, depthUsd: Infinity } : route;
}

const blockRow = rowType(pick(blocksTable.types, ['number', 'timestamp']));

const stateRow = rowType(
  pick(poolStatesTable.types, [
    ...([
      'ord',
      'timestamp',
      'kind',
      'pair',
      'maker',
      'pool_type',
      'reserve0',
      'reserve1',
      'liquidity',
    ] as const),
    ...(['price', 'balances', 'params', 'doubts', 'walked_liquidity', 'near0', 'near1'] as const),
  ]),
);

const swapRow = rowType(pick(swapsTable.types, ['ord', 'pair', 'maker', 'leg', 'amount1']));

async function readBlocks(
  database: Database,
  chainId: number,
  from: number,
  to: number,
  pools: readonly PoolRow[],
): Promise<PricedRows[]> {
  if (to < from) return [];
  const range = { chain: chainId, from, to, from_ord: toOrd(from, 0), to_ord: lastOrdOfBlock(to) };
  const blocks = await selectNamed(database, 'ingest/price/list_blocks', range, blockRow);
  const states = await selectAll(database, 'ingest/price/list_states', range, stateRow, ROWS_MAX);
  const swaps = await selectAll(database, 'ingest/price/list_swaps', range, swapRow, ROWS_MAX);
  const statesOf = groupByBlock(states);
  const swapsOf = groupByBlock(swaps);
  const poolsOf = groupByBlock(
    pools.filter((pool) => pool.ord >= range.from_ord && pool.ord <= range.to_ord),
  );
  return blocks.map(({ number, timestamp }) => ({
    number,
    timestamp,
    pools: poolsOf.get(number) ?? [],
    states: statesOf.get(number) ?? [],
    swaps: swapsOf.get(number) ?? [],
  }));
}

function groupByBlock<Row extends { readonly ord: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>();
  for (const row of rows) {
    const number = blockOfOrd(row.ord);
    const sameNumber = groups.get(number);
    if (sameNumber === undefined) groups.set(number, [row]);
    else sameNumber.push(row);
  }
  return groups;
}
