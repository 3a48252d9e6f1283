/**
 * Runs the queries of an audit: routes, hops, pools, their states and epochs, all as of one block of the snapshot's
 * chain.
 */
import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { pick, rowType, type RowOf, type RowType } from '../../clickhouse/rows/rowType';
import { blocksTable, poolsTable, poolStatesTable, swapsTable } from '../../clickhouse/schema/tables';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import {
  bare,
  readPriceState,
  type EpochRow,
  type TokenHopRow,
  type ReadRows,
  type RouteRow,
} from '../../market/priceState';
import { EPOCH_BLOCKS, epochOf, epochStart } from '../../pricing/epoch';
import { findFinalBlockAt } from '../head/blockTimes';
import { chainUpTo, snapshotParams, type HeadSnapshot } from '../head/headSnapshot';

/** Largest number of rows of one query; an audit needs far fewer. */
const ROWS_MAX = 10_000;
/** Largest number of swaps of one epoch in the pools of one path. */
const TRADES_MAX = 1_000_000;
/** Number of blocks in about a day, at 10 seconds per block. */
const RECENT_BLOCKS = 8_640;
/** A pool without a change for this long is in no route: 30 days, and two days more for an epoch of slow blocks. */
const LOOKBACK_SECONDS = 32 * 86_400;

const timeRow = rowType(pick(blocksTable.types, ['number', 'timestamp']));

const poolRow = rowType(
  pick(poolsTable.types, [
    ...([
      'address',
      'dex',
      'protocol',
      'pool_type',
      'token0',
      'token1',
      'tokens',
      'weights',
      'fee_pips',
    ] as const),
  ]),
);
export type AuditPoolRow = RowOf<typeof poolRow>;

const stateRow = rowType(
  pick(poolStatesTable.types, [
    ...(['pair', 'pool_type', 'ord', 'timestamp', 'reserve0', 'reserve1', 'liquidity', 'price'] as const),
    ...(['balances', 'params', 'doubts', 'unswapped', 'walked_liquidity', 'near0', 'near1'] as const),
  ]),
);
export type AuditStateRow = RowOf<typeof stateRow>;

/** A row of audit/list_trades.sql. */
const tradeRow = rowType(pick(swapsTable.types, ['pair', 'leg', 'ord', 'amount1']));
export type TradeRow = RowOf<typeof tradeRow>;

/** The block of an audit, with the facts about its epoch. */
export interface AuditBlock {
  readonly number: number;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
  readonly isFinal: boolean;
  /** The time for which the epoch's routes were made (Pricer.openEpoch), unix seconds. */
  readonly epochTime: number;
  /**
   * Position (`ord`). Pools that did not change after it are left out, because no route uses them. 0 reads all pools.
   */
  readonly afterOrd: number;
}

/**
 * Reads the block of an audit and the times of its epoch. Throws not_found for a block that is not stored.
 */
export async function getAuditBlock(
  runner: QueryRunner,
  chainId: number,
  head: HeadSnapshot,
  number: number,
): Promise<AuditBlock> {
  // Routes are made from the state at the last block before the epoch. If that block is not stored, because
  // the epoch is the first one, they are made from the first stored block.
  const baseBlock = Math.max(epochStart(number) - 1, head.startBlock);
  const timeByBlock = new Map(head.blocks.map((block) => [block.number, block.timestamp]));
  const finalNumbers = [number, baseBlock].filter((wantedNumber) => wantedNumber <= head.finalTo);
  if (finalNumbers.length > 0) {
    const params = { chain_id: chainId, numbers: finalNumbers };
    for (const row of await runner.run('audit/list_block_times', params, timeRow))
      timeByBlock.set(row.number, row.timestamp);
  }
  const timestamp = timeByBlock.get(number);
  const epochTime = timeByBlock.get(baseBlock);
  if (timestamp === undefined || epochTime === undefined)
    throw new AppError('not_found', `block ${number} is not indexed`);
  const lookbackBlock = await findFinalBlockAt(runner, chainId, head, epochTime - LOOKBACK_SECONDS);
  return {
    number,
    timestamp,
    isFinal: number <= head.finalNumber,
    epochTime,
    afterOrd: lookbackBlock === null ? 0 : lastOrdOfBlock(lookbackBlock.number),
  };
}

export interface AuditReader {
  listRoutes(tokens: readonly Hex[]): Promise<RouteRow[]>;
  listHops(tokens: readonly Hex[]): Promise<TokenHopRow[]>;
  /** Newest records as of the first block of the epoch, none older than `afterOrd`. */
  listEpochs(pairs: readonly Hex[], afterOrd: number): Promise<EpochRow[]>;
  listPools(pairs: readonly Hex[]): Promise<AuditPoolRow[]>;
  /** Newest states in the running epoch and in the given epochs. */
  listStates(pairs: readonly Hex[], epochs: readonly number[]): Promise<AuditStateRow[]>;
  /** Newest states of the pools, however old. */
  listOlderStates(pairs: readonly Hex[]): Promise<AuditStateRow[]>;
  /** Swaps since the epoch began, in order. */
  listTrades(pairs: readonly Hex[]): Promise<TradeRow[]>;
}

/** Makes the queries of an audit. They read as of the end of the block `blockNumber` of the snapshot's chain. */
export function createAuditReader(runner: QueryRunner, head: HeadSnapshot, blockNumber: number): AuditReader {
  const tipOrd = lastOrdOfBlock(blockNumber);
  const chainParams = { ...snapshotParams(chainUpTo(head, blockNumber)), tip_ord: tipOrd, limit: ROWS_MAX };
  const readRows: ReadRows = (name, params, row) => runner.run(name, { ...chainParams, ...params }, row);
  const readPairs = async <Row>(
    name: string,
    pairs: readonly Hex[],
    row: RowType<Row>,
    extra: QueryParams = {},
  ): Promise<Row[]> => (pairs.length === 0 ? [] : readRows(name, { pairs: bare(pairs), ...extra }, row));
  const epochFirst = epochStart(blockNumber);
  const priceState = readPriceState(readRows, { toOrd: tipOrd, epochOrd: lastOrdOfBlock(epochFirst) });
  return {
    ...priceState,
    async listHops(tokens) {
      // A token whose pools trade has a stored hop from the last day, so only the last day is read first.
      // Reading all hops would take long; only tokens without a recent hop need it.
      const recentFromOrd = Math.max(0, toOrd(blockNumber - RECENT_BLOCKS, 0));
      const recentHops = await priceState.listHops(tokens, recentFromOrd);
      const recentTokens = new Set(recentHops.map(({ token }) => token));
      const otherTokens = tokens.filter((token) => !recentTokens.has(token));
      return recentFromOrd === 0 ? recentHops : [...recentHops, ...(await priceState.listHops(otherTokens))];
    },
    listPools: (pairs) => readPairs('audit/list_pools', pairs, poolRow),
    listStates: (pairs, epochs) =>
      readPairs('audit/list_states', pairs, stateRow, {
        epochs: [...new Set([...epochs, epochOf(blockNumber)])],
      }),
    listOlderStates: (pairs) => readPairs('audit/list_states', pairs, stateRow, { older: true }),
    listTrades: (pairs) =>
      readPairs('audit/list_trades', pairs, tradeRow, { from_ord: toOrd(epochFirst, 0), limit: TRADES_MAX }),
  };
}

/** The epoch of a record. The row is stored with the first block after the epoch. */
export function epochOfRecord(row: EpochRow): number {
  return epochOf(blockOfOrd(row.ord) - EPOCH_BLOCKS);
}

export function epochOfState(row: AuditStateRow): number {
  return epochOf(blockOfOrd(row.ord));
}
