/** Builds the table of all DEXes and the totals of the market, once per head version. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { nullable, text, u32 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { DexItem } from '../../wire/dexes';
import { findOrdAt } from '../head/blockTimes';
import { listDexDays, type DexDayRow } from './dexDays';
import { toDexItems, type DexFacts, type DexTraders } from './dexItem';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { PairTable, PairTables } from '../pairs/pairTable';
import { perVersion, type PerVersion } from '../head/perVersion';
import { distinctMakers } from '../pairs/rankings';

const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 604_800;
/** Limit for safety: more DEXes than any chain has. */
const DEXES_MAX = 10_000;

/** A row of count_traders.sql: a null `dex` stands for all DEXes together. */
const tradersRow = rowType({ dex: nullable(text), traders: u32, trades: u32 });

export interface DexTable {
  /** The DEXes by volume descending, then by name. */
  readonly items: readonly DexItem[];
  /** Distinct makers of the last 24 hours over all DEXes; null if no sender is known. */
  readonly traders: number | null;
  /** Swaps of the last 24 hours over all DEXes. */
  readonly trades: number;
  /** USD volume from 48 to 24 hours ago. */
  readonly volumeBefore: number;
}

export type DexTables = PerVersion<DexTable>;

export function createDexTables(
  runner: QueryRunner,
  chainId: number,
  dexes: readonly DexFacts[],
  pairs: PairTables,
): DexTables {
  return perVersion({
    read: async (head) => readDexTable(runner, chainId, head, dexes, await pairs.at(head)),
  });
}

export async function readDexTable(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  dexes: readonly DexFacts[],
  pairs: PairTable,
): Promise<DexTable> {
  const now = head.timestamp;
  const [traders, weekRows, dayBeforeRows] = await Promise.all([
    countTraders(runner, chainId, head),
    listDexDays(runner, chainId, head, { since: now - WEEK_SECONDS, until: now }),
    listDexDays(runner, chainId, head, { since: now - 2 * DAY_SECONDS, until: now - DAY_SECONDS }),
  ]);
  const allDexes = traders.find((row) => row.dex === null) ?? { traders: 0, trades: 0 };
  const volumeBefore = sumVolumes(dayBeforeRows);
  return {
    items: toDexItems(dexes, pairs.entries, {
      traders,
      weekVolumes: sumVolumes(weekRows),
      dayBeforeVolumes: volumeBefore,
    }),
    traders: distinctMakers(allDexes.traders, allDexes.trades),
    trades: allDexes.trades,
    volumeBefore: [...volumeBefore.values()].reduce((sum, volume) => sum + volume, 0),
  };
}

async function countTraders(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
): Promise<readonly DexTraders[]> {
  const params = {
    ...snapshotParams(head),
    after_ord: await findOrdAt(runner, chainId, head, head.timestamp - DAY_SECONDS),
    now: head.timestamp,
    limit: DEXES_MAX,
  };
  return runner.run('dexes/count_traders', params, tradersRow);
}

/** USD volume by DEX. DEXes without swaps are missing. */
function sumVolumes(rows: readonly DexDayRow[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(row.dex, (sums.get(row.dex) ?? 0) + row.volume_usd);
  return sums;
}
