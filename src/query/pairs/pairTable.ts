/**
 * Builds the table of all pairs once per head version, for lists that clients sort and filter. A few queries over all
 * pools serve all requests of a version. pairItem.ts computes the figures of one pair.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolStatesTable } from '../../clickhouse/schema/tables';
import { lastOrdOfBlock } from '../../domain/ord';
import type { Dex } from '../../domain/pool';
import { typeInState } from '../../domain/pools/poolShape';
import { changesFees, getProtocol, hasManyTokens } from '../../protocols/registry';
import { createPoolBirths, type PoolBirths } from '../olderPools/olderPools';
import { Directory } from '../tokens/directory';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { pairBaseView, type PairBase } from './pairBase';
import { PairEntry, type PairFacts } from './pairItem';
import { pairMeansRow, pastPricesRow, tradesRow } from './pairRows';
import { perVersion, type PerVersion } from '../head/perVersion';
import type { TokenPrices } from '../prices/priceByHops';
import type { TokenPriceTables } from '../prices/tokenPrices';
import type { StoredPool } from './pools';
import { poolTokensOf } from './poolTokens';
import { createProtocolSplits, sumProtocolFees, type ProtocolSplits } from './protocolFees';
import { TokenPairs } from './tokenPairs';
import type { TokenMap } from '../tokens/tokens';

const DAY_SECONDS = 86_400;
/** Limit for safety: more pools than any chain has. */
const ROWS_MAX = 2_000_000;

/** A row of pairs/list_balances.sql, with balances in raw units. */
export const balancesRow = rowType(pick(poolStatesTable.types, ['pair', 'balances', 'params', 'doubts']));

export interface PairTable {
  /** Entries sorted by address. */
  readonly entries: readonly PairEntry[];
  /** The pairs in the order of the entries. The array stays the same until a pool is added. */
  readonly pools: readonly StoredPool[];
  readonly byAddress: { get(address: string): PairEntry | undefined };
  /** The pools whose LP token is a contract of its own, by this token. */
  readonly byShareToken: ReadonlyMap<string, PairEntry>;
  readonly tokenPairs: TokenPairs;
  /** The token prices by which the pairs are valued. */
  readonly prices: TokenPrices;
  /** Metadata of every token in a pool. */
  readonly tokens: TokenMap;
}

/** The facts of a pool of many tokens; those of another pool have no row. */
export function newestBalances(
  row: RowOf<typeof balancesRow> | undefined,
): Pick<PairFacts, 'balances' | 'params' | 'doubts'> {
  return { balances: row?.balances ?? null, params: row?.params ?? null, doubts: row?.doubts ?? 0 };
}

export type PairTables = PerVersion<PairTable>;

/** The DEXes of the chain description. */
export type PairDexes = readonly Pick<Dex, 'name' | 'protocol' | 'protocolFeeShare'>[];

function hasPoolsOfManyTokens(dexes: PairDexes): boolean {
  return dexes.some(({ protocol }) => hasManyTokens(protocol));
}

function hasFeeSplit(dexes: PairDexes): boolean {
  return dexes.some(({ protocol }) => getProtocol(protocol).feeSplit !== null);
}

/** The views from which the table of pairs is made. */
interface PairSources {
  readonly prices: TokenPriceTables;
  readonly baseTables: PerVersion<PairBase>;
  readonly directory: Directory;
  readonly readBirths: (head: HeadSnapshot) => Promise<PoolBirths>;
  readonly readSplits: (head: HeadSnapshot) => Promise<ProtocolSplits>;
}

export function createPairTables(
  runner: QueryRunner,
  chainId: number,
  prices: TokenPriceTables,
  dexes: PairDexes,
  directory = new Directory(runner),
): PairTables {
  const sources: PairSources = {
    prices,
    baseTables: perVersion(
      pairBaseView(runner, dexes.some(({ protocol }) => changesFees(protocol)) ? chainId : null),
    ),
    directory,
    readBirths: createPoolBirths(runner),
    readSplits: hasFeeSplit(dexes)
      ? createProtocolSplits(runner, chainId)
      : () => Promise.resolve<ProtocolSplits>(new Map()),
  };
  return perVersion({
    read: (head) => readPairTable(runner, chainId, head, dexes, sources, null),
    update: (earlierTable, { to }) => readPairTable(runner, chainId, to, dexes, sources, earlierTable),
  });
}

/** Reuses the objects of the table `earlierTable`, because most pools do not change. */
async function readPairTable(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  dexes: PairDexes,
  sources: PairSources,
  earlierTable: PairTable | null,
): Promise<PairTable> {
  const params: QueryParams = {
    ...snapshotParams(head),
    tip_ord: lastOrdOfBlock(head.number),
    final_to: head.finalTo,
    now: head.timestamp,
    chain_id: chainId,
    limit: ROWS_MAX,
  };
  const [creations, feeSplits, prices, base, tokens, balances, trades, oldPrices, means] = await Promise.all([
    sources.readBirths(head),
    sources.readSplits(head),
    sources.prices.at(head),
    sources.baseTables.at(head),
    sources.directory.allTokens(),
    runner.run('pairs/list_balances', params, balancesRow),
    runner.run('pairs/count_trades', params, tradesRow),
    runner.run('pairs/list_past_prices', params, pastPricesRow),
    hasPoolsOfManyTokens(dexes) ? runner.run('pairs/list_mean_balances', params, pairMeansRow) : [],
  ]);
  const balancesByPair = byPair(balances);
  const tradesByPair = byPair(trades);
  const pastPricesByPair = byPair(oldPrices);
  const meansByPair = byPair(means);
  const shareByDex = new Map(dexes.map(({ name, protocolFeeShare }) => [name, protocolFeeShare ?? 0]));
  const poolFees = base.pools.flatMap(({ address: pair, dex }) => {
    const [split, feesUsd] = [feeSplits.get(pair), tradesByPair.get(pair)?.fees ?? 0];
    return split === undefined || feesUsd === 0
      ? []
      : [{ pair, split, feesUsd, dexShare: shareByDex.get(dex) ?? 0 }];
  });
  const splitFees = await sumProtocolFees(runner, chainId, head, DAY_SECONDS, poolFees);
  const tokenPairs = new TokenPairs(prices, head.timestamp);
  const entries = listPoolsInState(base).map((pool, index) => {
    const earlierEntry = findBefore(earlierTable, pool, index);
    const facts: PairFacts = {
      state: base.stateAt(index),
      ...newestBalances(balancesByPair.get(pool.address)),
      trades: tradesByPair.get(pool.address) ?? null,
      pastPrices: pastPricesByPair.get(pool.address) ?? null,
      meanBalances: meansByPair.get(pool.address)?.means ?? null,
      lastTradeAt: base.lastTradeAt(index),
      feePips: base.feePipsAt(index),
      birth: creations.get(pool.address) ?? null,
      protocolShare: shareByDex.get(pool.dex) ?? 0,
      protocolSplit: feeSplits.get(pool.address) ?? null,
      splitFeesUsd: splitFees.get(pool.address) ?? null,
    };
    return new PairEntry(
      pool,
      earlierEntry?.pool === pool && earlierTable?.tokens === tokens
        ? earlierEntry.tokens
        : poolTokensOf(pool, tokens),
      sharedFacts(facts, earlierEntry),
      prices,
      tokenPairs.reasonOf,
      earlierEntry,
    );
  });
  return makeTable(entries, base, tokenPairs, prices, tokens);
}

/** The pools with the types that they have in their states. */
function listPoolsInState({ pools, stateAt }: PairBase): StoredPool[] {
  return pools.map((pool, index) => {
    const type = typeInState(pool.pool_type, stateAt(index)?.tick ?? 0);
    return type === pool.pool_type ? pool : { ...pool, pool_type: type };
  });
}

/** The entry of the same pool in the previous table, usually at the same index. */
function findBefore(earlierTable: PairTable | null, pool: StoredPool, index: number): PairEntry | undefined {
  const entryAtIndex = earlierTable?.entries[index];
  return entryAtIndex?.pool === pool ? entryAtIndex : earlierTable?.byAddress.get(pool.address);
}

/** The facts of the earlier head if they are the same, because most pools do not change. This saves memory. */
function sharedFacts(facts: PairFacts, earlierEntry: PairEntry | undefined): PairFacts {
  const earlierFacts = earlierEntry?.facts;
  const isSame =
    earlierFacts?.state === facts.state &&
    earlierFacts.balances === facts.balances &&
    earlierFacts.doubts === facts.doubts &&
    earlierFacts.trades === facts.trades &&
    earlierFacts.pastPrices === facts.pastPrices &&
    earlierFacts.meanBalances === facts.meanBalances &&
    earlierFacts.lastTradeAt === facts.lastTradeAt &&
    earlierFacts.feePips === facts.feePips &&
    earlierFacts.birth === facts.birth &&
    earlierFacts.protocolShare === facts.protocolShare &&
    earlierFacts.protocolSplit === facts.protocolSplit &&
    earlierFacts.splitFeesUsd === facts.splitFeesUsd;
  return isSame ? earlierFacts : facts;
}

/** This is a separate function, because a closure in readPairTable would keep all previous tables in memory. */
function makeTable(
  entries: readonly PairEntry[],
  base: PairBase,
  tokenPairs: TokenPairs,
  prices: TokenPrices,
  tokens: TokenMap,
): PairTable {
  tokenPairs.entries = entries;
  const byAddress = { get: (address: string) => entries[base.indexOf(address) ?? -1] };
  const byShareToken = new Map(
    entries.flatMap((entry): [string, PairEntry][] =>
      entry.shareToken === entry.pool.address ? [] : [[entry.shareToken, entry]],
    ),
  );
  return { entries, pools: base.pools, byAddress, byShareToken, tokenPairs, prices, tokens };
}

function byPair<Row extends { readonly pair: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.pair, row]));
}
