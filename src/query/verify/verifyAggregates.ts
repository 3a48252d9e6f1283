/**
 * Recomputes transfers, events, bars and rollups from stored logs and events, day by day. Lists differences from the
 * stored rows. Also checks blocks and their links.
 */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { text, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { TIMEFRAME_SECONDS } from '../../domain/timeframes';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';

/** A row or value that only one of two compared sources has. */
interface Difference {
  /** The compared item, for example `bars timeframe=60 pair=0x… time=1700000000`. */
  readonly item: string;
  /** The table that has this row or value; the other source does not. */
  readonly only_in: string;
  readonly value: string;
}

const differenceRow = rowType({ item: text, only_in: text, value: text });
/** A row of list_days.sql. */
const dayRow = rowType({ day: u64, first_block: u32, last_block: u32 });

interface VerifyRange {
  readonly chainId: number;
  /** First block of the compared days. */
  readonly from: number;
  readonly to: number;
  /** Last block in the final tables. */
  readonly finalTo: number;
  /**
   * The wrapped native token, whose Deposits and Withdrawals are transfers. If absent, Deposits and Withdrawals are
   * not compared.
   */
  readonly wrappedNative?: Hex | null;
  /** First block from which on all logs are stored. Earlier logs are not compared. If absent, all are. */
  readonly logsFrom?: number;
  /** Whether retention dropped swaps before `from`. If so, totals over all swaps are not compared. */
  readonly pruned?: boolean;
}

const PAIR_TOTALS_QUERY = 'verify/diff_pair_totals';
const TRANSFERS_QUERY = 'verify/diff_transfers';

/** Rollups over all rows. They are compared once, not day by day. */
const WHOLE_QUERIES = [
  PAIR_TOTALS_QUERY,
  'verify/diff_pool_latest',
  'verify/diff_pool_balances',
  'verify/diff_token_price_latest',
  'verify/diff_token_balances',
  'verify/diff_holder_balances',
  'verify/diff_owner_positions',
];

const DAY_QUERIES = [
  'verify/diff_blocks',
  'verify/diff_events',
  'verify/diff_bars',
  'verify/diff_dex_hours',
  'verify/diff_token_bars',
  TRANSFERS_QUERY,
];

/** All differences, at most 100 per table and day. Calls `onDay` after each day. */
export async function verifyAggregates(
  runner: QueryRunner,
  { chainId, from, to, finalTo, wrappedNative = null, logsFrom = 0, pruned = false }: VerifyRange,
  onDay: (day: number, blocks: number) => void,
): Promise<Difference[]> {
  const range = { chain: chainId, from, to, final_to: finalTo };
  const days = await runner.run('verify/list_days', range, dayRow);
  const differences: Difference[] = [];
  for (const { day, first_block, last_block } of days) {
    const params = {
      chain: chainId,
      day,
      first_block,
      last_block,
      first_ord: toOrd(first_block, 0),
      last_ord: lastOrdOfBlock(last_block),
      wrapped: wrappedNative?.slice(2) ?? '',
      logs_from: logsFrom,
      timeframes: Object.values(TIMEFRAME_SECONDS),
    };
    for (const name of DAY_QUERIES) {
      if (first_block < logsFrom && name === TRANSFERS_QUERY) continue;
      differences.push(...(await runner.run(name, params, differenceRow)));
    }
    onDay(day, last_block - first_block + 1);
  }
  for (const name of WHOLE_QUERIES) {
    if (pruned && name === PAIR_TOTALS_QUERY) continue;
    differences.push(...(await runner.run(name, {}, differenceRow)));
  }
  return differences;
}
