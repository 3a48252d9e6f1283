/** Reads the figures of one pair in windows other than the last 24 hours, exact to the second, for its detail page. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { u32, u8, usd } from '../../clickhouse/rows/columns';
import { pick, rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { poolStatesTable, swapsTable } from '../../clickhouse/schema/tables';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { swapFeeUsd } from '../../domain/swapFee';
import { lastOrdOfBlock } from '../../domain/ord';
import { MONTH_SECONDS, WEEK_SECONDS } from '../../wire/pairs';
import { findFinalTip, findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { HOUR_SECONDS, wholeHours, type WholeHours } from '../bars/hourWindow';
import { meanReserves, type ValuedSwap } from './pairMeans';
import { meanBalancesRow, meanReservesRow, type MeanReservesRow } from './pairRows';
import type { StoredPool } from './pools';
import { slotOf } from '../bars/chartSeries';
import { countShortTrades, readShortTrades, type ShortTrades } from './windowTrades';

export interface PairWindows {
  readonly trades: ShortTrades;
  /** USD value of tracked swaps (with a trusted price). */
  readonly volumeWeek: number;
  readonly volumeMonth: number;
  readonly feesWeek: number;
  /** The protocol's part of `feesWeek` by the split of the pool itself. Null or absent for pools without one. */
  readonly splitFeesWeek?: number | null;
  /**
   * Means of reserves and values over the week. Null for a pool without a state, or with more than two
   * tokens.
   */
  readonly meanReservesWeek: MeanReservesRow | null;
  /**
   * Raw mean balances of each token over the week, for a pool of more than two tokens. Null for other pools, and
   * without a state.
   */
  readonly meanBalancesWeek: readonly number[] | null;
}

/**
 * Largest number of daily swaps for which this process computes the means and the trades of the short windows from the
 * swaps of the week. For busier pairs ClickHouse computes them, because a week of swaps is too large to send.
 */
const DAILY_SWAPS_MAX = 1_000;
/** A LIMIT for queries that never cuts their result: no query returns this many rows. */
const ROWS_MAX = 1_000_000;

/** A row of pairs/list_window_hours.sql: a part of the sums of the hour that begins at `bucket`. */
const hourRow = rowType({ bucket: u32, volume_usd: usd, fee_usd: usd });
/** A row of pairs/list_window_swaps.sql. */
const swapRow = rowType({
  ...pick(swapsTable.types, ['ord', 'timestamp', 'leg', 'base_is_token0', 'price', 'price_usd']),
  ...pick(swapsTable.types, ['quote_price_usd', 'amount_usd', 'fee_pips', 'tracked', 'maker']),
  buy: u8,
});
type WindowSwap = RowOf<typeof swapRow>;
/** A row of list_window_states.sql, with reserves in raw units. */
const heldRow = rowType(pick(poolStatesTable.types, ['ord', 'timestamp', 'reserve0', 'reserve1']));

interface Window {
  readonly since: number;
  readonly hours: WholeHours;
  /** Final swaps up to this position (`ord`) are older than the hour of `since`. */
  readonly hourBeforeOrd: number;
  /** Final swaps up to this position (`ord`) are older than the first whole hour. */
  readonly firstHourOrd: number;
  /** Final swaps above this position (`ord`) are newer than the last whole hour. */
  readonly lastHourOrd: number;
}

/** `dailySwaps` is the approximate number of the pair's daily swaps. */
export async function readPairWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { address, all_tokens: tokens }: Pick<StoredPool, 'address' | 'all_tokens'>,
  dailySwaps = 0,
): Promise<PairWindows> {
  const finalTip = await findFinalTip(runner, chainId, head);
  // Looks up the block at a whole hour instead of the exact start, because such look-ups are cached. Time filters
  // then leave out swaps before the window.
  const ordBefore = (time: number): Promise<number> => findOrdAt(runner, chainId, head, time - 1);
  const windowOf = async (windowSeconds: number): Promise<Window> => {
    const windowStart = Math.max(head.timestamp - windowSeconds, 0);
    const hours = wholeHours(windowStart, head.timestamp, finalTip?.timestamp ?? null);
    const [hourBeforeOrd, firstHourOrd, lastHourOrd] = await Promise.all([
      ordBefore(slotOf(windowStart, HOUR_SECONDS)),
      ordBefore(hours.from),
      ordBefore(hours.to),
    ]);
    return { since: windowStart, hours, hourBeforeOrd, firstHourOrd, lastHourOrd };
  };
  const [week, month] = await Promise.all([windowOf(WEEK_SECONDS), windowOf(MONTH_SECONDS)]);
  const hasManyTokens = tokens.length > 2;
  const isQuiet = !hasManyTokens && dailySwaps <= DAILY_SWAPS_MAX;
  const pairParams = { ...snapshotParams(head), pair: address.slice(2), limit: ROWS_MAX };
  const swapParams = {
    ...pairParams,
    month_start_ord: month.hourBeforeOrd,
    month_hours_ord: month.firstHourOrd,
    week_start_ord: week.hourBeforeOrd,
    week_hours_ord: isQuiet ? lastOrdOfBlock(head.finalTo) : week.firstHourOrd,
    hours_end_ord: month.lastHourOrd,
  };
  const engineParams = {
    ...pairParams,
    since: week.since,
    since_ord: week.hourBeforeOrd,
    now: head.timestamp,
  };
  const [trades, hours, swaps, states, means, balances] = await Promise.all([
    isQuiet
      ? null
      : readShortTrades(runner, chainId, head, 'pairs/count_window_trades', { pair: address.slice(2) }),
    runner.run('pairs/list_window_hours', { ...pairParams, ...month.hours }, hourRow),
    runner.run('pairs/list_window_swaps', swapParams, swapRow),
    isQuiet
      ? runner.run('pairs/list_window_states', { ...pairParams, week_start_ord: week.hourBeforeOrd }, heldRow)
      : [],
    isQuiet || hasManyTokens ? [] : runner.run('pairs/mean_reserves', engineParams, meanReservesRow),
    hasManyTokens ? runner.run('pairs/mean_balances', engineParams, meanBalancesRow) : [],
  ]);
  const weekSums = sumWindow(week, hours, swaps);
  const weekSwaps = swaps.flatMap((swap) => (swap.timestamp > week.since ? valuedSwaps(swap) : []));
  return {
    trades: trades ?? countShortTrades(swaps, head.timestamp),
    volumeWeek: weekSums.volume,
    volumeMonth: sumWindow(month, hours, swaps).volume,
    feesWeek: weekSums.fees,
    meanReservesWeek: isQuiet
      ? meanReserves(states, weekSwaps, week.since, head.timestamp)
      : (means[0] ?? null),
    meanBalancesWeek: balances[0]?.means ?? null,
  };
}

/** Sums the window's whole hours and its swaps outside of these hours. */
function sumWindow(
  { since, hours: { from, to } }: Window,
  hours: readonly RowOf<typeof hourRow>[],
  swaps: readonly WindowSwap[],
): { volume: number; fees: number } {
  let volumeUnits = 0n;
  let feeUnits = 0n;
  for (const hour of hours) {
    if (hour.bucket < from || hour.bucket >= to) continue;
    volumeUnits += hour.volume_usd;
    feeUnits += hour.fee_usd;
  }
  for (const { timestamp, tracked, ...swap } of swaps) {
    if (!tracked || timestamp <= since || (timestamp >= from && timestamp < to)) continue;
    volumeUnits += swap.amount_usd;
    feeUnits += swapFeeUsd(swap) ?? 0n;
  }
  return { volume: unitsToNumber(volumeUnits, USD_DECIMALS), fees: unitsToNumber(feeUnits, USD_DECIMALS) };
}

/** The swap with its prices; nothing without a price, or if the swap is not between the pool's first two tokens. */
function valuedSwaps({ ord, timestamp, leg, price, ...swap }: WindowSwap): readonly ValuedSwap[] {
  if (leg !== 1 || !(price > 0)) return [];
  const { base_is_token0, price_usd: basePriceUsd, quote_price_usd: quotePriceUsd } = swap;
  const [usd0, usd1] = base_is_token0
    ? [quotePriceUsd * price, basePriceUsd / price]
    : [basePriceUsd * price, quotePriceUsd / price];
  return [{ ord, timestamp, usd0, usd1 }];
}
