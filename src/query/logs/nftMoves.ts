/**
 * Finds ERC-721 transfers of one address over all contracts. Transfer is the most common topic, and only logs with four
 * topics are NFT transfers, so the search goes span by span. An unfinished search returns null, never a short list.
 */
import { address, array, hash, u32, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import type { HeadSnapshot } from '../head/headSnapshot';
import { ALL_LOGS, logParams, rangeOf, type LogSource } from './logFilter';
import type { StoredLog } from './logs';
import { searchSpans } from './logSpans';

/** Topic of Transfer(address,address,uint256). */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** A row of list_nft_moves.sql: an ERC-721 Transfer log. */
const moveRow = rowType({
  ord: u64,
  timestamp: u32,
  address,
  topics: array(hash),
  tx_hash: hash,
  tx_index: u32,
});

export interface MoveQuestion {
  readonly holder: Hex;
  readonly fromBlock: number;
  /** Last block; null means up to the head. */
  readonly toBlock: number | null;
  readonly newestFirst: boolean;
  /** Largest number of transfers to return, from the start of the order. */
  readonly movesWanted: number;
}

export async function listNftMoves(
  source: LogSource,
  head: HeadSnapshot,
  { holder, fromBlock, toBlock, newestFirst, movesWanted }: MoveQuestion,
): Promise<StoredLog[] | null> {
  const filter = { ...ALL_LOGS, topics: [[TRANSFER], [], [], []] as const, fromBlock, toBlock };
  const range = rangeOf(filter, head);
  if (range.from > range.to) return [];
  const params = {
    ...logParams(source.chainId, head, filter),
    topic0: TRANSFER.slice(2),
    side: holder.slice(2).padStart(64, '0'),
    newest: newestFirst,
  };
  const logByOrd = new Map<number, StoredLog>();
  const search = { newestFirst, ordsWanted: movesWanted };
  const { ords, stoppedAtOrd } = await searchSpans(
    source,
    head,
    filter,
    range,
    search,
    async (span, limit) => {
      const bounds = { from_ord: span.from, to_ord: span.to, limit };
      const rows = await source.runner.run('logs/list_nft_moves', { ...params, ...bounds }, moveRow);
      for (const row of rows) logByOrd.set(row.ord, toLog(row));
      return rows.map(({ ord }) => ord);
    },
  );
  if (stoppedAtOrd !== null && ords.length < movesWanted) return null;
  return ords.slice(0, movesWanted).flatMap((ord) => logByOrd.get(ord) ?? []);
}

function toLog({ tx_hash: txHash, tx_index: txIndex, ...rest }: RowOf<typeof moveRow>): StoredLog {
  // The token id is a topic. An NFT transfer needs no data, so no query reads the data.
  return { ...rest, data: '0x', dataBytes: 0, txHash, txIndex };
}
