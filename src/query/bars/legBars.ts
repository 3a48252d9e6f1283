/** Lists the stored bars of a pool's leg and the swaps of head blocks. Prices are raw or in USD, amounts raw. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import { partOfSwap, type BarPart } from './barParts';
import { readPrices } from './barPrices';
import type { BarRows } from './barReader';
import type { HeadSnapshot } from '../head/headSnapshot';
import type { HeadSwaps, LegRef } from './headSwaps';

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
    list(seconds, from, to, limit) {
      const name = usd ? 'bars/list_bars_usd' : 'bars/list_bars_quote';
      const params = { ...leg, timeframe: seconds, from, to, limit };
      return runner.read(name, params, (row) => readPart(row, usd));
    },
    async listHead(seconds) {
      const swaps = await headSwaps.of(head, key, usd);
      return swaps.map((swap) => partOfSwap(swap, seconds));
    },
    async findFirstDay() {
      const [day] = await runner.read('bars/find_first_bar', { ...leg, usd }, (row) => row.u32());
      return day ?? null;
    },
  };
}

function readPart(row: RowReader, usd: boolean): BarPart {
  const prices = readPrices(row, !usd);
  return {
    ...prices,
    volume0: row.u256(),
    volume1: row.u256(),
    volumeUsd: row.decimal128(),
    trades: row.u64(),
    untracked: row.u64(),
    buys: row.u64(),
    lastOrd: Math.max(prices.lastOrd, row.u64()),
  };
}
