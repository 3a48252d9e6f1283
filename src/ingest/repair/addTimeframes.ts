/** Adds the bars of timeframes that a new version of the program has, and the version before it had not. */
import type { Database } from '../../clickhouse/client/database';
import { selectNamed } from '../../clickhouse/client/namedQueries';
import { nameRow } from '../../clickhouse/rows/rowType';
import { TIMEFRAMES_SQL } from '../../clickhouse/schema/schema';
import { AppError } from '../../errors';
import type { Floors } from '../store/retention';
import { mendViews, type Mending } from './viewCheck';
import { listViews } from './viewRebuild';

const NO_RANGE = { fromOrd: 0, toOrd: 0 };

/**
 * Computes the bars of new timeframes from the stored swaps, then lets the views of later swaps make them too. If it is
 * interrupted, the next call starts again. The caller is the only writer, and inserts no swaps in the meantime. Throws
 * `bad_config` where the bars cannot be computed: on a cluster, and if retention deleted swaps.
 */
export async function addTimeframes(database: Database, floors: Floors, mending: Mending): Promise<void> {
  const params = { timeframes: TIMEFRAMES_SQL };
  const outdated = await selectNamed(database, 'schema/list_outdated_bar_views', params, nameRow);
  if (outdated.length === 0) return;
  const wrongView = await mendViews(database, NO_RANGE, floors, mending);
  if (wrongView !== null || database.cluster !== null)
    throw new AppError(
      'bad_config',
      'this version has timeframes that the stored bars lack, and cannot compute them on a cluster or from pruned ' +
        'swaps: ingest into an empty database',
    );
  const views = listViews('swaps').filter((view) => outdated.some(({ name }) => name === view.name));
  for (const { name, select } of views)
    await database.command('change view', `ALTER TABLE ${name} MODIFY QUERY ${select}`);
}
