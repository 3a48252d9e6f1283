/** Reads the stored rows of a range of blocks that follow directly from the blocks: blocks, logs and swaps. */
import { z } from 'zod';

import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import type { RowReader } from '../../clickhouse/rows/rowReader';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const textOrNull = z.string().nullable();
const blockShape = z.object({
  number: z.int(),
  hash: z.string(),
  parent_hash: z.string(),
  timestamp: z.int(),
  base_fee: textOrNull,
  transaction_count: z.int(),
  log_count: z.int(),
  gas_prices: z.array(z.string()),
  gas_used: z.array(z.string()),
});
export type StoredBlock = z.infer<typeof blockShape>;

const swapShape = z.object({
  ord: z.string().transform(Number),
  pair: z.string(),
  dex: z.string(),
  tx_hash: z.string(),
  tx_index: z.int(),
  maker: textOrNull,
  sender: z.string(),
  recipient: z.string(),
  amount0: z.string(),
  amount1: z.string(),
  sqrt_price_x96: z.string(),
  liquidity: z.string(),
  tick: z.int(),
});
export type StoredSwap = z.infer<typeof swapShape>;

export interface ComparedLog {
  readonly ord: number;
  readonly timestamp: number;
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly tx_hash: Hex;
  readonly tx_index: number;
}

export interface StoredRows {
  readonly blocks: readonly StoredBlock[];
  readonly logs: readonly ComparedLog[];
  readonly swaps: readonly StoredSwap[];
}

interface RowsRange {
  readonly from: number;
  readonly to: number;
  /**
   * Number of logs that the blocks have. Each query reads at most twice this number of rows, plus MORE_ROWS.
   */
  readonly logs: number;
}

/** Added to the limit of each query, for the rows of the blocks themselves and for surplus rows. */
const MORE_ROWS = 10_000;
const TOPICS_MAX = 4;

export async function readStoredRows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { from, to, logs }: RowsRange,
): Promise<StoredRows> {
  const params = {
    ...snapshotParams(head),
    chain: chainId,
    from,
    to,
    final_to: head.finalTo,
    from_ord: toOrd(from, 0),
    to_ord: lastOrdOfBlock(to),
    limit: 2 * logs + MORE_ROWS,
  };
  const [blocks, rows, swaps] = await Promise.all([
    runner.run('verify/list_stored_blocks', params, blockShape),
    runner.read('verify/list_stored_logs', params, readLog),
    runner.run('verify/list_stored_swaps', params, swapShape),
  ]);
  return { blocks, logs: rows, swaps };
}

/** Columns in the order of the query. */
function readLog(row: RowReader): ComparedLog {
  const [ord, timestamp, address, count] = [row.u64(), row.u32(), row.hex0x(20), row.u8()];
  const words = Array.from({ length: TOPICS_MAX }, () => row.hex0x(32));
  const data = row.text0x();
  return {
    ord,
    timestamp,
    address,
    topics: words.slice(0, count),
    data,
    tx_hash: row.hex0x(32),
    tx_index: row.u32(),
  };
}
