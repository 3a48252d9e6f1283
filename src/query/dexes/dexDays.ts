/**
 * Sums the trading of each DEX by UTC day over a period, exact to the second. Whole hours up to the last final block
 * come from the rollup dex_hours. The partial hours at both ends come from the table swaps.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { f64, lowText, u32 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { findFinalTip, findOrdAt } from '../head/blockTimes';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import { wholeHours } from '../bars/hourWindow';

/** Limit of the rows: a year of days for more DEXes than any chain has. */
const ROWS_MAX = 100_000;

/** A row of sum_hours.sql or sum_swaps.sql. */
const dexDayRow = rowType({
  dex: lowText,
  /** Start of the UTC day, unix seconds. */
  day: u32,
  trades: u32,
  volume_usd: f64,
  fees_usd: f64,
});
export type DexDayRow = RowOf<typeof dexDayRow>;

/** A period: start (excluded) and end (included), unix seconds. */
export interface Stretch {
  readonly since: number;
  readonly until: number;
}

/** How a period is read: the whole hours [from, to) from the rollup, all other times from the table swaps. */
interface StretchPlan {
  readonly hours: { readonly from: number; readonly to: number } | null;
  readonly swaps: readonly Stretch[];
}

/**
 * Plans how to read the period. `finalTime` is the time of the last final block, or null without such a block. Pure.
 */
export function planStretch({ since, until }: Stretch, finalTime: number | null): StretchPlan {
  const { from: hoursFrom, to: hoursTo } = wholeHours(since, until, finalTime);
  if (hoursTo === hoursFrom) return { hours: null, swaps: [{ since, until }] };
  const edgeStretches = [
    { since, until: hoursFrom - 1 },
    { since: hoursTo - 1, until },
  ];
  return {
    hours: { from: hoursFrom, to: hoursTo },
    swaps: edgeStretches.filter((edge) => edge.since < edge.until),
  };
}

/**
 * Lists the trading of each DEX by day over the period. A DEX may have several rows for the same day, to be added.
 */
export async function listDexDays(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  stretch: Stretch,
): Promise<DexDayRow[]> {
  const finalTip = await findFinalTip(runner, chainId, head);
  const stretchFromGenesis = { since: Math.max(stretch.since, 0), until: stretch.until };
  if (stretchFromGenesis.until <= stretchFromGenesis.since) return [];
  const { hours, swaps } = planStretch(stretchFromGenesis, finalTip?.timestamp ?? null);
  const rowLists = await Promise.all([
    hours === null ? [] : runner.run('dexes/sum_hours', { ...hours, limit: ROWS_MAX }, dexDayRow),
    ...swaps.map((stretch) => sumSwaps(runner, chainId, head, stretch)),
  ]);
  return rowLists.flat();
}

async function sumSwaps(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { since, until }: Stretch,
): Promise<DexDayRow[]> {
  const [afterOrd, toOrd] = await Promise.all([
    findOrdAt(runner, chainId, head, since),
    findOrdAt(runner, chainId, head, until),
  ]);
  const params: QueryParams = {
    ...snapshotParams(head),
    after_ord: afterOrd,
    to_ord: toOrd,
    since,
    until,
    limit: ROWS_MAX,
  };
  return runner.run('dexes/sum_swaps', params, dexDayRow);
}
