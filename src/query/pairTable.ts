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
import { pastPricesRowShape, stateRowShape, tradesRowShape } from './pairRows';
import { listPools } from './pools';
import { listAllTokens } from './tokens';

/** More pools than any chain has; a bound, not a page. */
const ROWS_MAX = 2_000_000;
/** Tables of this many head versions are kept: the running one and the one before. */
const VERSIONS_KEPT = 2;

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
