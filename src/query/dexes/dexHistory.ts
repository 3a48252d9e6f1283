/** Lists the daily history of one DEX for its detail page. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { DexDay, DexItem } from '../../wire/dexes';
import { findBlockTime } from '../head/blockTimes';
import { listDexDays } from './dexDays';
import { toDexHistory } from './dexItem';
import { readTvlDays } from './tvlDays';
import type { HeadSnapshot } from '../head/headSnapshot';
import { slotOf } from '../bars/chartSeries';

const DAY_SECONDS = 86_400;

/** The last `days` UTC days, up to the newest block's day and not before the first indexed block's day. */
export async function getDexHistory(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { dex_name: dex, tvl_usd: tvlUsd }: Pick<DexItem, 'dex_name' | 'tvl_usd'>,
  days: number,
): Promise<DexDay[]> {
  const lastDay = slotOf(head.timestamp, DAY_SECONDS);
  const startTime = await findBlockTime(runner, chainId, head, head.startBlock);
  const firstIndexedDay = startTime === null ? 0 : slotOf(startTime, DAY_SECONDS);
  const firstDay = Math.max(lastDay - (days - 1) * DAY_SECONDS, firstIndexedDay);
  const [rows, pastTvl] = await Promise.all([
    listDexDays(runner, chainId, head, { since: firstDay - 1, until: head.timestamp }),
    readTvlDays(runner, firstDay, lastDay),
  ]);
  const tvlOf = (day: number): number | null => (day === lastDay ? tvlUsd : pastTvl.tvlOf(dex, day));
  return toDexHistory(rows, dex, { firstDay, lastDay, tvlOf });
}
