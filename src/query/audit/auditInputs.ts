/**
 * Collects the inputs of one token's price at the end of one block: its route, the routes of the next tokens up to
 * the anchor, and the state of their pools. The pure price function then computes the price again.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { wholeTokens } from '../../domain/amounts';
import type { Anchor } from '../../domain/chainDescription';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { NATIVE_COIN, pricedAs } from '../../domain/pools/nativeCoin';
import { blockOfOrd } from '../../domain/ord';
import { poolsOfRoute, toRecords, type EpochRow, type RouteRow } from '../../market/priceState';
import { epochOf, unswappedAt, type LegRecord } from '../../pricing/epoch';
import { legKey, NO_STATE, type Leg, type LegKey, type LegState } from '../../pricing/leg';
import { legsOf, toLegState, type DecimalsOf, type LegInfo } from '../../pricing/legState';
import { ceilingsOf, priceRouteHop, type AnchorPrices, type Market } from '../../pricing/market';
import { HOPS_MAX } from '../../pricing/priceRoute';
import { changesFees, getManyTokenProtocol } from '../../protocols/registry';
import { HopReader } from './auditHops';
import type { AuditDirectory } from './auditDirectory';
import type { AuditTable } from './auditTables';
import {
  createAuditReader,
  epochOfRecord,
  epochOfState,
  getAuditBlock,
  type AuditBlock,
  type AuditPoolRow,
  type AuditReader,
  type AuditStateRow,
  type TradeRow,
} from './auditRows';
import { chainUpTo, type HeadSnapshot } from '../head/headSnapshot';
import { readPoolFees, type PoolFees } from '../pairs/poolFees';
import { doubtsNow } from '../pairs/priceReasons';
import type { TokenPrice } from '../prices/priceByHops';
import type { PriceSources } from '../prices/tokenPrices';

/** A leg with the row of its pool. */
export interface AuditLeg extends LegInfo {
  readonly pool: AuditPoolRow;
}

/** A stored route with its legs resolved. */
export interface AuditRoute {
  readonly token: Hex;
  readonly next: Hex;
  readonly otherDepthUsd: number;
  readonly row: RouteRow;
  readonly pools: readonly { readonly leg: Leg; readonly weight: number }[];
}

export interface AuditInputs {
  readonly block: AuditBlock;
  /** Hops from the token to the anchor, in this order. */
  readonly path: readonly AuditRoute[];
  /** The token at the end of the path; null for a token without a route. */
  readonly anchor: Hex | null;
  /** Codes of warnings about this anchor. */
  readonly anchorWarnings: readonly string[];
  readonly anchors: AnchorPrices;
  readonly market: Market;
  readonly legs: ReadonlyMap<LegKey, AuditLeg>;
  readonly rawStates: ReadonlyMap<Hex, AuditStateRow>;
  /** Vault pools that back no price, with bits of DOUBTS. */
  readonly doubts: ReadonlyMap<Hex, number>;
  /** Fees of the pools on the path whose fee may change. */
  readonly fees: PoolFees;
  /** Prices of the anchors, the native token and the token's neighbours. */
  readonly hops: Pick<HopReader, 'usdOf' | 'priceOf'>;
  readonly tokens: Pick<AuditDirectory, 'findToken' | 'listFees'>;
}

export interface AuditQuestion {
  readonly token: Hex;
  readonly block: number;
  /** Pools of the token at the block. */
  readonly candidates: readonly Hex[];
  readonly neighbours: readonly Hex[];
}

export interface AuditDeps {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly sources: PriceSources;
  readonly directory: AuditDirectory;
  /** In-memory tables of the newest block; null: read everything from the store. */
  readonly table: AuditTable | null;
}

export async function readAuditInputs(
  { runner, chainId, sources, directory, table }: AuditDeps,
  head: HeadSnapshot,
  { token, block: blockNumber, candidates, neighbours }: AuditQuestion,
): Promise<AuditInputs> {
  const reader = table?.reader ?? createAuditReader(runner, head, blockNumber);
  const priceNow =
    blockNumber === head.number ? (token: string): TokenPrice => directory.priceNow(token) : null;
  const hops = new HopReader(reader, sources.anchors, priceNow);
  const anchorTokens = sources.anchors.map(({ address }) => address);
  const { wrappedNative } = sources;
  const nativeTokens = wrappedNative === null ? [] : [wrappedNative];
  const [block, { rows, anchorWarnings }] = await Promise.all([
    table?.block ?? getAuditBlock(runner, chainId, head, blockNumber),
    readPath(reader, token, [...nativeTokens, ...anchorTokens]),
    hops.load([...anchorTokens, ...nativeTokens, ...neighbours.map((each) => pricedAs(each, wrappedNative))]),
  ]);
  const pathPairs = rows.flatMap(({ pairs }) => pairs);
  const [legs, epochRows] = await Promise.all([
    readLegs(reader, directory, wrappedNative, [...pathPairs, ...candidates]),
    reader.listEpochs([...pathPairs, ...candidates], block.afterOrd),
  ]);
  const path = rows.map((row) => toRoute(row, legs));
  const changingPools = path.flatMap(({ pools }) =>
    pools.flatMap(({ leg }) => {
      const pool = legs.get(leg.key)?.pool;
      return pool !== undefined && changesFees(pool.protocol) ? [pool.address] : [];
    }),
  );
  const [rawStates, fees] = await Promise.all([
    readStates(reader, pathPairs, candidates, epochRows),
    readPoolFees(runner, chainId, chainUpTo(head, blockNumber), changingPools),
    // Former anchors are loaded too, because the route may be older than the current configuration.
    hops.load([token, ...path.flatMap(({ pools }) => pools.flatMap(({ leg }) => [leg.token0, leg.token1]))]),
  ]);
  const doubts = await readDoubts(reader, legs, rawStates);
  // The pools may hold the native coin only.
  const coin = directory.findToken(NATIVE_COIN);
  const decimalsOf: DecimalsOf = (tokenAddress) =>
    (directory.findToken(tokenAddress) ?? (tokenAddress === wrappedNative ? coin : undefined))?.decimals ??
    null;
  const anchors = hops.anchors();
  const states = stateOfLegs(legs, rawStates, epochRows, block, decimalsOf);
  const recordByLeg = recordsOf(legs, epochRows);
  const unswappedByLeg = holdsOf(legs, rawStates, recordByLeg, block);
  const market = makeMarket(block, states, recordByLeg, unswappedByLeg, sources.anchors);
  const needsTrades = path.some((route) => priceRouteHop(route, market, anchors).deviates);
  const tradedByLeg = needsTrades
    ? sumTrades(await reader.listTrades(pathPairs), legs, decimalsOf)
    : new Map();
  const pathEnd = path.at(-1)?.next ?? token;
  return {
    block,
    path,
    anchor: anchors.has(pathEnd) ? pathEnd : null,
    anchorWarnings,
    anchors,
    market: { ...market, tradedIn: ({ key }) => tradedByLeg.get(key) ?? 0 },
    legs,
    rawStates,
    doubts,
    fees,
    hops,
    tokens: directory,
  };
}

/** Legs of the pools. Queries only the pools that are missing in the directory. */
async function readLegs(
  reader: AuditReader,
  directory: AuditDirectory,
  wrappedNative: Hex | null,
  pairs: readonly Hex[],
): Promise<ReadonlyMap<LegKey, AuditLeg>> {
  const cachedPools = pairs.flatMap((pair) => directory.findPair(pair) ?? []);
  const readPools = await reader.listPools(pairs.filter((pair) => directory.findPair(pair) === undefined));
  const legs = new Map<LegKey, AuditLeg>();
  for (const pool of [...cachedPools, ...readPools])
    for (const info of legsOf(pool, wrappedNative, getManyTokenProtocol))
      legs.set(info.leg.key, { ...info, pool });
  return legs;
}

interface FoundPath {
  readonly rows: readonly RouteRow[];
  /** Warnings about the anchor at the end of the path. */
  readonly anchorWarnings: readonly string[];
}

/**
 * Routes from the token up to the anchor. The first query also reads the routes of the tokens in `likelyTokens`, to save
 * later queries.
 */
async function readPath(reader: AuditReader, token: Hex, likelyTokens: readonly Hex[]): Promise<FoundPath> {
  const routeOf = new Map((await reader.listRoutes([token, ...likelyTokens])).map((row) => [row.token, row]));
  const path: RouteRow[] = [];
  let current = token;
  while (path.length < HOPS_MAX) {
    const row =
      routeOf.get(current) ?? (current === token ? undefined : (await reader.listRoutes([current]))[0]);
    if (row === undefined || row.next_token === ZERO_ADDRESS) break;
    path.push(row);
    current = row.next_token;
  }
  return { rows: path, anchorWarnings: routeOf.get(current)?.warnings ?? [] };
}

function toRoute(row: RouteRow, legs: ReadonlyMap<LegKey, AuditLeg>): AuditRoute {
  const pools = poolsOfRoute(row, (key) => legs.get(key)?.leg);
  return { token: row.token, next: row.next_token, otherDepthUsd: row.other_depth_usd, row, pools };
}

/** Newest raw states of the pools on the path, and of the candidates that changed in the running epoch. */
async function readStates(
  reader: AuditReader,
  pathPairs: readonly Hex[],
  candidates: readonly Hex[],
  epochRows: readonly EpochRow[],
): Promise<ReadonlyMap<Hex, AuditStateRow>> {
  const pathPairSet = new Set(pathPairs);
  const epochs = epochRows.filter(({ pair }) => pathPairSet.has(pair)).map(epochOfRecord);
  const rows = await reader.listStates([...pathPairs, ...candidates], epochs);
  const states = new Map(rows.map((row) => [row.pair, row]));
  const olderStates = await reader.listOlderStates(pathPairs.filter((pair) => !states.has(pair)));
  for (const row of olderStates) states.set(row.pair, row);
  return states;
}

/** Doubts of vault pools by their newest states, however old. A doubt of a state is never withdrawn. */
async function readDoubts(
  reader: AuditReader,
  legs: ReadonlyMap<LegKey, AuditLeg>,
  rawStates: ReadonlyMap<Hex, AuditStateRow>,
): Promise<ReadonlyMap<Hex, number>> {
  const vaultPools = new Map(
    [...legs.values()].flatMap(({ pool }) => (pool.tokens.length === 0 ? [] : [[pool.address, pool]])),
  );
  const olderStates = await reader.listOlderStates(
    [...vaultPools.keys()].filter((pair) => !rawStates.has(pair)),
  );
  const states = [...olderStates, ...rawStates.values()];
  return new Map(
    states.flatMap((state) => {
      const pool = vaultPools.get(state.pair);
      const doubts = pool === undefined ? state.doubts : doubtsNow(pool, state);
      return doubts > 0 ? [[state.pair, doubts] as const] : [];
    }),
  );
}

function recordsOf(
  legs: ReadonlyMap<LegKey, AuditLeg>,
  rows: readonly EpochRow[],
): ReadonlyMap<LegKey, LegRecord> {
  const records = toRecords(rows, (key) => legs.get(key)?.leg);
  return new Map(records.map((record) => [record.leg.key, record]));
}

/** A leg that changed in the running epoch has its newest state, any other leg the state of its record. */
function stateOfLegs(
  legs: ReadonlyMap<LegKey, AuditLeg>,
  rawStates: ReadonlyMap<Hex, AuditStateRow>,
  epochRows: readonly EpochRow[],
  block: AuditBlock,
  decimalsOf: DecimalsOf,
): ReadonlyMap<LegKey, LegState> {
  const states = new Map([...recordsOf(legs, epochRows)].map(([key, { state }]) => [key, state]));
  for (const [key, { pool, ...info }] of legs) {
    const row = rawStates.get(pool.address);
    if (row === undefined || epochOfState(row) !== epochOf(block.number)) continue;
    states.set(key, toLegState(pool, info, row, decimalsOf));
  }
  return states;
}

/** `unswapped` of each leg, from its state in the running epoch. Without such a state, from its record. */
function holdsOf(
  legs: ReadonlyMap<LegKey, AuditLeg>,
  rawStates: ReadonlyMap<Hex, AuditStateRow>,
  recordByLeg: ReadonlyMap<LegKey, LegRecord>,
  block: AuditBlock,
): ReadonlyMap<LegKey, number> {
  const unswappedByLeg = new Map<LegKey, number>();
  const legCounts = new Map<Hex, number>();
  for (const [key, { pool }] of legs) {
    const legIndex = legCounts.get(pool.address) ?? 0;
    legCounts.set(pool.address, legIndex + 1);
    const row = rawStates.get(pool.address);
    const hasMoved = row !== undefined && epochOfState(row) === epochOf(block.number);
    unswappedByLeg.set(
      key,
      hasMoved ? (row.unswapped[legIndex] ?? 0) : unswappedAt(recordByLeg.get(key), block.epochTime),
    );
  }
  return unswappedByLeg;
}

function makeMarket(
  block: AuditBlock,
  states: ReadonlyMap<LegKey, LegState>,
  records: ReadonlyMap<LegKey, LegRecord>,
  unswappedByLeg: ReadonlyMap<LegKey, number>,
  anchors: readonly Anchor[],
): Market {
  return {
    stateOf: ({ key }) => states.get(key) ?? NO_STATE,
    recordOf: ({ key }) => records.get(key),
    tradedIn: () => 0,
    unswappedIn: ({ key }) => unswappedByLeg.get(key) ?? 0,
    ceilingOf: ceilingsOf(anchors),
    epochTime: block.epochTime,
  };
}

/**
 * Whole token1 per leg, summed first within each block and then over the blocks. The ingester sums in the same order,
 * because the results must be equal in every bit.
 */
function sumTrades(
  rows: readonly TradeRow[],
  legs: ReadonlyMap<LegKey, AuditLeg>,
  decimalsOf: DecimalsOf,
): ReadonlyMap<LegKey, number> {
  const amountsByLeg = new Map<LegKey, Map<number, number>>();
  for (const row of rows) {
    const key = legKey(row.pair, row.leg);
    const leg = legs.get(key)?.leg;
    if (leg === undefined) continue;
    const decimals = decimalsOf(leg.token1);
    if (decimals === null) continue;
    const amount = wholeTokens(row.amount1 < 0n ? -row.amount1 : row.amount1, decimals);
    const amountByBlock = amountsByLeg.get(key) ?? new Map<number, number>();
    amountsByLeg.set(key, amountByBlock);
    const blockNumber = blockOfOrd(row.ord);
    amountByBlock.set(blockNumber, (amountByBlock.get(blockNumber) ?? 0) + amount);
  }
  return new Map(
    [...amountsByLeg].map(([key, sums]) => [key, [...sums.values()].reduce((a, b) => a + b, 0)]),
  );
}
