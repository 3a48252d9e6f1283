/**
 * Every pair with what lists sort and filter by, made once per head version from a handful of queries over all pools,
 * and shared by all requests of that version. Numbers of one pair are pairItem's part.
 */
import { z } from 'zod';

import type { QueryParams } from '../clickhouse/database';
import type { QueryRunner } from '../clickhouse/namedQueries';
import { lastOrdOfBlock } from '../domain/ord';
import type { Dex } from '../domain/pool';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { createPairBases, type PairBases } from './pairBase';
import { toPairEntry, type PairEntry } from './pairItem';
import { pastPricesRowShape, tradesRowShape } from './pairRows';
import { perVersion, type PerVersion } from './perVersion';
import type { TokenPrices } from './priceBook';
import type { TokenPriceTables } from './tokenPrices';
import { listAllTokens, type TokenMap } from './tokens';

/** More pools than any chain has; a bound, not a page. */
const ROWS_MAX = 2_000_000;

const balancesRowShape = z.object({ pair: z.string(), balances: z.array(z.string()) });

export interface PairTable {
  /** In the order of their addresses. */
  readonly entries: readonly PairEntry[];
  readonly byAddress: ReadonlyMap<string, PairEntry>;
  /** By which the pairs were valued. */
  readonly prices: TokenPrices;
  /** Metadata of every token of a pool. */
  readonly tokens: TokenMap;
}

export interface PairTables extends PerVersion<PairTable> {
  /** The table of this very head version, if it is made; asks nothing. */
  ready(head: HeadSnapshot): PairTable | null;
}

/** What pairs need to know of the chain description. */
export type FeeShares = readonly Pick<Dex, 'name' | 'protocolFeeShare'>[];

export function createPairTables(
  runner: QueryRunner,
  chainId: number,
  prices: TokenPriceTables,
  dexes: FeeShares,
): PairTables {
  let newest: { readonly version: string; readonly table: PairTable } | null = null;
  const bases = createPairBases(runner);
  const tables = perVersion(async (head) => {
    const table = await readPairTable(runner, chainId, head, prices, dexes, bases);
    newest = { version: head.version, table };
    return table;
  });
  return { ...tables, ready: (head) => (newest?.version === head.version ? newest.table : null) };
}

/** Reads everything that pairs are listed with, as of one snapshot. */
export async function readPairTable(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  priceTables: TokenPriceTables,
  dexes: FeeShares,
  bases: PairBases = createPairBases(runner),
): Promise<PairTable> {
  const params: QueryParams = {
    ...snapshotParams(head),
    tip_ord: lastOrdOfBlock(head.number),
    final_to: head.finalTo,
    now: head.timestamp,
    chain_id: chainId,
    limit: ROWS_MAX,
  };
  const [prices, base, tokens, balances, trades, pastPrices] = await Promise.all([
    priceTables.at(head),
    bases.at(head),
    listAllTokens(runner),
    runner.run('pairs/list_balances', params, balancesRowShape),
    runner.run('pairs/count_trades', params, tradesRowShape),
    runner.run('pairs/list_past_prices', params, pastPricesRowShape),
  ]);
  const balancesOf = byPair(balances);
  const tradesOf = byPair(trades);
  const pastOf = byPair(pastPrices);
  const shareOf = new Map(dexes.map(({ name, protocolFeeShare }) => [name, protocolFeeShare ?? 0]));
  const entries = base.pools.map((pool) =>
    toPairEntry(pool, tokens, prices, {
      state: base.stateOf(pool.address),
      balances: balancesOf.get(pool.address)?.balances ?? null,
      trades: tradesOf.get(pool.address) ?? null,
      pastPrices: pastOf.get(pool.address) ?? null,
      lastTradeAt: base.lastTradeOf(pool.address),
      protocolShare: shareOf.get(pool.dex) ?? 0,
    }),
  );
  const byAddress = new Map(entries.map((entry) => [entry.item.address, entry]));
  return { entries, byAddress, prices, tokens };
}

function byPair<Row extends { readonly pair: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.pair, row]));
}
