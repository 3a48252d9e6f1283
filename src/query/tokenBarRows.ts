/**
 * The reads of a token's bars and of its tracked swaps, all as parts of bars: prices per whole token in the asked currency,
 * amounts raw. How parts become a series is for tokenBarSource.
 */
import { z } from 'zod';

import type { QueryParams } from '../clickhouse/database';
import type { QueryRunner } from '../clickhouse/namedQueries';
import type { RowReader } from '../clickhouse/rowReader';
import type { Hex } from '../domain/hex';
import { lastOrdOfBlock } from '../domain/ord';
import { AppError } from '../errors';
import type { TokenCurrency } from '../wire/tokens';
import { parseUsd, type BarPart } from './barParts';
import { readPrices } from './barPrices';
import { findOrdAt } from './blockTimes';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';

/** Head blocks in which one token trades; beyond it the answer would be wrong, so there is none. */
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

const firstBarShape = z.object({ bucket: z.int() });

/** Whose bars, in what, as of when. */
export interface TokenBarsOf {
  readonly runner: QueryRunner;
  readonly chainId: number;
  readonly head: HeadSnapshot;
  readonly token: Hex;
  readonly currency: TokenCurrency;
}

/** Open times [from, to) of bars of `seconds`. */
export interface BarRange {
  readonly seconds: number;
  readonly from: number;
  readonly to: number;
}

function keyOf({ token, currency }: TokenBarsOf): QueryParams {
  return { token: token.slice(2), usd: currency === 'usd', native: currency !== 'usd' };
}

/** Parts of stored bars, newest first, at most `limit`: the last bucket may then be cut. */
export async function listTokenBars(of: TokenBarsOf, range: BarRange, limit: number): Promise<BarPart[]> {
  const params = { ...keyOf(of), timeframe: range.seconds, from: range.from, to: range.to, limit };
  const usd = of.currency === 'usd';
  return of.runner.read('token_ticks/list_bars', params, (row) => readPart(row, usd));
}

/** What head blocks add to bars of `seconds`, a part per block, ascending. Throws unavailable for too many blocks. */
export async function listTokenHeadParts(of: TokenBarsOf, seconds: number): Promise<BarPart[]> {
  if (of.head.blocks.length === 0) return [];
  const params = { ...keyOf(of), ...snapshotParams(of.head), timeframe: seconds, limit: HEAD_BLOCKS_MAX };
  const rows = await of.runner.run('token_ticks/list_head_blocks', params, partRowShape);
  if (rows.length === HEAD_BLOCKS_MAX)
    throw new AppError('unavailable', 'too much of the chain waits for finality');
  return rows.map(toPart);
}

/** Open time of the first final daily bar with a price, or null: nothing older needs to be read. */
export async function findFirstTokenDay(of: TokenBarsOf): Promise<number | null> {
  const params = { ...keyOf(of), final_ord: lastOrdOfBlock(of.head.finalTo) };
  const [row] = await of.runner.run('token_ticks/find_first_bar', params, firstBarShape);
  return row?.bucket ?? null;
}

/** The final tracked swaps of times [from, to) as one part with bucket `from`; empty when there are none. */
export async function sumTokenSwaps(of: TokenBarsOf, from: number, to: number): Promise<BarPart[]> {
  const { runner, chainId, head } = of;
  const afterOrd = await findOrdAt(runner, chainId, head, from - 1);
  const params = { ...keyOf(of), final_ord: lastOrdOfBlock(head.finalTo), after_ord: afterOrd, from, to };
  const rows = await runner.run('token_ticks/sum_swaps', params, partRowShape);
  return rows.map(toPart);
}

/** A row of list_bars. */
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

/** A token's amounts stand where a pool's token0 has its own; every swap of these bars is tracked. */
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
