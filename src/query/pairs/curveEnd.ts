/** The end of a bonding curve: the transaction that emptied it, and the pools of a DEX that got liquidity in it. */
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType } from '../../clickhouse/rows/rowType';
import { liquidityEventsTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock } from '../../domain/ord';
import { endsByTransfer } from '../../protocols/registry';
import type { PairDetail } from '../../wire/pairs';
import { snapshotParams, type HeadSnapshot } from '../head/headSnapshot';
import type { PairEntry } from './pairItem';
import { hasEnded } from './pools';

/** More rows than a block has. */
const ROWS_MAX = 1_000_000;

/** A row of list_block_moves.sql. */
const moveRow = rowType(pick(liquidityEventsTable.types, ['tx_hash', 'pair', 'kind']));

/** Null before the end. `nameOf`: the address or id of a stored pool. Undefined for a pool that never ends. */
export async function readCurveEnd(
  runner: QueryRunner,
  head: HeadSnapshot,
  entry: PairEntry,
  nameOf: (pair: Hex) => string,
): Promise<PairDetail['ended']> {
  const { pool, facts } = entry;
  if (!endsByTransfer(pool.protocol)) return undefined;
  const { state } = facts;
  if (state === null || !hasEnded(entry)) return null;
  const number = blockOfOrd(state.ord);
  const moves = await runner.run(
    'activity/list_block_moves',
    {
      ...snapshotParams(head),
      before_ord: lastOrdOfBlock(number - 1),
      last_ord: lastOrdOfBlock(number),
      limit: ROWS_MAX,
    },
    moveRow,
  );
  const end = moves.findLast(({ pair, kind }) => pair === pool.address && kind === 'burn');
  // The state of a curve that ended before the first indexed block is no event.
  if (end === undefined) return null;
  const filled = moves.filter(({ tx_hash, kind }) => tx_hash === end.tx_hash && kind === 'mint');
  return {
    block_number: number,
    timestamp: state.timestamp,
    tx_hash: end.tx_hash,
    moved_to: [...new Set(filled.map(({ pair }) => pair))].map(nameOf),
  };
}
