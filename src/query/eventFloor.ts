/** How far back the newest N events of a filter reach: where a bounded replay begins. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { ActivityFilter } from './activity';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';

const ordShape = z.object({ ord: z.string() });

/**
 * The ord of the event right behind the newest `keep` events with afterOrd < ord ≤ toOrd of the snapshot's chain; null
 * when there are at most `keep`.
 */
export async function findEventFloor(
  runner: QueryRunner,
  head: HeadSnapshot,
  filter: ActivityFilter,
  range: { readonly afterOrd: number; readonly toOrd: number },
  keep: number,
): Promise<number | null> {
  const params = {
    ...snapshotParams(head),
    kinds: filter.kinds,
    pair: filter.pair?.slice(2) ?? '',
    token: filter.token?.slice(2) ?? '',
    maker: filter.maker?.slice(2) ?? '',
    after_ord: range.afterOrd,
    to_ord: range.toOrd,
    keep,
  };
  const [row] = await runner.run('head/find_event_floor', params, ordShape);
  return row === undefined ? null : Number(row.ord);
}
