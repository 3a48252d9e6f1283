/** Lists the stored bars of a pool's leg and the swaps of head blocks. Prices are raw or in USD, amounts raw. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, u256, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { partOfSwap } from './barParts';
import type { BarRows } from './barReader';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { HeadSwaps, LegRef } from './headSwaps';
import { bucketRow, singleEnd, storedColumns, storedPart } from './partRows';

const legColumns = { ...storedColumns, volume0: u256, volume1: u256, untracked: u64 };
/** A row of list_bars_quote.sql, with prices in raw token1 per raw token0. */
const quoteRow = rowType({
  ...legColumns,
  first_quote: singleEnd,
  last_quote: singleEnd,
  high: f64,
  low: f64,
});
/** A row of list_bars_usd.sql. */
const usdRow = rowType({ ...legColumns, high_usd: f64, low_usd: f64 });

export interface LegBarsSource {
  readonly runner: QueryRunner;
  readonly headSwaps: HeadSwaps;
}

export function legBars(
  { runner, headSwaps }: LegBarsSource,
  head: HeadSnapshot,
  legRef: LegRef,
  inUsd: boolean,
): BarRows {
  const legParams = { pair: legRef.pair.slice(2), leg: legRef.leg };
  return {
    async list(barSeconds, fromTime, beforeTime, rowsMax) {
      const params = { ...legParams, timeframe: barSeconds, from: fromTime, to: beforeTime, limit: rowsMax };
      if (inUsd) {
        const rows = await runner.run('bars/list_bars_usd', params, usdRow);
        return rows.map((row) => storedPart(row, row, row.high_usd, row.low_usd, null));
      }
      const rows = await runner.run('bars/list_bars_quote', params, quoteRow);
      return rows.map((row) =>
        storedPart(row, row, row.high, row.low, { first: row.first_quote, last: row.last_quote }),
      );
    },
    async listHead(barSeconds) {
      const swaps = await headSwaps.listSwaps(head, legRef, inUsd);
      return swaps.map((swap) => partOfSwap(swap, barSeconds));
    },
    async findFirstDay() {
      const [firstBar] = await runner.run('bars/find_first_bar', { ...legParams, usd: inUsd }, bucketRow);
      return firstBar?.bucket ?? null;
    },
  };
}
