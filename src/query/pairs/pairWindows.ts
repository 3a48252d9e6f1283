/** Reads the figures of one pair in windows other than the last 24 hours, exact to the second, for its detail page. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import { lastOrdOfBlock } from '../../domain/ord';
import { MONTH_SECONDS, WEEK_SECONDS } from '../../wire/pairs';
import { findFinalTip, findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { HOUR_SECONDS, wholeHours, type WholeHours } from '../bars/hourWindow';
import { meanReserves, type HeldState, type ValuedSwap } from './pairMeans';
import { meanBalancesRowShape, meanReservesRowShape, type MeanReservesRow } from './pairRows';
import type { StoredPool } from './pools';
import { slotOf } from '../bars/tickSeries';
import { readShortTrades, type ShortTrades } from './windowTrades';

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
 * Largest number of daily swaps for which this process computes the means. For busier pairs ClickHouse computes them,
 * because a week of swaps is too large to send.
 */
const SWAPS_A_DAY_MAX = 1_000;
/** A LIMIT for queries that never cuts their result: no query returns this many rows. */
const ROWS_MAX = 1_000_000;

interface PairHour {
  readonly bucket: number;
  readonly volume: bigint;
  readonly fee: bigint;
}

interface WindowSwap extends ValuedSwap {
  /** Whether the swap has a price and is between the pool's first two tokens. */
  readonly valued: boolean;
  readonly tracked: boolean;
  readonly volume: bigint;
  readonly fee: bigint;
}

interface Window {
  readonly since: number;
  readonly hours: WholeHours;
  /** Final swaps up to this position (`ord`) are older than the hour of `since`. */
  readonly ord: number;
  /** Final swaps up to this position (`ord`) are older than the first whole hour. */
  readonly edge: number;
  /** Final swaps above this position (`ord`) are newer than the last whole hour. */
  readonly tail: number;
}

/** `swapsADay` is the approximate number of the pair's daily swaps. */
export async function readPairWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { address, all_tokens: tokens }: Pick<StoredPool, 'address' | 'all_tokens'>,
  swapsADay = 0,
): Promise<PairWindows> {
  const tip = await findFinalTip(runner, chainId, head);
  // Looks up the block at a whole hour instead of the exact start, because such look-ups are cached. Time filters
  // then leave out swaps before the window.
  const ordBefore = (time: number): Promise<number> => findOrdAt(runner, chainId, head, time - 1);
  const windowOf = async (seconds: number): Promise<Window> => {
    const since = Math.max(head.timestamp - seconds, 0);
    const hours = wholeHours(since, head.timestamp, tip?.timestamp ?? null);
    const [ord, edge, tail] = await Promise.all([
      ordBefore(slotOf(since, HOUR_SECONDS)),
      ordBefore(hours.from),
      ordBefore(hours.to),
    ]);
    return { since, hours, ord, edge, tail };
  };
  const [week, month] = await Promise.all([windowOf(WEEK_SECONDS), windowOf(MONTH_SECONDS)]);
  const many = tokens.length > 2;
  const here = !many && swapsADay <= SWAPS_A_DAY_MAX;
  const key = { ...snapshotParams(head), pair: address.slice(2), limit: ROWS_MAX };
  const swapParams = {
    ...key,
    month_ord: month.ord,
    month_edge: month.edge,
    week_ord: week.ord,
    week_edge: here ? lastOrdOfBlock(head.finalTo) : week.edge,
    tail_ord: month.tail,
  };
  const engineParams = { ...key, since: week.since, since_ord: week.ord, now: head.timestamp };
  const [trades, hours, swaps, states, means, balances] = await Promise.all([
    readShortTrades(runner, chainId, head, 'pairs/count_window_trades', { pair: address.slice(2) }),
    runner.read('pairs/list_window_hours', { ...key, ...month.hours }, readHour),
    runner.read('pairs/list_window_swaps', swapParams, readSwap),
    here ? runner.read('pairs/list_window_states', { ...key, week_ord: week.ord }, readState) : [],
    here || many ? [] : runner.run('pairs/mean_reserves', engineParams, meanReservesRowShape),
    many ? runner.run('pairs/mean_balances', engineParams, meanBalancesRowShape) : [],
  ]);
  const ofWeek = sumWindow(week, hours, swaps);
  const valued = swaps.filter(({ valued, timestamp }) => valued && timestamp > week.since);
  return {
    trades,
    volumeWeek: ofWeek.volume,
    volumeMonth: sumWindow(month, hours, swaps).volume,
    feesWeek: ofWeek.fees,
    meanReservesWeek: here ? meanReserves(states, valued, week.since, head.timestamp) : (means[0] ?? null),
    meanBalancesWeek: balances[0]?.means ?? null,
  };
}

/** Sums the window's whole hours and its swaps outside of these hours. */
function sumWindow(
  { since, hours: { from, to } }: Window,
  hours: readonly PairHour[],
  swaps: readonly WindowSwap[],
): { volume: number; fees: number } {
  let volume = 0n;
  let fees = 0n;
  for (const hour of hours) {
    if (hour.bucket < from || hour.bucket >= to) continue;
    volume += hour.volume;
    fees += hour.fee;
  }
  for (const { timestamp, tracked, ...swap } of swaps) {
    if (!tracked || timestamp <= since || (timestamp >= from && timestamp < to)) continue;
    volume += swap.volume;
    fees += swap.fee;
  }
  return { volume: unitsToNumber(volume, USD_DECIMALS), fees: unitsToNumber(fees, USD_DECIMALS) };
}

function readHour(row: RowReader): PairHour {
  return { bucket: row.u32(), volume: row.decimal128(), fee: row.decimal128() };
}

function readSwap(row: RowReader): WindowSwap {
  const ord = row.u64();
  const timestamp = row.u32();
  const leg = row.u16();
  const baseIsToken0 = row.bool();
  const price = row.f64();
  const [base, quote] = [row.f64(), row.f64()];
  const [usd0, usd1] = baseIsToken0 ? [quote * price, base / price] : [base * price, quote / price];
  const [volume, fee] = [row.decimal128(), row.decimal128()];
  return {
    ord,
    timestamp,
    usd0,
    usd1,
    valued: leg === 1 && price > 0,
    volume,
    fee,
    tracked: row.bool(),
  };
}

function readState(row: RowReader): HeldState {
  return {
    ord: row.u64(),
    timestamp: row.u32(),
    reserve0: Number(row.u256()),
    reserve1: Number(row.u256()),
  };
}
