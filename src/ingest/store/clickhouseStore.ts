/** Stores blocks in ClickHouse exactly once: inserts in a fixed order, with deduplication tokens. */
import { localTable } from '../../clickhouse/schema/clusterSchema';
import type { Database } from '../../clickhouse/client/database';
import { insertRows } from '../../clickhouse/rows/inserter';
import { selectAll, selectMade } from '../../clickhouse/client/namedQueries';
import { countSql } from '../../clickhouse/client/queryText';
import { bool, text, u64 } from '../../clickhouse/rows/columns';
import { rowType } from '../../clickhouse/rows/rowType';
import type { StoredToken } from '../pools/tokenBook';
import {
  headBlocksTable,
  oddTokensTable,
  tokensTable,
  type OddKind,
  type PoolRow,
} from '../../clickhouse/schema/tables';
import { weakerOf, type BlockRef } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import type { PoolState } from '../../domain/pool';
import { AppError } from '../../errors';
import { encodeHeadBlocks, TABLE_ENCODERS, type HeadBlockRows } from '../rows/encodeBlocks';
import type { ManyTokenPool } from '../pools/poolRegistry';
import { NO_FLOORS, type Floors } from './retention';
import type { RowBatch } from '../rows/rowBatch';
import type { Cursor, OpenIntent, Store, StoredFlip, StoredState } from './store';
import { readStoredPrices, type StoredPrices } from '../price/storedPrices';
import { readPools, readPoolStates, readStoredState } from './storedState';
import { readManyTokenPools } from '../pools/storedManyTokenPools';
import { addTimeframes } from '../repair/addTimeframes';
import { mendViews, type Mending } from '../repair/viewCheck';
import { dropMended } from '../repair/viewRebuild';
import { untilInsertsEnd } from './earlierInserts';
import { sessionAt, type WriterClaim } from './writerClaim';

/** Number of blocks in a partition of a head table. Must equal PARTITION BY in the schema. */
const HEAD_PARTITION_BLOCKS = 256;
/** Safety limit for the number of tokens. The ingester's memory could not hold more. */
const TOKENS_MAX = 10_000_000;
/** Safety limit for the number of partitions. Head tables have far fewer. */
const PARTITIONS_MAX = 1_000_000;
/**
 * A part of every deduplication token. If tables were emptied and the same blocks stored again, the value
 * would have to change, because ClickHouse still knows the old tokens.
 */
const TOKEN_GENERATION = 'e1';

/**
 * The deduplication token of a range in a table. Repeated inserts of the range use the same token, so
 * ClickHouse stores the rows once.
 */
export function rangeToken(chainId: number, intent: OpenIntent, table: string): string {
  return `${intent.kind}:${chainId}:${table}:${intent.from}-${intent.to}:${intent.toHash}:${TOKEN_GENERATION}`;
}

/**
 * `floors` holds, for each pruned table, the first block whose rows are all kept. `mending` holds callbacks
 * for rebuilds of aggregates. Without `writer`, a second writer is not fenced off.
 */
export function createClickHouseStore(
  database: Database,
  chainId: number,
  floors: () => Promise<Floors> = () => Promise.resolve(NO_FLOORS),
  mending: Mending = {},
  writer: WriterClaim | null = null,
): Store {
  const connection: Connection = { database, chainId, writer };
  const token = (intent: OpenIntent, table: string): string => rangeToken(chainId, intent, table);
  const check = async (intent: OpenIntent | null): Promise<void> =>
    intent === null ? undefined : checkRange(connection, intent, await floors(), mending);

  return {
    claim: (now) =>
      takeClaim(connection, now, async (claimed) =>
        addTimeframes(database, await floors(), mendingOf(mending, claimed)),
      ),
    loadState: (): Promise<StoredState | null> => readStoredState(database, chainId),
    writeStart: (base) => writePromotion(connection, 'done', startOf(base)),
    loadPools: (finalTo): Promise<PoolRow[]> => readPools(database, finalTo),
    loadPoolStates: (finalTo, exact): Promise<Map<Hex, PoolState>> =>
      readPoolStates(database, chainId, finalTo, exact),
    loadManyTokenPools: (finalTo, exact, rows): Promise<ManyTokenPool[]> =>
      readManyTokenPools(database, chainId, finalTo, exact, rows),
    listTokens: () => listTokens(database),
    loadPrices: (cursor, startBlock, pools): Promise<StoredPrices> =>
      readStoredPrices(database, chainId, cursor, startBlock, pools),
    writeTokens: (rows) => insertRows(database, tokensTable, rows),
    listOddTokens: () => listOddTokens(database),
    writeOddTokens: (rows) => insertRows(database, oddTokensTable, rows),
    writeHead: (flip, check) => writeHead(connection, flip, check),
    writeRange(seq, batch, replayed): Promise<Cursor> {
      const intent = backfillIntent(seq, batch);
      // Some rows of an interrupted range may come from its earlier read, so the weaker level of proof holds.
      const proof = weakerOf(intent.proof, replayed?.proof ?? 'full');
      return writeRange(connection, { ...intent, proof }, batch, () => check(replayed));
    },
    async promote(intent, commits, replayed): Promise<Cursor> {
      await writePromotion(connection, 'intent', intent);
      for (const table of TABLE_ENCODERS) {
        const columns = table.columns.join(', ');
        const order = table.name === 'blocks' ? 'number' : 'ord';
        await database.command(
          `promote ${table.name}`,
          `INSERT INTO ${table.name} (${columns}) SELECT ${columns} FROM ${table.name}_head
           WHERE ${writerConditionSql(writer)}has({commits:Array(UInt64)}, commit) ORDER BY ${order}`,
          { commits },
          token(intent, table.name),
        );
      }
      if (replayed) await check(intent);
      await writePromotion(connection, 'done', intent);
      return cursorOf(intent);
    },
    checkRange: check,
    dropHeadBelow: (block) => dropHeadBelow(database, block),
  };
}

const tokenRow = rowType({ ...tokensTable.types, complete: bool });
const oddTokenRow = rowType(oddTokensTable.types);

function listTokens(database: Database): Promise<StoredToken[]> {
  return selectAll(database, 'ingest/store/list_tokens', {}, tokenRow, TOKENS_MAX);
}

async function listOddTokens(database: Database): Promise<Map<Hex, OddKind>> {
  const params = { since: 0, limit: TOKENS_MAX };
  const rows = await selectAll(database, 'holders/list_odd_tokens', params, oddTokenRow, TOKENS_MAX);
  return new Map(rows.map(({ token, kind }) => [token, kind]));
}

const totalRow = rowType({ total: u64 });
const partitionRow = rowType({ table: text, partition: text });

type Promotion = Omit<OpenIntent, 'kind'> & { readonly kind: 'start' | 'backfill' | 'promotion' };

function startOf(base: BlockRef): Promotion {
  return {
    seq: 0,
    kind: 'start',
    from: base.number + 1,
    to: base.number,
    toHash: base.hash,
    toTimestamp: base.timestamp,
    counts: {},
    proof: 'bloom',
  };
}

function backfillIntent(seq: number, batch: RowBatch): OpenIntent {
  const { first, last } = batch.range;
  return {
    seq,
    kind: 'backfill',
    from: first.number,
    to: last.number,
    toHash: last.hash,
    toTimestamp: last.timestamp,
    counts: batch.counts,
    proof: batch.proof,
  };
}

function cursorOf(intent: OpenIntent): Cursor {
  return { seq: intent.seq, number: intent.to, hash: intent.toHash, timestamp: intent.toTimestamp };
}

interface Connection {
  readonly database: Database;
  readonly chainId: number;
  /** Null if no other writer is fenced off. */
  readonly writer: WriterClaim | null;
}

const writerConditionSql = (writer: WriterClaim | null): string =>
  writer === null ? '' : `${writer.condition()} AND `;

export async function writePromotion(
  { database, chainId, writer }: Connection,
  status: 'intent' | 'done',
  range: Promotion,
): Promise<void> {
  const counts = Object.entries(range.counts).map(([table, count]) => `'${table}', ${count}`);
  writer?.note(range.seq);
  await database.command(
    `write ${status}`,
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts, proof)
     SELECT {chain:UInt32}, {seq:UInt64}, {status:String}, {kind:String}, {from:UInt32}, {to:UInt32},
            unhex({hash:String}), {timestamp:UInt32}, map(${counts.join(', ')}), {proof:String}
     WHERE ${writerConditionSql(writer)}true`,
    {
      chain: chainId,
      seq: range.seq,
      status,
      kind: range.kind,
      from: range.from,
      to: range.to,
      hash: range.toHash.slice(2),
      timestamp: range.toTimestamp,
      proof: range.proof,
    },
  );
}

/** `check` runs before the range counts as finished. */
async function writeRange(
  connection: Connection,
  intent: OpenIntent,
  batch: RowBatch,
  check: () => Promise<void>,
): Promise<Cursor> {
  const { database, chainId, writer } = connection;
  await writePromotion(connection, 'intent', intent);
  await Promise.all(
    batch.encoded().map(({ table, columns, body }) => {
      const token = rangeToken(chainId, intent, table);
      return database.insert(table, columns, body, token, writer?.guard(table, columns));
    }),
  );
  await check();
  await writePromotion(connection, 'done', intent);
  return cursorOf(intent);
}

async function writeHead(
  { database, chainId, writer }: Connection,
  flip: StoredFlip,
  check?: () => Promise<void>,
): Promise<void> {
  writer?.note(flip.version);
  await Promise.all([insertFresh(database, flip.fresh), check?.()]);
  const common = { chain_id: chainId, version: flip.version, final_number: flip.finalNumber };
  const canonical = flip.canonical.map((block) => ({
    ...common,
    number: block.number,
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp: block.timestamp,
    commit: block.commit,
    proof: block.proof ?? ('bloom' as const),
  }));
  const voided = flip.voided.map((number) => ({
    ...common,
    number,
    hash: ZERO_HASH,
    parent_hash: ZERO_HASH,
    timestamp: 0,
    commit: 0,
    proof: 'bloom' as const,
  }));
  const guard = writer?.guard(headBlocksTable.name, headBlocksTable.columns);
  await insertRows(database, headBlocksTable, [...canonical, ...voided], { guard });
}

/**
 * Encodes and sends the rows table by table. The rows of one table are sent while the next table is encoded.
 */
async function insertFresh(database: Database, blocks: readonly HeadBlockRows[]): Promise<void> {
  const inserts: Promise<void>[] = [];
  for (const { table, columns, body } of encodeHeadBlocks(blocks)) {
    const insert = database.insert(table, columns, body);
    // Promise.all reports a failed insert, but only after the loop. Until then, this empty handler prevents an
    // unhandled rejection.
    insert.catch(() => undefined);
    inserts.push(insert);
    // Lets the request start before the next rows are encoded. Waiting for a full turn of the event loop
    // would make the simulation believe that the program is idle.
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
  await Promise.all(inserts);
}

/**
 * Claims the database, and waits for inserts that earlier writers began. The first claim of a process also drops what
 * earlier writers left, and prepares the tables.
 */
async function takeClaim(
  { database, writer }: Connection,
  now: number,
  prepare: (writer: WriterClaim) => Promise<void>,
): Promise<number> {
  if (writer === null) return sessionAt(now);
  const isFirst = writer.session === 0;
  const floor = await writer.take(now);
  await untilInsertsEnd(database);
  if (!isFirst) return floor;
  await dropMended(database);
  await prepare(writer);
  return floor;
}

const mendingOf = (mending: Mending, writer: WriterClaim | null): Mending => ({
  ...mending,
  checkWriter: async () => writer?.check(),
  writer: writer?.session,
});

async function checkRange(
  { database, chainId, writer }: Connection,
  intent: OpenIntent,
  floors: Floors,
  mending: Mending,
): Promise<void> {
  for (const table of TABLE_ENCODERS) {
    const expected = intent.counts[table.name] ?? 0;
    const condition =
      table.name === 'blocks'
        ? 'chain_id = {chain:UInt32} AND number BETWEEN {from:UInt32} AND {to:UInt32}'
        : `ord BETWEEN {from_ord:UInt64} AND {to_ord:UInt64}${table.name === 'logs' ? ' AND chain_id = {chain:UInt32}' : ''}`;
    const [row] = await selectMade(
      database,
      `check ${table.name}`,
      `SELECT assumeNotNull(${countSql(table.name, condition)}) AS total`,
      {
        chain: chainId,
        from: intent.from,
        to: intent.to,
        from_ord: toOrd(intent.from, 0),
        to_ord: lastOrdOfBlock(intent.to),
      },
      totalRow,
    );
    const storedTotal = row?.total ?? 0;
    if (storedTotal !== expected) throw countError(table.name, intent, expected, storedTotal);
  }
  const range = { fromOrd: toOrd(intent.from, 0), toOrd: lastOrdOfBlock(intent.to) };
  const wrongView = await mendViews(database, range, floors, mendingOf(mending, writer));
  if (wrongView !== null) throw countError(wrongView.name, intent, wrongView.expected, wrongView.found);
}

function countError(name: string, intent: OpenIntent, expected: number, storedTotal: number): AppError {
  return new AppError(
    'broken_invariant',
    `after replaying blocks ${intent.from}-${intent.to}, ${name} has ${storedTotal} rows, expected ${expected}; ` +
      'the writer stops: run `candlehouse verify` to list the differences',
  );
}

/**
 * Drops the partitions of the head tables below the block. On a cluster, on each node in its local tables.
 */
async function dropHeadBelow(database: Database, block: number): Promise<void> {
  if (database.cluster === null) return dropPartitionsBelow(database, block, (table) => table);
  for (const node of database.cluster.nodes) await dropPartitionsBelow(node.database, block, localTable);
}

async function dropPartitionsBelow(
  database: Database,
  block: number,
  nameOf: (table: string) => string,
): Promise<void> {
  // On a cluster, `nameOf` appends `_local`, so it gives the suffix of the head tables too.
  const names = { head_suffix: nameOf('_head'), head_blocks: nameOf('head_blocks') };
  const query = 'ingest/store/list_head_partitions';
  const parts = await selectAll(database, query, names, partitionRow, PARTITIONS_MAX);
  for (const { table, partition } of parts) {
    const blocks = table === nameOf('head_blocks') ? HEAD_PARTITION_BLOCKS * 4 : HEAD_PARTITION_BLOCKS;
    if ((Number(partition) + 1) * blocks > block) continue;
    await database.command('drop head partition', `ALTER TABLE ${table} DROP PARTITION ID '${partition}'`);
  }
}
