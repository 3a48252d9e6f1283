/**
 * Reads the figures of one token in windows other than the last 24 hours, and its all-time high, exact to the second,
 * for its detail page.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, u32, u64, usd } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { WEEK_SECONDS } from '../../wire/pairs';
import { findFinalTip, findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { HOUR_SECONDS, wholeHours } from '../bars/hourWindow';
import { slotOf } from '../bars/chartSeries';
import { readShortTrades, type ShortTrades } from '../pairs/windowTrades';

export interface TokenWindows {
  readonly trades: ShortTrades;
  /** USD value of tracked swaps (with a trusted price). */
  readonly volumeWeek: number;
  /**
   * The highest USD price ever, right after a swap in a pool that makes a trusted price of the token. Null without
   * such a swap.
   */
  readonly highest: { readonly usd: number; readonly timestamp: number } | null;
}

/** A LIMIT for queries that never cuts their result: no query returns this many rows. */
const ROWS_MAX = 1_000_000;

/** A row of tokens/list_window_hours.sql: a part of the volume of one hour. */
const hourRow = rowType({ volume_usd: usd });
/** The row of find_high_hour.sql: the hour with the highest USD price of the token. */
const highHourRow = rowType({ high: f64, first_ord: u64, last_ord: u64 });
/** A row of tokens/list_window_swaps.sql. */
const swapRow = rowType({
  ord: u64,
  timestamp: u32,
  amount_usd: usd,
  /** USD price of the token after the swap; 0 if the swap is in no pool that makes a trusted price of the token. */
  usd: f64,
});
type TokenSwap = RowOf<typeof swapRow>;

export async function readTokenWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  address: string,
): Promise<TokenWindows> {
  const windowStart = Math.max(head.timestamp - WEEK_SECONDS, 0);
  const finalTip = await findFinalTip(runner, chainId, head);
  const hours = wholeHours(windowStart, head.timestamp, finalTip?.timestamp ?? null);
  // Looks up the block at a whole hour instead of the exact start, because such look-ups are cached. Time filters
  // then leave out swaps before the window.
  const ordBefore = (time: number): Promise<number> => findOrdAt(runner, chainId, head, time - 1);
  const tokenParams = { ...snapshotParams(head), ...hours, token: address.slice(2), limit: ROWS_MAX };
  const [hourBeforeOrd, firstHourOrd, lastHourOrd, hourRows, [highHour], trades] = await Promise.all([
    ordBefore(slotOf(windowStart, HOUR_SECONDS)),
    ordBefore(hours.from),
    ordBefore(hours.to),
    runner.run('tokens/list_window_hours', tokenParams, hourRow),
    runner.run('tokens/find_high_hour', tokenParams, highHourRow),
    readShortTrades(runner, chainId, head, 'tokens/count_window_trades', { token: address.slice(2) }),
  ]);
  // Without a highest hour, an empty range: it ends before it begins.
  const highOrds = highHour !== undefined && highHour.high > 0 ? highHour : { first_ord: 1, last_ord: 0 };
  const params = {
    ...tokenParams,
    // The last position (ord) before the week, before its first whole hour, and of its last whole hour.
    week_start_ord: hourBeforeOrd,
    week_hours_ord: firstHourOrd,
    hours_end_ord: lastHourOrd,
    high_from: highOrds.first_ord,
    high_to: highOrds.last_ord,
  };
  const swaps = await runner.run('tokens/list_window_swaps', params, swapRow);
  let volumeUnits = hourRows.reduce((sum, hour) => sum + hour.volume_usd, 0n);
  for (const swap of swaps) {
    const isInWholeHours = swap.timestamp >= hours.from && swap.timestamp < hours.to;
    if (swap.timestamp > windowStart && !isInWholeHours) volumeUnits += swap.amount_usd;
  }
  return { trades, volumeWeek: unitsToNumber(volumeUnits, USD_DECIMALS), highest: highestOf(swaps) };
}

/** Among equal prices, the earliest swap is used. */
function highestOf(swaps: readonly TokenSwap[]): TokenWindows['highest'] {
  let highestSwap: TokenSwap | null = null;
  for (const swap of swaps) {
    const { usd, ord } = highestSwap ?? { usd: 0, ord: 0 };
    if (swap.usd > usd || (highestSwap !== null && swap.usd === usd && swap.ord < ord)) highestSwap = swap;
  }
  return highestSwap === null ? null : { usd: highestSwap.usd, timestamp: highestSwap.timestamp };
}
