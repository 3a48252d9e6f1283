/**
 * Whether views made of stored rows what they should have: an engine that is killed between the token of an insert and its rows
 * takes the rows of a view for stored ever after. What a view lost is made anew of the table that it reads.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { z } from 'zod';

import type { Database } from '../../clickhouse/client/database';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { selectMade } from '../../clickhouse/client/namedQueries';
import { wideIntegerShape } from '../../clickhouse/rows/rowShapes';
import { toOrd } from '../../domain/ord';
import { TIMEFRAME_SECONDS } from '../../domain/timeframes';
import type { Floors } from '../store/retention';
import { exchange, rebuildViews, type RebuildOptions } from './viewRebuild';

/** What is under way in the engine is given so many times so long to end before anything is made anew. */
const SETTLE_TIMES = 3;
const SETTLE_MS = 1_000;

/** A target of a view that does not hold what its source comes to. */
export interface WrongTotal {
  /** Name of the view's table; bars have their length in seconds behind it. */
  readonly name: string;
  readonly source: EventTableName;
  /** Swaps, or the newest ord of the range. */
  readonly expected: number;
  readonly found: number;
}

export interface Mending extends RebuildOptions {
  /** Called before a table is rebuilt. */
  readonly onLost?: (lost: WrongTotal) => void;
  /** Told of what was made anew. */
  readonly onMended?: (lost: WrongTotal) => void;
}

const totalShape = z.object({ name: z.string(), total: wideIntegerShape });
const seenShape = z.object({ name: z.string(), expected: wideIntegerShape, found: wideIntegerShape });

interface OrdRange {
  readonly fromOrd: number;
  readonly toOrd: number;
}

/** The first of the aggregates over swaps that is wrong; null: none is. Bars outlive the swaps that were dropped on purpose. */
export async function findWrongTotal(database: Database, floors: Floors): Promise<WrongTotal | null> {
  const floor = floors.get('swaps');
  const swaps =
    floor === undefined
      ? 'SELECT count() FROM swaps'
      : `SELECT (SELECT count() FROM swaps WHERE ord >= ${toOrd(floor, 0)}) + sum(dropped) FROM (
           SELECT any(counts['swaps']) AS dropped FROM promotions WHERE status = 'done' AND to_block < ${floor}
           GROUP BY chain_id, from_block, to_block, to_hash)`;
  const totals = await selectMade(
    database,
    'audit aggregates',
    `SELECT 'swaps' AS name, (${swaps}) AS total
     UNION ALL SELECT concat('bars ', toString(timeframe)), sum(trades) FROM bars GROUP BY timeframe
     UNION ALL SELECT 'dex_hours', sum(trades) FROM dex_hours
     UNION ALL SELECT 'pair_totals', sum(trades) FROM pair_totals`,
    {},
    totalShape,
  );
  const found = new Map(totals.map(({ name, total }) => [name, Number(total)]));
  const expected = found.get('swaps') ?? 0;
  if (expected === 0) return null;
  // A timeframe that has no bar at all has no row here.
  const names = [
    ...Object.values(TIMEFRAME_SECONDS).map((seconds) => `bars ${seconds}`),
    'dex_hours',
    'pair_totals',
  ];
  const wrong = names.find((name) => (found.get(name) ?? 0) !== expected);
  return wrong === undefined
    ? null
    : { name: wrong, source: 'swaps', expected, found: found.get(wrong) ?? 0 };
}

/** Views that keep the newest ord of what they saw: target, where it has that ord, source and what it takes of it. */
const NEWEST: readonly (readonly [target: string, ord: string, source: EventTableName, where: string])[] = [
  ['token_bars', 'greatest(last.1, other_ord)', 'swaps', 'tracked'],
  ['token_balances', 'last_ord', 'transfers', 'true'],
  ['holder_balances', 'last_ord', 'transfers', 'true'],
  ['owner_positions', 'last_ord', 'position_events', "kind = 'transfer'"],
  ['pool_latest', 'state.1', 'pool_states', 'true'],
  ['pool_balances', 'state.1', 'pool_states', 'notEmpty(balances)'],
  ['token_price_latest', 'price.1', 'token_prices', 'true'],
];

/** The first view that has seen nothing of the newest rows of a range; null: none. Of a range behind which others are stored it tells nothing. */
export async function findUnseen(database: Database, range: OrdRange): Promise<WrongTotal | null> {
  const each = NEWEST.map(
    ([target, ord, source, where]) =>
      `SELECT '${target}' AS name,
         (SELECT max(ord) FROM ${source} WHERE ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64} AND ${where}) AS expected,
         (SELECT max(${ord}) FROM ${target}) AS found`,
  );
  const rows = await selectMade(
    database,
    'audit views',
    each.join(' UNION ALL '),
    { from_ord: range.fromOrd, to_ord: range.toOrd },
    seenShape,
  );
  for (const [name, , source] of NEWEST) {
    const row = rows.find((one) => one.name === name);
    const [expected, found] = [Number(row?.expected ?? 0), Number(row?.found ?? 0)];
    if (found < expected) return { name, source, expected, found };
  }
  return null;
}

/**
 * Makes anew what views lost, a range that was just stored in mind. What is still wrong then, or cannot be made (on several
 * servers, or of rows that were dropped on purpose), is returned.
 */
export async function mendViews(
  database: Database,
  range: OrdRange,
  floors: Floors,
  mending: Mending,
): Promise<WrongTotal | null> {
  const look = async (): Promise<WrongTotal | null> =>
    (await findWrongTotal(database, floors)) ?? (await findUnseen(database, range));
  let wrong = await look();
  // A statement of a process that is gone may be about to end.
  for (let time = 0; wrong !== null && time < SETTLE_TIMES; time += 1) {
    await delay(SETTLE_MS);
    wrong = await look();
  }
  const mended = new Set<EventTableName>();
  while (wrong !== null && !mended.has(wrong.source)) {
    const { source } = wrong;
    if (database.cluster !== null || floors.has(source)) return wrong;
    mending.onLost?.(wrong);
    await exchange(database, await rebuildViews(database, source, source, mending));
    mended.add(source);
    mending.onMended?.(wrong);
    wrong = await look();
  }
  return wrong;
}
