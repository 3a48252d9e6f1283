/** Figures of one pair over a week and a month, exact to the second: for its detail, not for lists. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { MONTH_SECONDS, WEEK_SECONDS } from '../wire/pairs';
import { findFinalTip, findOrdAt } from './blockTimes';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { wholeHours } from './hourWindow';
import { meanBalancesRowShape, meanReservesRowShape, type MeanReservesRow } from './pairRows';
import type { PoolRow } from './pools';

export interface PairWindows {
  /** USD of tracked swaps. */
  readonly volumeWeek: number;
  readonly volumeMonth: number;
  readonly feesWeek: number;
  /** Null: the pool has no state yet. */
  readonly meanReservesWeek: MeanReservesRow | null;
  /** Raw, of each token of a pool of more than two; null: of fewer, or it has no state yet. */
  readonly meanBalancesWeek: readonly number[] | null;
}

const sumsRowShape = z.object({ volume_usd: z.number(), fees_usd: z.number() });
type SumsRow = z.infer<typeof sumsRowShape>;

export async function readPairWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { address, all_tokens: tokens }: Pick<PoolRow, 'address' | 'all_tokens'>,
): Promise<PairWindows> {
  const pair = address.slice(2);
  const many = tokens.length > 2;
  const tip = await findFinalTip(runner, chainId, head);
  const sum = (seconds: number): Promise<SumsRow> =>
    sumWindow(runner, head, pair, Math.max(head.timestamp - seconds, 0), tip?.timestamp ?? null);
  const weekAgo = Math.max(head.timestamp - WEEK_SECONDS, 0);
  const [week, month, meanReservesWeek, meanBalancesWeek] = await Promise.all([
    sum(WEEK_SECONDS),
    sum(MONTH_SECONDS),
    many ? null : readMeans(runner, chainId, head, pair, weekAgo, 'mean_reserves', meanReservesRowShape),
    many ? readMeans(runner, chainId, head, pair, weekAgo, 'mean_balances', meanBalancesRowShape) : null,
  ]);
  return {
    volumeWeek: week.volume_usd,
    volumeMonth: month.volume_usd,
    feesWeek: week.fees_usd,
    meanReservesWeek,
    meanBalancesWeek: meanBalancesWeek?.means ?? null,
  };
}

async function sumWindow(
  runner: QueryRunner,
  head: HeadSnapshot,
  pair: string,
  since: number,
  finalTime: number | null,
): Promise<SumsRow> {
  const hours = wholeHours(since, head.timestamp, finalTime);
  const params = { ...snapshotParams(head), ...hours, pair, since };
  const [row] = await runner.run('pairs/sum_window', params, sumsRowShape);
  return row ?? { volume_usd: 0, fees_usd: 0 };
}

async function readMeans<Row>(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  pair: string,
  since: number,
  query: 'mean_reserves' | 'mean_balances',
  shape: z.ZodType<Row>,
): Promise<Row | null> {
  const sinceOrd = await findOrdAt(runner, chainId, head, since);
  const params = { ...snapshotParams(head), pair, since, since_ord: sinceOrd, now: head.timestamp };
  const [row] = await runner.run(`pairs/${query}`, params, shape);
  return row ?? null;
}
