/**
 * Lists the stored bars of a token over all its pools, and its tracked swaps in head blocks. Prices are per whole token
 * in the requested currency; amounts are raw.
 */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import type { TokenCurrency } from '../../wire/tokens';
import { parseUsd, type BarPart } from './barParts';
import { readPrices } from './barPrices';
import type { BarRows } from './barReader';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/**
 * Largest number of head blocks with trades of one token. With more blocks the answer would be incomplete, so the
 * request fails.
 */
const HEAD_BLOCKS_MAX = 100_000;

const partRowShape = z.object({
  bucket: z.int(),
  open_ord: z.string(),
  open: z.number(),
  close_ord: z.string(),
  close: z.number(),
  high: z.number(),
  low: z.number(),
  volume: z.string(),
  volume_usd: z.string(),
  trades: z.int(),
  buys: z.int(),
  last_ord: z.string(),
});
type PartRow = z.infer<typeof partRowShape>;

export function tokenBars(
  runner: QueryRunner,
  head: HeadSnapshot,
  token: Hex,
  currency: TokenCurrency,
): BarRows {
  const usd = currency === 'usd';
  const key = { token: token.slice(2), usd, native: !usd };
  return {
    list(seconds, from, to, limit) {
      const params = { ...key, timeframe: seconds, from, to, limit };
      return runner.read('bars/list_token_bars', params, (row) => readPart(row, usd));
    },
    async listHead(seconds) {
      if (head.blocks.length === 0) return [];
      const params = { ...key, ...snapshotParams(head), timeframe: seconds, limit: HEAD_BLOCKS_MAX };
      const rows = await runner.run('bars/list_head_blocks', params, partRowShape);
      if (rows.length === HEAD_BLOCKS_MAX)
        throw new AppError('unavailable', 'too many blocks are not final yet; try again later');
      return rows.map(toPart);
    },
    async findFirstDay() {
      const params = { ...key, ...snapshotParams(head) };
      const [day] = await runner.read('bars/find_first_token_bar', params, (row) => row.u32());
      return day ?? null;
    },
  };
}

/** The amounts and counts of a token's bar. `lastOrd`: the position (`ord`) of its newest swap. */
export type BarVolume = Pick<BarPart, 'volume0' | 'volumeUsd' | 'trades' | 'buys' | 'lastOrd'>;

/** Amounts and counts of the stored bars in the given buckets, by bucket. */
export async function readTokenVolumes(
  runner: QueryRunner,
  token: Hex,
  seconds: number,
  buckets: readonly number[],
): Promise<ReadonlyMap<number, BarVolume>> {
  const params = { token: token.slice(2), timeframe: seconds, buckets, limit: buckets.length };
  const rows = await runner.read('bars/list_token_volumes', params, (row) => {
    const bucket = row.u32();
    const volume0 = row.u256();
    const volumeUsd = row.decimal128();
    return [bucket, { volume0, volumeUsd, trades: row.u64(), buys: row.u64(), lastOrd: row.u64() }] as const;
  });
  return new Map(rows);
}

function readPart(row: RowReader, usd: boolean): BarPart {
  const prices = readPrices(row, usd);
  return {
    ...prices,
    volume0: row.u256(),
    volume1: 0n,
    volumeUsd: row.decimal128(),
    trades: row.u64(),
    untracked: 0,
    buys: row.u64(),
    lastOrd: Math.max(prices.lastOrd, row.u64()),
  };
}

/** The token's amounts go into the fields of token0. Every swap in these bars has a tracked USD value. */
function toPart(row: PartRow): BarPart {
  return {
    bucket: row.bucket,
    openOrd: Number(row.open_ord),
    open: row.open,
    closeOrd: Number(row.close_ord),
    close: row.close,
    high: row.high,
    low: row.low,
    volume0: BigInt(row.volume),
    volume1: 0n,
    volumeUsd: parseUsd(row.volume_usd),
    trades: row.trades,
    untracked: 0,
    buys: row.buys,
    lastOrd: Number(row.last_ord),
  };
}
