/** Figures of one token over longer times, exact to the second: for its detail, not for lists. */
import { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import { WEEK_SECONDS } from '../wire/pairs';
import { findFinalTip, findOrdAt } from './blockTimes';
import { snapshotParams, type HeadSnapshot } from './headSnapshot';
import { wholeHours } from './hourWindow';

export interface TokenWindows {
  /** USD of tracked swaps. */
  readonly volumeWeek: number;
  /** After which tracked swap the token was worth most, ever; null: none has a price. */
  readonly highest: HighRow | null;
}

const volumeRowShape = z.object({ volume_usd: z.number() });
const highRowShape = z.object({ usd: z.number(), timestamp: z.int() });
type HighRow = z.infer<typeof highRowShape>;

export async function readTokenWindows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  address: string,
): Promise<TokenWindows> {
  const since = Math.max(head.timestamp - WEEK_SECONDS, 0);
  const [tip, afterOrd] = await Promise.all([
    findFinalTip(runner, chainId, head),
    findOrdAt(runner, chainId, head, since),
  ]);
  const hours = wholeHours(since, head.timestamp, tip?.timestamp ?? null);
  const params = {
    ...snapshotParams(head),
    ...hours,
    token: address.slice(2),
    since,
    after_ord: afterOrd,
    to_ord: await findOrdAt(runner, chainId, head, hours.to - 1),
  };
  const [[sum], [highest]] = await Promise.all([
    runner.run('tokens/sum_window', params, volumeRowShape),
    runner.run('tokens/find_high', params, highRowShape),
  ]);
  return { volumeWeek: sum?.volume_usd ?? 0, highest: highest ?? null };
}
