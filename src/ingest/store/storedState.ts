/**
 * Reads the stored state of the ingester: last final block, unfinished range, canonical head blocks, pools
 * and their states.
 */
import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import {
  address,
  enum8,
  hash,
  hexBytes,
  i32,
  mapOf,
  u128,
  u256,
  u32,
  u64,
} from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { headBlocksTable, poolsTable, type PoolRow } from '../../clickhouse/schema/tables';
import { PROOF_LEVELS } from '../../domain/block';
import { foldHead } from '../../domain/head/foldHead';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import { decodeFees, listFeeChanges } from '../../protocols/registry';
import type { Cursor, HeadRows, OpenIntent, StoredState } from './store';

/**
 * Safety limit for the number of pools, and of flips (changes of the head). The ingester's memory could not
 * hold more.
 */
const ROWS_MAX = 10_000_000;

/** Columns of the table promotions that describe a range. */
export const rangeColumns = {
  seq: u64,
  kind: enum8({ start: 1, backfill: 2, promotion: 3 }),
  from_block: u32,
  to_block: u32,
  to_hash: hash,
  to_timestamp: u32,
  counts: mapOf(u64),
  proof: headBlocksTable.types.proof,
};
const rangeRow = rowType(rangeColumns);
type RangeRow = RowOf<typeof rangeRow>;
const promotionRow = rowType({ ...rangeColumns, status: enum8({ intent: 1, done: 2 }) });

const { chain_id: _, ...headColumns } = headBlocksTable.types;
const headRow = rowType(headColumns);

export const startRow = rowType({ from_block: u32 });
const versionRow = rowType({ version: u64 });

/** Returns the last block in the final tables. Null if the database has no block of the chain. */
export async function readFinalTo(database: Database, chainId: number): Promise<number | null> {
  const ranges = await listNewestRanges(database, chainId);
  return ranges.find((row) => row.status === 'done')?.to_block ?? null;
}

function listNewestRanges(database: Database, chainId: number): Promise<RowOf<typeof promotionRow>[]> {
  return selectNamed(
    database,
    'ingest/store/list_newest_ranges',
    { chain: chainId, levels: PROOF_LEVELS },
    promotionRow,
  );
}

/** The stored state without values that only a session needs. */
export type StoredHead = Omit<StoredState, 'startBlock' | 'version'>;

/** Returns the stored state. Null if the database has no block of the chain. */
export async function readStoredState(database: Database, chainId: number): Promise<StoredState | null> {
  const chain = { chain: chainId };
  const head = await readStoredHead(database, chainId);
  if (head === null) return null;
  const [start] = await selectNamed(database, 'ingest/store/find_start', chain, startRow);
  const [last] = await selectNamed(database, 'ingest/store/find_head_version', chain, versionRow);
  return { ...head, startBlock: start?.from_block ?? 1, version: last?.version ?? 0 };
}

export async function readStoredHead(database: Database, chainId: number): Promise<StoredHead | null> {
  const ranges = await listNewestRanges(database, chainId);
  const done = ranges.find((row) => row.status === 'done');
  if (done === undefined) return null;
  const cursor: Cursor = {
    seq: done.seq,
    number: done.to_block,
    hash: done.to_hash,
    timestamp: done.to_timestamp,
  };
  const begun = ranges.find((row) => row.status === 'intent' && row.seq > cursor.seq);
  const above = { chain: chainId, cursor: cursor.number };
  const rows = await selectAll(database, 'ingest/store/list_head_blocks', above, headRow, ROWS_MAX);
  const head = headOf(cursor, rows);
  return {
    cursor,
    intent: begun === undefined ? null : intentOfRow(begun),
    ...head,
    finalNumber: Math.max(cursor.number, rows.at(-1)?.final_number ?? 0),
    proof: head.head.at(-1)?.proof ?? (done.kind === 'start' ? 'none' : done.proof),
  };
}

export function intentOfRow(row: RangeRow): OpenIntent {
  return {
    seq: row.seq,
    kind: row.kind === 'promotion' ? 'promotion' : 'backfill',
    from: row.from_block,
    to: row.to_block,
    toHash: row.to_hash,
    toTimestamp: row.to_timestamp,
    counts: row.counts,
    proof: row.proof,
  };
}

/** The canonical chain above the last final block, and the commits of all stored blocks, from rows in the order of their flips. */
function headOf(
  cursor: Cursor,
  rows: readonly RowOf<typeof headRow>[],
): Pick<StoredState, 'head' | 'headMax' | 'storedTo' | 'commits'> {
  const commits = new Map<Hex, HeadRows>();
  let storedTo = cursor.number;
  const moves = rows.map(({ number, hash: own, parent_hash: parentHash, timestamp, commit, proof }) => {
    if (own === ZERO_HASH) return { canonical: [], voided: [number] };
    commits.set(own, { commit, proof });
    storedTo = Math.max(storedTo, number);
    return { canonical: [{ number, hash: own, parentHash, timestamp, commit, proof }], voided: [] };
  });
  const { blocks, topNumber } = foldHead(cursor, moves);
  return { head: blocks, headMax: topNumber, storedTo, commits };
}

const poolRow = rowType(poolsTable.types);

/** Returns the pools in final blocks, up to the given block. */
export function readPools(database: Database, finalTo: number): Promise<PoolRow[]> {
  const params = { final_ord: lastOrdOfBlock(finalTo) };
  return selectAll(database, 'ingest/store/list_pools', params, poolRow, ROWS_MAX);
}

const stateRow = rowType({
  pair: address,
  reserve0: u256,
  reserve1: u256,
  sqrt_price_x96: u256,
  liquidity: u128,
  tick: i32,
});

const feeRow = rowType({ pair: address, topic: hash, fees: hexBytes });

export async function readPoolStates(
  database: Database,
  chainId: number,
  finalTo: number,
  exact: boolean,
): Promise<Map<Hex, PoolState>> {
  const params = { final_ord: lastOrdOfBlock(finalTo) };
  const name = exact ? 'ingest/store/list_exact_states' : 'ingest/store/list_latest_states';
  const feeParams = { ...params, chain: chainId, ...listFeeChanges('two') };
  const [rows, feeRows] = await Promise.all([
    selectAll(database, name, params, stateRow, ROWS_MAX),
    selectAll(database, 'ingest/store/list_fees', feeParams, feeRow, ROWS_MAX),
  ]);
  const states = new Map<Hex, PoolState>(
    rows.map(({ pair, sqrt_price_x96: sqrtPriceX96, ...state }) => [pair, { ...state, sqrtPriceX96 }]),
  );
  for (const { pair, topic, fees: data } of feeRows) {
    const fees = decodeFees({ topics: [topic], data });
    if (fees !== null) states.set(pair, { ...(states.get(pair) ?? EMPTY_STATE), fees });
  }
  return states;
}
