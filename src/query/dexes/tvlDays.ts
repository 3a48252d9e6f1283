/** Reads and computes the TVL of each DEX at the end of past days. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, lowText, u32 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { lastOrdOfBlock } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { PairEntry } from '../pairs/pairItem';
import { poolTokensOf } from '../pairs/poolTokens';
import { stateRow } from '../pairs/pairRows';
import { balancesRow, newestBalances } from '../pairs/pairTable';
import { listPools } from '../pairs/pools';
import { hopRow, toTokenPrices, type PriceSources } from '../prices/tokenPrices';
import type { TokenMap } from '../tokens/tokens';

/** Limit for safety: more pools than any chain has. */
const ROWS_MAX = 2_000_000;

/** A row of list_tvl_days.sql. An empty `dex` marks a day whose TVL was computed. */
const dayRow = rowType({ day: u32, dex: lowText, tvl_usd: f64 });

interface TvlDays {
  /**
   * TVL of a DEX at the end of a day. Null if the day was not computed yet. A DEX without a pool on a
   * computed day has 0.
   */
  tvlOf(dex: string, day: number): number | null;
  has(day: number): boolean;
}

/** The days in [from, to), given as starts of UTC days. */
export async function readTvlDays(runner: QueryRunner, from: number, to: number): Promise<TvlDays> {
  const rows = await runner.run('dexes/list_tvl_days', { from, to, limit: ROWS_MAX }, dayRow);
  const tvlByDay = new Map<number, Map<string, number>>();
  for (const { day, dex, tvl_usd } of rows) {
    const tvlByDex = tvlByDay.get(day) ?? new Map<string, number>();
    tvlByDay.set(day, tvlByDex.set(dex, tvl_usd));
  }
  // The insert of a day contains a row with an empty DEX name. A day without this row is not stored
  // completely yet.
  const findCompleteDay = (day: number): Map<string, number> | null => {
    const tvlByDex = tvlByDay.get(day);
    return tvlByDex?.has('') === true ? tvlByDex : null;
  };
  return {
    tvlOf(dex, day) {
      const tvlByDex = findCompleteDay(day);
      return tvlByDex === null ? null : (tvlByDex.get(dex) ?? 0);
    },
    has: (day) => findCompleteDay(day) !== null,
  };
}

/**
 * The TVL of each DEX at the end of a final block, as the pairs of a head at this block show it. Reads the state of
 * every pool, so only a background job runs it.
 */
export async function computeTvl(
  runner: QueryRunner,
  head: HeadSnapshot,
  sources: PriceSources,
  tokens: TokenMap,
): Promise<ReadonlyMap<string, number>> {
  const params = { ...snapshotParams(head), tip_ord: lastOrdOfBlock(head.number), limit: ROWS_MAX };
  const [pools, states, balances, hops] = await Promise.all([
    listPools(runner, params),
    runner.run('pairs/list_states', params, stateRow),
    runner.run('pairs/list_balances', params, balancesRow),
    runner.run('prices/list_hops', params, hopRow),
  ]);
  const stateOf = new Map(states.map((row) => [row.pair, row]));
  const balancesOf = new Map(balances.map((row) => [row.pair, row]));
  const prices = toTokenPrices(hops, [], sources);
  const tvlByDex = new Map<string, number>();
  for (const pool of pools) {
    const facts = {
      state: stateOf.get(pool.address) ?? null,
      ...newestBalances(balancesOf.get(pool.address)),
      trades: null,
      pastPrices: null,
      meanBalances: null,
      lastTradeAt: null,
      feePips: pool.fee_pips,
      birth: null,
      protocolShare: 0,
      protocolSplit: null,
      splitFeesUsd: null,
    };
    const { liquidityUsd } = new PairEntry(pool, poolTokensOf(pool, tokens), facts, prices, () => null);
    tvlByDex.set(pool.dex, (tvlByDex.get(pool.dex) ?? 0) + liquidityUsd);
  }
  return tvlByDex;
}
