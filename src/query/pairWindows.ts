/** Figures of one pair over a week and a month, exact to the second: for its detail, not for lists. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { MONTH_SECONDS, WEEK_SECONDS } from '../wire/pairs';
import { findFinalTip, findOrdAt } from './blockTimes';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { wholeHours } from './hourWindow';
import { meanReservesRowShape, type MeanReservesRow } from './pairRows';

export interface PairWindows {
  /** USD of tracked swaps. */
  readonly volumeWeek: number;
  readonly volumeMonth: number;
  readonly feesWeek: number;
  /** Null: the pool has no state yet. */
  readonly meanReservesWeek: MeanReservesRow | null;
}

const sumsRowShape = z.object({ volume_usd: z.number(), fees_usd: z.number() });
type SumsRow = z.infer<typeof sumsRowShape>;

export async function readPairWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  address: string,
): Promise<PairWindows> {
  const pair = address.slice(2);
  const tip = await findFinalTip(runner, chainId, head);
  const sum = (seconds: number): Promise<SumsRow> =>
    sumWindow(runner, head, pair, Math.max(head.timestamp - seconds, 0), tip?.timestamp ?? null);
  const [week, month, meanReservesWeek] = await Promise.all([
    sum(WEEK_SECONDS),
    sum(MONTH_SECONDS),
    readMeanReserves(runner, chainId, head, pair, Math.max(head.timestamp - WEEK_SECONDS, 0)),
  ]);
  return {
    volumeWeek: week.volume_usd,
    volumeMonth: month.volume_usd,
    feesWeek: week.fees_usd,
    meanReservesWeek,
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

async function readMeanReserves(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  pair: string,
  since: number,
): Promise<MeanReservesRow | null> {
  const sinceOrd = await findOrdAt(runner, chainId, head, since);
  const params = { ...snapshotParams(head), pair, since, since_ord: sinceOrd, now: head.timestamp };
  const [row] = await runner.run('pairs/mean_reserves', params, meanReservesRowShape);
  return row ?? null;
}
