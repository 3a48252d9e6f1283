/**
 * Reads the figures of one token in windows other than the last 24 hours, and its all-time high, exact to the second,
 * for its detail page.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { WEEK_SECONDS } from '../../wire/pairs';
import { findFinalTip, findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { HOUR_SECONDS, wholeHours } from '../bars/hourWindow';
import { slotOf } from '../bars/tickSeries';
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

interface TokenSwap {
  readonly ord: number;
  readonly timestamp: number;
  readonly volume: bigint;
  /** USD price of the token after the swap; 0 if the swap is in no pool that makes a trusted price of the token. */
  readonly usd: number;
}

interface HighHour {
  readonly high: number;
  readonly firstOrd: number;
  readonly lastOrd: number;
}

export async function readTokenWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  address: string,
): Promise<TokenWindows> {
  const since = Math.max(head.timestamp - WEEK_SECONDS, 0);
  const tip = await findFinalTip(runner, chainId, head);
  const hours = wholeHours(since, head.timestamp, tip?.timestamp ?? null);
  // Looks up the block at a whole hour instead of the exact start, because such look-ups are cached. Time filters
  // then leave out swaps before the window.
  const ordBefore = (time: number): Promise<number> => findOrdAt(runner, chainId, head, time - 1);
  const key = { ...snapshotParams(head), ...hours, token: address.slice(2), limit: ROWS_MAX };
  const [weekOrd, weekEdge, tailOrd, sums, [highHour]] = await Promise.all([
    ordBefore(slotOf(since, HOUR_SECONDS)),
    ordBefore(hours.from),
    ordBefore(hours.to),
    runner.read('tokens/list_window_hours', key, (row) => row.decimal128()),
    runner.read('tokens/find_high_hour', key, readHighHour),
  ]);
  const high = highHour !== undefined && highHour.high > 0 ? highHour : { firstOrd: 1, lastOrd: 0 };
  const params = {
    ...key,
    week_ord: weekOrd,
    week_edge: weekEdge,
    tail_ord: tailOrd,
    high_from: high.firstOrd,
    high_to: high.lastOrd,
  };
  const [trades, swaps] = await Promise.all([
    readShortTrades(runner, chainId, head, 'tokens/count_window_trades', { token: address.slice(2) }),
    runner.read('tokens/list_window_swaps', params, readSwap),
  ]);
  let volume = sums.reduce((sum, value) => sum + value, 0n);
  for (const swap of swaps) {
    const inHours = swap.timestamp >= hours.from && swap.timestamp < hours.to;
    if (swap.timestamp > since && !inHours) volume += swap.volume;
  }
  return { trades, volumeWeek: unitsToNumber(volume, USD_DECIMALS), highest: highestOf(swaps) };
}

/** Among equal prices, the earliest swap is used. */
function highestOf(swaps: readonly TokenSwap[]): TokenWindows['highest'] {
  let highest: TokenSwap | null = null;
  for (const swap of swaps) {
    const { usd, ord } = highest ?? { usd: 0, ord: 0 };
    if (swap.usd > usd || (highest !== null && swap.usd === usd && swap.ord < ord)) highest = swap;
  }
  return highest === null ? null : { usd: highest.usd, timestamp: highest.timestamp };
}

function readHighHour(row: RowReader): HighHour {
  return { high: row.f64(), firstOrd: row.u64(), lastOrd: row.u64() };
}

function readSwap(row: RowReader): TokenSwap {
  return { ord: row.u64(), timestamp: row.u32(), volume: row.decimal128(), usd: row.f64() };
}
