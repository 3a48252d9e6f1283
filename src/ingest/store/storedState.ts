/**
 * Reads the stored state of the ingester: last final block, unfinished range, canonical head blocks, pools
 * and their states.
 */
import { z } from 'zod';

import type { Database } from '../../clickhouse/client/database';
import { selectAll, selectNamed } from '../../clickhouse/client/namedQueries';
import { countsShape, hexShape, wideIntegerShape } from '../../clickhouse/rows/rowShapes';
import { PROOF_LEVELS } from '../../clickhouse/schema/proofRanges';
import type { PoolRow } from '../../clickhouse/schema/tables';
import { foldHead } from '../../domain/head/foldHead';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock } from '../../domain/ord';
import type { PoolState } from '../../domain/pool';
import type { Cursor, HeadRows, OpenIntent, StoredState } from './store';

/**
 * Safety limit for the number of pools, and of flips (changes of the head). The ingester's memory could not
 * hold more.
 */
const ROWS_MAX = 10_000_000;

const promotionShape = z.object({
  seq: wideIntegerShape,
  status: z.enum(['intent', 'done']),
  kind: z.enum(['start', 'backfill', 'promotion']),
  from_block: z.int(),
  to_block: z.int(),
  to_hash: hexShape,
  to_timestamp: z.int(),
  counts: countsShape,
  proof: z.enum(PROOF_LEVELS),
});
type PromotionRow = z.infer<typeof promotionShape>;

const headShape = z.object({
  number: z.int(),
  hash: hexShape,
  parent_hash: hexShape,
  timestamp: z.int(),
  commit: wideIntegerShape,
  version: wideIntegerShape,
  final_number: z.int(),
  proof: z.enum(PROOF_LEVELS),
});
type HeadRow = z.infer<typeof headShape>;

export const startShape = z.object({ from_block: z.int() });
const versionShape = z.object({ version: wideIntegerShape });

/** Returns the last block in the final tables. Null if the database has no block of the chain. */
export async function readFinalTo(database: Database, chainId: number): Promise<number | null> {
  const ranges = await listNewestRanges(database, chainId);
  return ranges.find((row) => row.status === 'done')?.to_block ?? null;
}

function listNewestRanges(database: Database, chainId: number): Promise<PromotionRow[]> {
  return selectNamed(database, 'ingest/store/list_newest_ranges', { chain: chainId }, promotionShape);
}

/** Returns the stored state. Null if the database has no block of the chain. */
export async function readStoredState(database: Database, chainId: number): Promise<StoredState | null> {
  const chain = { chain: chainId };
  const ranges = await listNewestRanges(database, chainId);
  const done = ranges.find((row) => row.status === 'done');
  if (done === undefined) return null;
  const cursor: Cursor = {
    seq: Number(done.seq),
    number: done.to_block,
    hash: done.to_hash,
    timestamp: done.to_timestamp,
  };
  const begun = ranges.find((row) => row.status === 'intent' && Number(row.seq) > cursor.seq);
  const above = { ...chain, cursor: cursor.number };
  const rows = await selectAll(database, 'ingest/store/list_head_blocks', above, headShape, ROWS_MAX);
  const [start] = await selectNamed(database, 'ingest/store/find_start', chain, startShape);
  const [last] = await selectNamed(database, 'ingest/store/find_head_version', chain, versionShape);
  return {
    startBlock: start?.from_block ?? 1,
    cursor,
    intent: begun === undefined ? null : intentOfRow(begun),
    ...headOf(cursor, rows),
    version: Number(last?.version ?? 0),
    finalNumber: Math.max(cursor.number, rows.at(-1)?.final_number ?? 0),
  };
}

function intentOfRow(row: PromotionRow): OpenIntent {
  return {
    seq: Number(row.seq),
    kind: row.kind === 'promotion' ? 'promotion' : 'backfill',
    from: row.from_block,
    to: row.to_block,
    toHash: row.to_hash,
    toTimestamp: row.to_timestamp,
    counts: Object.fromEntries(Object.entries(row.counts).map(([table, count]) => [table, Number(count)])),
    proof: row.proof,
  };
}

/** The canonical chain above the last final block, and the commits of all stored blocks, from rows in the order of their flips. */
function headOf(cursor: Cursor, rows: readonly HeadRow[]): Pick<StoredState, 'head' | 'headMax' | 'commits'> {
  const commits = new Map<Hex, HeadRows>();
  const moves = rows.map(({ number, hash, parent_hash: parentHash, timestamp, proof, ...row }) => {
    if (hash === ZERO_HASH) return { canonical: [], voided: [number] };
    const commit = Number(row.commit);
    commits.set(hash, { commit, proof });
    return { canonical: [{ number, hash, parentHash, timestamp, commit, proof }], voided: [] };
  });
  const { blocks, top } = foldHead(cursor, moves);
  return { head: blocks, headMax: top, commits };
}

const poolShape = z.object({
  ord: wideIntegerShape,
  address: hexShape,
  dex: z.string(),
  protocol: z.string(),
  pool_type: z.int(),
  factory: hexShape,
  token0: hexShape,
  token1: hexShape,
  base_is_token0: z.boolean(),
  tokens: z.array(hexShape),
  weights: z.array(wideIntegerShape),
  doubts: z.int(),
  fee_pips: z.int(),
  tick_spacing: z.int(),
  created_block: z.int().nullable(),
  created_at: z.int().nullable(),
  created_tx: hexShape.nullable(),
});

/** Returns the pools in final blocks, up to the given block. */
export async function readPools(database: Database, finalTo: number): Promise<PoolRow[]> {
  const params = { final_ord: lastOrdOfBlock(finalTo) };
  const rows = await selectAll(database, 'ingest/store/list_pools', params, poolShape, ROWS_MAX);
  return rows.map((row) => ({ ...row, ord: Number(row.ord), weights: row.weights.map(BigInt) }));
}

const stateShape = z.object({
  pair: hexShape,
  reserve0: wideIntegerShape,
  reserve1: wideIntegerShape,
  sqrt_price_x96: wideIntegerShape,
  liquidity: wideIntegerShape,
  tick: z.int(),
});

export async function readPoolStates(
  database: Database,
  finalTo: number,
  exact: boolean,
): Promise<Map<Hex, PoolState>> {
  const params = { final_ord: lastOrdOfBlock(finalTo) };
  const name = exact ? 'ingest/store/list_exact_states' : 'ingest/store/list_latest_states';
  const rows = await selectAll(database, name, params, stateShape, ROWS_MAX);
  return new Map(
    rows.map((row) => [
      row.pair,
      {
        reserve0: BigInt(row.reserve0),
        reserve1: BigInt(row.reserve1),
        sqrtPriceX96: BigInt(row.sqrt_price_x96),
        liquidity: BigInt(row.liquidity),
        tick: row.tick,
      },
    ]),
  );
}
