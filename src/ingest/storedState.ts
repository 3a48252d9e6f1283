/** Reads back what the store holds: cursor, open intent, canonical head, pools and their states. */
import type { Database } from '../clickhouse/database';
import type { PoolRow } from '../clickhouse/tables';
import { ZERO_HASH, type Hex } from '../domain/hex';
import { lastOrdOfBlock } from '../domain/ord';
import type { PoolState } from '../domain/pool';
import type { Cursor, OpenIntent, StoredHead, StoredState } from './store';

const HEX_HASH = (column: string): string => `concat('0x', lower(hex(${column})))`;

interface PromotionRow {
  readonly seq: string;
  readonly status: 'intent' | 'done';
  readonly kind: 'start' | 'backfill' | 'promotion';
  readonly from_block: number;
  readonly to_block: number;
  readonly to_hash: Hex;
  readonly to_timestamp: number;
  readonly counts: Readonly<Record<string, string>>;
}

interface HeadRow {
  readonly number: number;
  readonly hash: Hex;
  readonly parent_hash: Hex;
  readonly timestamp: number;
  readonly commit: string;
  readonly version: string;
  readonly final_number: number;
}

/** null when the chain was never begun in this database. */
export async function readStoredState(database: Database, chainId: number): Promise<StoredState | null> {
  // Each by itself: a range that is begun again and again leaves any number of intents above the last one done.
  const newest = (status: 'done' | 'intent'): string =>
    `SELECT seq, status, kind, from_block, to_block, ${HEX_HASH('p.to_hash')} AS to_hash, to_timestamp, counts
     FROM promotions AS p WHERE chain_id = {chain:UInt32} AND status = '${status}'
     ORDER BY p.chain_id DESC, p.seq DESC, p.status DESC LIMIT 1`;
  const ranges = await database.select<PromotionRow>(
    'read newest ranges',
    `SELECT * FROM (${newest('done')}) UNION ALL SELECT * FROM (${newest('intent')})`,
    { chain: chainId },
  );
  const done = ranges.find((row) => row.status === 'done');
  if (done === undefined) return null;
  const cursor: Cursor = {
    seq: Number(done.seq),
    number: done.to_block,
    hash: done.to_hash,
    timestamp: done.to_timestamp,
  };
  const begun = ranges.find((row) => row.status === 'intent' && Number(row.seq) > cursor.seq);
  const rows = await database.select<HeadRow>(
    'read head blocks',
    `SELECT number, ${HEX_HASH('h.hash')} AS hash, ${HEX_HASH('h.parent_hash')} AS parent_hash, timestamp, commit, version,
            final_number
     FROM head_blocks AS h WHERE chain_id = {chain:UInt32} AND number > {cursor:UInt32} ORDER BY version`,
    { chain: chainId, cursor: cursor.number },
  );
  const [start] = await database.select<{ from_block: number }>(
    'read start',
    'SELECT from_block FROM promotions WHERE chain_id = {chain:UInt32} AND seq = 0 LIMIT 1',
    { chain: chainId },
  );
  const [last] = await database.select<{ version: string }>(
    'read head version',
    'SELECT max(version) AS version FROM head_blocks WHERE chain_id = {chain:UInt32}',
    { chain: chainId },
  );
  return {
    startBlock: start?.from_block ?? 1,
    cursor,
    intent: begun === undefined ? null : intentOfRow(begun),
    ...canonicalOf(cursor, rows),
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
  };
}

/** Folds the flips, oldest first, into the canonical chain above the cursor. */
function canonicalOf(
  cursor: Cursor,
  rows: readonly HeadRow[],
): Pick<StoredState, 'head' | 'headMax' | 'commits'> {
  const heights = new Map<number, StoredHead>();
  const commits = new Map<Hex, number>();
  for (const row of rows) {
    if (row.hash === ZERO_HASH) {
      heights.delete(row.number);
      continue;
    }
    const { number, hash, timestamp } = row;
    const commit = Number(row.commit);
    heights.set(number, { number, hash, parentHash: row.parent_hash, timestamp, commit });
    commits.set(hash, commit);
  }
  const head: StoredHead[] = [];
  for (let number = cursor.number + 1; ; number += 1) {
    const block = heights.get(number);
    if (block === undefined || block.parentHash !== (head.at(-1)?.hash ?? cursor.hash)) break;
    head.push(block);
  }
  return { head, headMax: Math.max(cursor.number, ...heights.keys()), commits };
}

/** Pools of the final tables up to the block. */
export async function readPools(database: Database, finalTo: number): Promise<PoolRow[]> {
  type Row = Omit<PoolRow, 'ord' | 'weights'> & { readonly ord: string; readonly weights: readonly string[] };
  const rows = await database.select<Row>(
    'read pools',
    `SELECT ord, concat('0x', lower(hex(p.address))) AS address, dex, protocol, pool_type,
            concat('0x', lower(hex(p.factory))) AS factory, concat('0x', lower(hex(p.token0))) AS token0,
            concat('0x', lower(hex(p.token1))) AS token1, base_is_token0,
            arrayMap(t -> concat('0x', lower(hex(t))), p.tokens) AS tokens, weights, fee_pips, tick_spacing,
            created_block, created_at, if(isNull(p.created_tx), NULL, concat('0x', lower(hex(p.created_tx)))) AS created_tx
     FROM pools AS p WHERE ord <= {final_ord:UInt64}`,
    { final_ord: lastOrdOfBlock(finalTo) },
  );
  return rows.map((row) => ({ ...row, ord: Number(row.ord), weights: row.weights.map(BigInt) }));
}

interface StateRow {
  readonly pair: Hex;
  readonly reserve0: string;
  readonly reserve1: string;
  readonly sqrt_price_x96: string;
  readonly liquidity: string;
  readonly tick: number;
}

const LATEST_STATES = `
  SELECT concat('0x', lower(hex(p.pair))) AS pair, newest.reserve0 AS reserve0, newest.reserve1 AS reserve1,
         newest.sqrt_price_x96 AS sqrt_price_x96, newest.liquidity AS liquidity, newest.tick AS tick
  FROM (SELECT pair, max(state) AS newest FROM pool_latest GROUP BY pair) AS p`;

const EXACT_STATES = `
  SELECT concat('0x', lower(hex(s.pair))) AS pair, argMax(s.reserve0, s.ord) AS reserve0,
         argMax(s.reserve1, s.ord) AS reserve1, argMax(s.sqrt_price_x96, s.ord) AS sqrt_price_x96,
         argMax(s.liquidity, s.ord) AS liquidity, argMax(s.tick, s.ord) AS tick
  FROM pool_states AS s WHERE s.ord <= {final_ord:UInt64} GROUP BY s.pair`;

export async function readPoolStates(
  database: Database,
  finalTo: number,
  exact: boolean,
): Promise<Map<Hex, PoolState>> {
  const params = { final_ord: lastOrdOfBlock(finalTo) };
  const rows = await database.select<StateRow>('read states', exact ? EXACT_STATES : LATEST_STATES, params);
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
