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
const quoteRow = rowType({
  ...legColumns,
  first_quote: singleEnd,
  last_quote: singleEnd,
  high: f64,
  low: f64,
});
const usdRow = rowType({ ...legColumns, high_usd: f64, low_usd: f64 });

export interface LegBarsSource {
  readonly runner: QueryRunner;
  readonly headSwaps: HeadSwaps;
}

export function legBars(
  { runner, headSwaps }: LegBarsSource,
  head: HeadSnapshot,
  key: LegRef,
  usd: boolean,
): BarRows {
  const leg = { pair: key.pair.slice(2), leg: key.leg };
  return {
    async list(seconds, from, to, limit) {
      const params = { ...leg, timeframe: seconds, from, to, limit };
      if (usd) {
        const rows = await runner.run('bars/list_bars_usd', params, usdRow);
        return rows.map((row) => storedPart(row, row, row.high_usd, row.low_usd, null));
      }
      const rows = await runner.run('bars/list_bars_quote', params, quoteRow);
      return rows.map((row) =>
        storedPart(row, row, row.high, row.low, { first: row.first_quote, last: row.last_quote }),
      );
    },
    async listHead(seconds) {
      const swaps = await headSwaps.of(head, key, usd);
      return swaps.map((swap) => partOfSwap(swap, seconds));
    },
    async findFirstDay() {
      const [day] = await runner.run('bars/find_first_bar', { ...leg, usd }, bucketRow);
      return day?.bucket ?? null;
    },
  };
}
