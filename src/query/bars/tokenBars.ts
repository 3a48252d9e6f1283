/**
 * Lists the stored bars of a token over all its pools, and its tracked swaps in head blocks. Prices are per whole token
 * in the requested currency; amounts are raw.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, u256, u32, u64, usd as usdAmount } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { TokenCurrency } from '../../wire/tokens';
import type { BarPart } from './barParts';
import type { BarRows } from './barReader';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { bucketRow, singleEnd, storedColumns, storedPart, swapPart, swapPartRow } from './partRows';

/**
 * Largest number of head blocks with trades of one token. With more blocks the answer would be incomplete, so the
 * request fails.
 */
const HEAD_BLOCKS_MAX = 100_000;

const tokenColumns = { ...storedColumns, volume: u256 };
/** A row of list_token_bars.sql with `usd`. */
const usdRow = rowType({
  ...tokenColumns,
  first_usd: singleEnd,
  last_usd: singleEnd,
  high_usd: f64,
  low_usd: f64,
});
/** A row of list_token_bars.sql with `native`. */
const nativeRow = rowType({ ...tokenColumns, high_native: f64, low_native: f64 });
/** A row of list_token_volumes.sql, with `volume` in raw units of the token. */
const volumeRow = rowType({
  bucket: u32,
  volume: u256,
  volume_usd: usdAmount,
  trades: u64,
  buys: u64,
  last_ord: u64,
});

export function tokenBars(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
  currency: TokenCurrency,
): BarRows {
  const inUsd = currency === 'usd';
  const tokenParams = { token: token.slice(2), usd: inUsd, native: !inUsd };
  return {
    async list(barSeconds, fromTime, beforeTime, rowsMax) {
      const params = {
        ...tokenParams,
        timeframe: barSeconds,
        from: fromTime,
        to: beforeTime,
        limit: rowsMax,
      };
      if (!inUsd) {
        const rows = await runner.run('bars/list_token_bars', params, nativeRow);
        return rows.map((row) => storedPart(row, amountsOf(row), row.high_native, row.low_native, null));
      }
      const rows = await runner.run('bars/list_token_bars', params, usdRow);
      return rows.map((row) =>
        // USD is the first of the two kinds of price in these tuples, the native coin the second.
        storedPart(row, amountsOf(row), row.high_usd, row.low_usd, {
          first: row.first_usd,
          last: row.last_usd,
        }),
      );
    },
    async listHead(seconds) {
      if (head.blocks.length === 0) return [];
      const params = { ...tokenParams, ...snapshotParams(head), timeframe: seconds, limit: HEAD_BLOCKS_MAX };
      const rows = await runner.run('bars/list_head_blocks', params, swapPartRow);
      if (rows.length === HEAD_BLOCKS_MAX)
        throw new AppError('unavailable', 'too many blocks are not final yet; try again later');
      return rows.map(swapPart);
    },
    async findFirstDay() {
      const params = { ...tokenParams, ...snapshotParams(head) };
      const [firstBar] = await runner.run('bars/find_first_token_bar', params, bucketRow);
      return firstBar?.bucket ?? null;
    },
  };
}

/** The amounts and counts of a token's bar. `lastOrd`: the position (`ord`) of its newest swap. */
export type BarVolume = Pick<BarPart, 'volume0' | 'volumeUsd' | 'trades' | 'buys' | 'lastOrd'>;

/** Amounts and counts of the stored bars in the given buckets, by bucket. */
export async function readTokenVolumes(
  runner: QueryRunner,
  token: Hex,
  barSeconds: number,
  buckets: readonly number[],
): Promise<ReadonlyMap<number, BarVolume>> {
  const params = { token: token.slice(2), timeframe: barSeconds, buckets, limit: buckets.length };
  const rows = await runner.run('bars/list_token_volumes', params, volumeRow);
  return new Map(
    rows.map(({ bucket, volume: volume0, volume_usd: volumeUsd, trades, buys, last_ord: lastOrd }) => [
      bucket,
      { volume0, volumeUsd, trades, buys, lastOrd },
    ]),
  );
}

/** The token's amounts go into the fields of token0. Every swap in these bars has a tracked USD value. */
function amountsOf({ volume }: { readonly volume: bigint }): Parameters<typeof storedPart>[1] {
  return { volume0: volume, volume1: 0n, untracked: 0 };
}
