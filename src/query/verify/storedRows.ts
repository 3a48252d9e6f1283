/** Reads the stored rows of a range of blocks that follow directly from the blocks: blocks, logs and swaps. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import {
  address,
  hash,
  hexBytes,
  i256,
  i32,
  lowText,
  nullable,
  u128,
  u16,
  u256,
  u32,
  u64,
  u8,
} from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { blocksTable, type BlockRow } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

const blockRow = rowType(blocksTable.types);
const swapRow = rowType({
  ord: u64,
  pair: address,
  dex: lowText,
  tx_hash: hash,
  tx_index: u32,
  maker: nullable(address),
  leg: u16,
  token0: address,
  token1: address,
  sender: address,
  recipient: address,
  amount0: i256,
  amount1: i256,
  sqrt_price_x96: u256,
  liquidity: u128,
  tick: i32,
  fee_pips: u32,
});
const logRow = rowType({
  ord: u64,
  timestamp: u32,
  address,
  topic_count: u8,
  topic0: hash,
  topic1: hash,
  topic2: hash,
  topic3: hash,
  data: hexBytes,
  tx_hash: hash,
  tx_index: u32,
});

export type StoredSwap = RowOf<typeof swapRow>;

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
  readonly blocks: readonly BlockRow[];
  readonly logs: readonly ComparedLog[];
  readonly swaps: readonly StoredSwap[];
}

interface RowsRange {
  readonly from: number;
  readonly to: number;
  /**
   * Number of logs that the blocks have. Each query reads at most twice this number of rows, plus MORE_ROWS.
   */
  readonly logCount: number;
}

/** Added to the limit of each query, for the rows of the blocks themselves and for surplus rows. */
const SPARE_ROWS = 10_000;

export async function readStoredRows(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  { from, to, logCount }: RowsRange,
): Promise<StoredRows> {
  const params = {
    ...snapshotParams(head),
    chain: chainId,
    from,
    to,
    final_to: head.finalTo,
    from_ord: toOrd(from, 0),
    to_ord: lastOrdOfBlock(to),
    limit: 2 * logCount + SPARE_ROWS,
  };
  const [blocks, rows, swaps] = await Promise.all([
    runner.run('verify/list_stored_blocks', params, blockRow),
    runner.run('verify/list_stored_logs', params, logRow),
    runner.run('verify/list_stored_swaps', params, swapRow),
  ]);
  return { blocks, logs: rows.map(logOf), swaps };
}

function logOf({ topic_count, topic0, topic1, topic2, topic3, ...row }: RowOf<typeof logRow>): ComparedLog {
  return { ...row, topics: [topic0, topic1, topic2, topic3].slice(0, topic_count) };
}
