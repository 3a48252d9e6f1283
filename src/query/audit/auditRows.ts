/**
 * Runs the queries of an audit: routes, hops, pools, their states and epochs, all as of one block of the snapshot's
 * chain.
 */
import { z } from 'zod';

import type { QueryParams } from '../../clickhouse/client/database';
import type { QueryRunner } from '../../clickhouse/client/namedQueries';
import { epochShape } from '../../clickhouse/rows/rowShapes';
import type { Hex } from '../../domain/hex';
import { blockOfOrd, lastOrdOfBlock, toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { EPOCH_BLOCKS, epochOf, epochStart } from '../../pricing/epoch';
import { poolTypeShape } from '../../wire/primitives';
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

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));

const timeRowShape = z.object({ number: z.int(), timestamp: z.int() });

export const routeRowShape = z.object({
  token: hex,
  next_token: hex,
  hops: z.int(),
  hop_confidence: z.number(),
  other_depth_usd: z.number(),
  recent: z.boolean(),
  stale: z.boolean(),
  pairs: z.array(hex),
  legs: z.array(z.int()),
  weights: z.array(z.number()),
  warnings: z.array(z.string()),
});
export type RouteRow = z.infer<typeof routeRowShape>;

const hopRowShape = z.object({
  token: hex,
  next_token: hex,
  hop_price: z.number(),
  hop_confidence: z.number(),
  hop_cap: z.number(),
});
type AuditHopRow = z.infer<typeof hopRowShape>;

const poolRowShape = z.object({
  address: hex,
  dex: z.string(),
  pool_type: poolTypeShape,
  token0: hex,
  token1: hex,
  tokens: z.array(hex),
  weights: z.array(z.string()),
  fee_pips: z.int(),
});
export type AuditPoolRow = z.infer<typeof poolRowShape>;

export const epochRowShape = epochShape.extend({ at_ord: z.string() });
export type EpochRow = z.infer<typeof epochRowShape>;

const stateRowShape = z.object({
  pair: hex,
  at_ord: z.string(),
  reserve0: z.string(),
  reserve1: z.string(),
  liquidity: z.string(),
  price: z.number(),
  balances: z.array(z.string()),
  doubts: z.int(),
  unswapped: z.array(z.number()),
  walked_liquidity: z.number(),
  near0: z.number(),
  near1: z.number(),
});
export type AuditStateRow = z.infer<typeof stateRowShape>;

const tradeRowShape = z.object({ pair: hex, leg: z.int(), at_ord: z.string(), amount1: z.string() });
export type TradeRow = z.infer<typeof tradeRowShape>;

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
  const base = Math.max(epochStart(number) - 1, head.startBlock);
  const times = new Map(head.blocks.map((block) => [block.number, block.timestamp]));
  const final = [number, base].filter((wanted) => wanted <= head.finalTo);
  if (final.length > 0) {
    const params = { chain_id: chainId, numbers: final };
    for (const row of await runner.run('audit/list_block_times', params, timeRowShape))
      times.set(row.number, row.timestamp);
  }
  const timestamp = times.get(number);
  const epochTime = times.get(base);
  if (timestamp === undefined || epochTime === undefined)
    throw new AppError('not_found', `block ${number} is not indexed`);
  const old = await findFinalBlockAt(runner, chainId, head, epochTime - LOOKBACK_SECONDS);
  return {
    number,
    timestamp,
    isFinal: number <= head.finalNumber,
    epochTime,
    afterOrd: old === null ? 0 : lastOrdOfBlock(old.number),
  };
}

export interface AuditReader {
  listRoutes(tokens: readonly Hex[]): Promise<RouteRow[]>;
  listHops(tokens: readonly Hex[]): Promise<AuditHopRow[]>;
  listPools(pairs: readonly Hex[]): Promise<AuditPoolRow[]>;
  /** Newest records as of the first block of the epoch, none older than `afterOrd`. */
  listEpochs(pairs: readonly Hex[], afterOrd: number): Promise<EpochRow[]>;
  /** Newest states in the running epoch and in the given epochs. */
  listStates(pairs: readonly Hex[], epochs: readonly number[]): Promise<AuditStateRow[]>;
  /** Newest states of the pools, however old. */
  listOlderStates(pairs: readonly Hex[]): Promise<AuditStateRow[]>;
  /** Swaps since the epoch began, in order. */
  listTrades(pairs: readonly Hex[]): Promise<TradeRow[]>;
}

type Named = { readonly [Field in 'tokens' | 'pairs']?: readonly Hex[] };

/** Makes the queries of an audit. They read as of the end of the block `number` of the snapshot's chain. */
export function createAuditReader(runner: QueryRunner, head: HeadSnapshot, number: number): AuditReader {
  const { read, readBoth } = createStatements(runner, head, number);
  const first = epochStart(number);
  const epochOrd = { epoch_ord: lastOrdOfBlock(first) };
  const listHops = (tokens: readonly Hex[], fromOrd: number): Promise<AuditHopRow[]> =>
    readBoth(['audit/list_hops', 'audit/list_head_hops'], { tokens }, hopRowShape, ({ token }) => token, {
      from_ord: fromOrd,
    });
  return {
    listRoutes: (tokens) =>
      readBoth(
        ['audit/list_routes', 'audit/list_head_routes'],
        { tokens },
        routeRowShape,
        ({ token }) => token,
      ),
    async listHops(tokens) {
      // A token whose pools trade has a stored hop from the last day, so only the last day is read first.
      // Reading all hops would take long; only tokens without a recent hop need it.
      const from = Math.max(0, toOrd(number - RECENT_BLOCKS, 0));
      const recent = await listHops(tokens, from);
      if (from === 0 || recent.length === new Set(tokens).size) return recent;
      const found = new Set(recent.map(({ token }) => token));
      const older = await listHops(
        tokens.filter((token) => !found.has(token)),
        0,
      );
      return [...recent, ...older];
    },
    listPools: (pairs) => read('audit/list_pools', { pairs }, poolRowShape),
    listEpochs: (pairs, afterOrd) =>
      readBoth(
        ['audit/list_epochs', 'audit/list_head_epochs'],
        { pairs },
        epochRowShape,
        ({ pair, leg }) => `${pair}/${leg}`,
        {
          ...epochOrd,
          after_ord: afterOrd,
        },
      ),
    listStates: (pairs, epochs) =>
      readBoth(
        ['audit/list_states', 'audit/list_head_states'],
        { pairs },
        stateRowShape,
        ({ pair }) => pair,
        {
          epochs: [...new Set([...epochs, epochOf(number)])],
        },
      ),
    listOlderStates: (pairs) => read('audit/list_older_states', { pairs }, stateRowShape),
    listTrades: (pairs) =>
      read('audit/list_trades', { pairs }, tradeRowShape, { from_ord: toOrd(first, 0), limit: TRADES_MAX }),
  };
}

interface Statements {
  /** Rows of the named tokens or pairs. Runs no statement if the list of names is empty. */
  read<Row>(name: string, named: Named, shape: z.ZodType<Row>, extra?: QueryParams): Promise<Row[]>;
  /**
   * Reads head rows and final rows; head rows replace final rows of the same key. Two plain statements cost less than
   * one statement with a UNION.
   */
  readBoth<Row>(
    names: readonly [finalName: string, headName: string],
    named: Named,
    shape: z.ZodType<Row>,
    keyOf: (row: Row) => string,
    extra?: QueryParams,
  ): Promise<Row[]>;
}

function createStatements(runner: QueryRunner, head: HeadSnapshot, number: number): Statements {
  const chain: QueryParams = {
    ...snapshotParams(chainUpTo(head, number)),
    tip_ord: lastOrdOfBlock(number),
    limit: ROWS_MAX,
  };
  const inHead = number > head.finalTo;
  const read: Statements['read'] = async (name, named, shape, extra = {}) => {
    const params: Record<string, QueryParams[string]> = { ...chain, ...extra };
    for (const [field, addresses] of Object.entries(named)) {
      if (addresses.length === 0) return [];
      params[field] = [...new Set(addresses)].map((address) => address.slice(2));
    }
    return runner.run(name, params, shape);
  };
  return {
    read,
    async readBoth([finalName, headName], named, shape, keyOf, extra = {}) {
      const [final, newer] = await Promise.all([
        read(finalName, named, shape, extra),
        inHead ? read(headName, named, shape, extra) : [],
      ]);
      return [...new Map([...final, ...newer].map((row) => [keyOf(row), row])).values()];
    },
  };
}

/** The epoch of a record. The row is stored with the first block after the epoch. */
export function epochOfRecord(row: EpochRow): number {
  return epochOf(blockOfOrd(Number(row.at_ord)) - EPOCH_BLOCKS);
}

export function epochOfState(row: AuditStateRow): number {
  return epochOf(blockOfOrd(Number(row.at_ord)));
}
