/**
 * Trading of one pair or token in time windows. The tables of a head have the last 24 hours; details read the shorter
 * windows.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, u32 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { unitsToNumber, USD_DECIMALS } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { WINDOW_SECONDS, type TradeCounts, type Window } from '../../wire/pairs';
import { findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { distinctMakers } from './rankings';

export const tradeColumns = {
  buys: u32,
  sells: u32,
  /** Known makers. */
  buyers: u32,
  sellers: u32,
  /** USD value of tracked swaps (with a trusted price). */
  volume: f64,
};
const windowRow = rowType({ seconds: u32, ...tradeColumns });

/** Trading in one window. */
type Trades = Omit<RowOf<typeof windowRow>, 'seconds'>;

/** Trading in the windows of less than 24 hours. */
export type ShortTrades = Readonly<Record<Exclude<Window, 'h24'>, Trades>>;

const NO_TRADES: Trades = { buys: 0, sells: 0, buyers: 0, sellers: 0, volume: 0 };

/** `addressParam` has the address as the query takes it: hex without 0x. */
export async function readShortTrades(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  queryName: 'pairs/count_window_trades' | 'tokens/count_window_trades',
  addressParam: { readonly pair: string } | { readonly token: string },
): Promise<ShortTrades> {
  const { m5, h1, h6 } = WINDOW_SECONDS;
  const windows = [m5, h1, h6];
  const params = {
    ...snapshotParams(head),
    ...addressParam,
    windows,
    now: head.timestamp,
    after_ord: await findOrdAt(runner, chainId, head, head.timestamp - h6),
    limit: windows.length,
  };
  const rowsBySeconds = new Map(
    (await runner.run(queryName, params, windowRow)).map((row) => [row.seconds, row]),
  );
  const tradesOf = (seconds: number): Trades => rowsBySeconds.get(seconds) ?? NO_TRADES;
  return { m5: tradesOf(m5), h1: tradesOf(h1), h6: tradesOf(h6) };
}

/** A swap of a pair. `buy` is 1 if it lowers the pool's balance of the base token, otherwise 0. */
interface CountedSwap {
  readonly timestamp: number;
  readonly buy: number;
  readonly maker: Hex | null;
  /** USD value in units of 10^-12. */
  readonly amount_usd: bigint;
  readonly tracked: boolean;
}

/** Counts the swaps of one pair as pairs/count_window_trades.sql does. `now` is the time of the head. */
export function countShortTrades(swaps: readonly CountedSwap[], now: number): ShortTrades {
  const tradesOf = (seconds: number): Trades => {
    const recent = swaps.filter(({ timestamp }) => timestamp + seconds > now);
    const [buys, sells] = [recent.filter(({ buy }) => buy === 1), recent.filter(({ buy }) => buy === 0)];
    const makersOf = (side: readonly CountedSwap[]): number =>
      new Set(side.flatMap(({ maker }) => maker ?? [])).size;
    const units = recent.reduce((sum, swap) => (swap.tracked ? sum + swap.amount_usd : sum), 0n);
    return {
      buys: buys.length,
      sells: sells.length,
      buyers: makersOf(buys),
      sellers: makersOf(sells),
      volume: unitsToNumber(units, USD_DECIMALS),
    };
  };
  const { m5, h1, h6 } = WINDOW_SECONDS;
  return { m5: tradesOf(m5), h1: tradesOf(h1), h6: tradesOf(h6) };
}

/** The numbers of trades; zeros without a swap. */
export function tradeCounts(trades: Trades | null): TradeCounts {
  const { buys, sells, buyers, sellers } = trades ?? NO_TRADES;
  return { buys, sells, buyers: distinctMakers(buyers, buys), sellers: distinctMakers(sellers, sells) };
}

/** `dayTrades` is the trading of the last 24 hours; null without a swap. */
export function countsByWindow(
  { m5, h1, h6 }: ShortTrades,
  dayTrades: Trades | null,
): Readonly<Record<Window, TradeCounts>> {
  return { m5: tradeCounts(m5), h1: tradeCounts(h1), h6: tradeCounts(h6), h24: tradeCounts(dayTrades) };
}

export function volumeByWindow(
  { m5, h1, h6 }: ShortTrades,
  dayTrades: Trades | null,
): Readonly<Record<Window, number>> {
  return { m5: m5.volume, h1: h1.volume, h6: h6.volume, h24: dayTrades?.volume ?? 0 };
}
