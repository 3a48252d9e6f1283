/**
 * The view check: finds materialized views that lack rows of their source tables, and rebuilds them.
 * ClickHouse stores the deduplication token of an insert before it fills the views. If ClickHouse is killed
 * in between, the views lack these rows. A repeated insert does not add the rows, because its token is
 * already stored.
 */
import type { Database } from '../../clickhouse/client/database';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { selectMade } from '../../clickhouse/client/namedQueries';
import { countSql } from '../../clickhouse/client/queryText';
import { nullable, text, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import { toOrd } from '../../domain/ord';
import { TIMEFRAME_SECONDS } from '../../domain/timeframes';
import type { Floors } from '../store/retention';
import { exchangeMended, rebuildViews, type RebuildOptions } from './viewRebuild';

/** A table filled by a view, with a total that does not match the source table. */
interface WrongTotal {
  /** Name of the table. For bars, the name is followed by the timeframe in seconds. */
  readonly name: string;
  readonly source: EventTableName;
  /**
   * The value that follows from the source table: a number of swaps, or the newest position (`ord`) of the range.
   */
  readonly expected: number;
  readonly found: number;
}

export interface Mending extends RebuildOptions {
  readonly onLost?: (lost: WrongTotal) => void;
  /** Called before a rebuild, and before its tables are exchanged. Throws if a newer writer has claimed the database. */
  readonly checkWriter?: (() => Promise<void>) | undefined;
  /** A number that no other writer has. */
  readonly writer?: number | undefined;
  /** Called after each rebuild of a table. */
  readonly onMended?: (lost: WrongTotal) => void;
}

// ClickHouse types the value of each subquery as nullable.
const totalRow = rowType({ name: text, total: nullable(u64) });
const newestOrdRow = rowType({ name: text, expected: nullable(u64), found: nullable(u64) });

interface OrdRange {
  readonly fromOrd: number;
  readonly toOrd: number;
}

/**
 * Finds the first aggregate over swaps with a wrong count; null if all are right. Bars still contain swaps
 * that retention deleted from `swaps`, so the counts of the deleted ranges are added.
 */
export async function findWrongTotal(database: Database, floors: Floors): Promise<WrongTotal | null> {
  const floor = floors.get('swaps');
  const swaps =
    floor === undefined
      ? 'SELECT count() FROM swaps'
      : `SELECT ${countSql('swaps', `ord >= ${toOrd(floor, 0)}`)} + sum(dropped) FROM (
           SELECT any(counts['swaps']) AS dropped FROM promotions WHERE status = 'done' AND to_block < ${floor}
           GROUP BY chain_id, from_block, to_block, to_hash)`;
  const totals = await selectMade(
    database,
    'check totals',
    `SELECT 'swaps' AS name, (${swaps}) AS total
     UNION ALL SELECT concat('bars ', toString(timeframe)), sum(trades) FROM bars GROUP BY timeframe
     UNION ALL SELECT 'dex_hours', sum(trades) FROM dex_hours
     UNION ALL SELECT 'pair_totals', sum(trades) FROM pair_totals`,
    {},
    totalRow,
  );
  const totalByName = new Map(totals.map(({ name, total }) => [name, total ?? 0]));
  const expected = totalByName.get('swaps') ?? 0;
  if (expected === 0) return null;
  // A timeframe without any bar has no row in `totals`.
  const names = [
    ...Object.values(TIMEFRAME_SECONDS).map((seconds) => `bars ${seconds}`),
    'dex_hours',
    'pair_totals',
  ];
  const wrongName = names.find((name) => (totalByName.get(name) ?? 0) !== expected);
  return wrongName === undefined
    ? null
    : { name: wrongName, source: 'swaps', expected, found: totalByName.get(wrongName) ?? 0 };
}

/**
 * Views that keep the newest position (`ord`) per key: target table, SQL expression of the position, source
 * table, and the filter that the view applies to the source.
 */
const NEWEST_ORD_VIEWS: readonly (readonly [
  target: string,
  ord: string,
  source: EventTableName,
  where: string,
])[] = [
  ['token_bars', 'greatest(last.1, other_ord)', 'swaps', 'tracked'],
  ['token_balances', 'last_ord', 'transfers', 'true'],
  ['holder_balances', 'last_ord', 'transfers', 'true'],
  ['owner_positions', 'last_ord', 'position_events', "kind = 'transfer'"],
  ['pool_latest', 'state.1', 'pool_states', 'true'],
  ['pool_balances', 'state.1', 'pool_states', '(notEmpty(balances) OR doubts > 0)'],
  ['token_price_latest', 'price.1', 'token_prices', 'true'],
];

/**
 * Finds the first view that lacks the newest rows of the range; null if none does. Only valid for the newest
 * stored range.
 */
async function findOutdatedView(database: Database, range: OrdRange): Promise<WrongTotal | null> {
  const selects = NEWEST_ORD_VIEWS.map(
    ([target, ord, source, where]) =>
      `SELECT '${target}' AS name,
         (SELECT max(ord) FROM ${source} WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64} AND ${where}) AS expected,
         (SELECT max(${ord}) FROM ${target}) AS found`,
  );
  const rows = await selectMade(
    database,
    'check newest rows',
    selects.join(' UNION ALL '),
    { from_ord: range.fromOrd, to_ord: range.toOrd },
    newestOrdRow,
  );
  for (const [name, , source] of NEWEST_ORD_VIEWS) {
    const row = rows.find((candidate) => candidate.name === name);
    const [expected, storedOrd] = [row?.expected ?? 0, row?.found ?? 0];
    if (storedOrd < expected) return { name, source, expected, found: storedOrd };
  }
  return null;
}

/**
 * Rebuilds the tables of views that lost rows. Returns a total that is still wrong, or that cannot be
 * rebuilt. On a cluster, nothing can be rebuilt. A source table with pruned rows cannot be used for a
 * rebuild.
 */
export async function mendViews(
  database: Database,
  range: OrdRange,
  floors: Floors,
  mending: Mending,
): Promise<WrongTotal | null> {
  const findWrong = async (): Promise<WrongTotal | null> =>
    (await findWrongTotal(database, floors)) ?? (await findOutdatedView(database, range));
  let wrongView = await findWrong();
  const mended = new Set<EventTableName>();
  while (wrongView !== null && !mended.has(wrongView.source)) {
    const { source } = wrongView;
    if (database.cluster !== null || floors.has(source)) return wrongView;
    mending.onLost?.(wrongView);
    await mending.checkWriter?.();
    const rebuilt = await rebuildViews(database, source, source, mending);
    // A rebuild takes minutes. The old tables have the rows of a newer writer, the rebuilt ones may lack them.
    const checkWriter = async (): Promise<void> => mending.checkWriter?.();
    await exchangeMended(database, rebuilt, mending.writer ?? 0, checkWriter);
    mended.add(source);
    mending.onMended?.(wrongView);
    wrongView = await findWrong();
  }
  return wrongView;
}
