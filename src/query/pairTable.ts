/**
 * Every pair with what lists sort and filter by, made once per head version from a handful of queries over all pools,
 * and shared by all requests of that version. Numbers of one pair are pairItem's part.
 */
import { z } from 'zod';

import type { QueryParams } from '../clickhouse/database';
import type { QueryRunner } from '../clickhouse/namedQueries';
import { lastOrdOfBlock } from '../domain/ord';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { toPairEntry, type PairEntry } from './pairItem';
import { listPools } from './pools';
import { listAllTokens } from './tokens';

/** More pools than any chain has; a bound, not a page. */
const ROWS_MAX = 2_000_000;
/** Tables of this many head versions are kept: the running one and the one before. */
const VERSIONS_KEPT = 2;

const count = z.int().min(0);
const usd = z.number().nullable();

export const tradesRowShape = z.object({
  pair: z.string(),
  buys_m5: count,
  buys_h1: count,
  buys_h6: count,
  buys_h24: count,
  sells_m5: count,
  sells_h1: count,
  sells_h6: count,
  sells_h24: count,
  buyers_m5: count,
  buyers_h1: count,
  buyers_h6: count,
  buyers_h24: count,
  sellers_m5: count,
  sellers_h1: count,
  sellers_h6: count,
  sellers_h24: count,
  volume_m5: usd,
  volume_h1: usd,
  volume_h6: usd,
  volume_h24: usd,
  fees_h24: usd,
});
export type TradesRow = z.infer<typeof tradesRowShape>;

export const stateRowShape = z.object({
  pair: z.string(),
  ord: z.string(),
  reserve0: z.string(),
  reserve1: z.string(),
  sqrt_price_x96: z.string(),
  liquidity: z.string(),
  tick: z.int(),
  price: z.number(),
});
export type StateRow = z.infer<typeof stateRowShape>;

export const pastPricesRowShape = z.object({
  pair: z.string(),
  price_m5: z.number(),
  price_h1: z.number(),
  price_h6: z.number(),
  price_h24: z.number(),
});
export type PastPricesRow = z.infer<typeof pastPricesRowShape>;

const lastTradeRowShape = z.object({ pair: z.string(), last_trade_at: z.int() });

export interface PairTable {
  /** In the order of their addresses. */
  readonly entries: readonly PairEntry[];
  readonly byAddress: ReadonlyMap<string, PairEntry>;
}

export interface PairTables {
  /** The table of a head version; made on first demand, once for all who ask. */
  at(head: HeadSnapshot): Promise<PairTable>;
}

export function createPairTables(runner: QueryRunner, chainId: number): PairTables {
  const tables = new Map<string, Promise<PairTable>>();
  return {
    at(head) {
      const known = tables.get(head.version);
      if (known !== undefined) return known;
      const made = readPairTable(runner, chainId, head);
      tables.set(head.version, made);
      for (const version of [...tables.keys()].slice(0, -VERSIONS_KEPT)) tables.delete(version);
      made.catch(() => tables.delete(head.version));
      return made;
    },
  };
}

/** Reads everything that pairs are listed with, as of one snapshot. */
export async function readPairTable(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<PairTable> {
  const params: QueryParams = {
    ...snapshotParams(head),
    tip_ord: lastOrdOfBlock(head.number),
    final_to: head.finalTo,
    now: head.timestamp,
    chain_id: chainId,
    limit: ROWS_MAX,
  };
  const [pools, tokens, states, trades, pastPrices, lastTrades] = await Promise.all([
    listPools(runner, head),
    listAllTokens(runner),
    runner.run('pairs/list_states', params, stateRowShape),
    runner.run('pairs/count_trades', params, tradesRowShape),
    runner.run('pairs/list_past_prices', params, pastPricesRowShape),
    runner.run('pairs/list_last_trades', params, lastTradeRowShape),
  ]);
  const stateOf = byPair(states);
  const tradesOf = byPair(trades);
  const pastOf = byPair(pastPrices);
  const lastOf = byPair(lastTrades);
  const entries = pools
    .map((pool) =>
      toPairEntry(pool, tokens, {
        state: stateOf.get(pool.address) ?? null,
        trades: tradesOf.get(pool.address) ?? null,
        pastPrices: pastOf.get(pool.address) ?? null,
        lastTradeAt: lastOf.get(pool.address)?.last_trade_at ?? null,
      }),
    )
    .sort((a, b) => (a.item.address < b.item.address ? -1 : 1));
  return { entries, byAddress: new Map(entries.map((entry) => [entry.item.address, entry])) };
}

function byPair<Row extends { readonly pair: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.pair, row]));
}
