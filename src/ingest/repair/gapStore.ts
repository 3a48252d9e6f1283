/**
 * Detects rows that ClickHouse acknowledged and later lost, for example after a disk fault or a power cut.
 * Lists the ranges of blocks with lost rows, and inserts the rows again. `refill.ts` reads the blocks from
 * the node.
 */
import type { Database } from '../../clickhouse/client/database';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { countSql } from '../../clickhouse/client/queryText';
import { mapOf, u64 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import { isWeaker } from '../../domain/block';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import { AppError } from '../../errors';
import { rangeToken, writePromotion } from '../store/clickhouseStore';
import { TABLE_ENCODERS } from '../rows/encodeBlocks';
import type { Floors } from '../store/retention';
import type { RowBatch } from '../rows/rowBatch';
import type { WriterClaim } from '../store/writerClaim';
import type { HeadBlock } from '../../domain/head/foldHead';
import { intentOfRow, rangeColumns } from '../store/storedState';
import type { OpenIntent } from '../store/store';

/** A finished range of blocks for which some tables contain no rows, although the range has rows for them. */
export interface Gap extends OpenIntent {
  readonly missing: ReadonlySet<EventTableName>;
}

export type RowTotals = ReadonlyMap<EventTableName, number>;

export interface GapStore {
  /**
   * Expected number of rows by final table, summed over all finished ranges. Reads the table promotions once.
   */
  readExpected(): Promise<RowTotals>;
  /**
   * Number of rows in each final table, from ClickHouse metadata. With `upTo`, rows of later blocks do not
   * count.
   */
  readStored(upTo?: number): Promise<RowTotals>;
  /**
   * Ranges with lost rows up to the last final block, ascending. Reads each named table once. Throws
   * broken_invariant if a table has only some of the rows of a range, or too many.
   */
  listGaps(tables: readonly EventTableName[], cursor: number): Promise<Gap[]>;
  /** Inserts the rows of the batch into the tables that lost them. A repeated call changes nothing. */
  refill(gap: Gap, batch: RowBatch): Promise<void>;
  /**
   * Returns the head blocks that lack stored logs. With `someLogs`, only some logs of each block are kept, and the
   * blocks that lack their header row are returned.
   */
  listIncomplete(blocks: readonly HeadBlock[], someLogs?: boolean): Promise<HeadBlock[]>;
}

const GAPS_MAX = 10_000;
const TABLE_NAMES = TABLE_ENCODERS.map(({ name }) => name);

/**
 * Tables whose views sum rows. A second insert of the same rows would double the sums. The refill therefore
 * uses the deduplication token of the first insert.
 */
const TABLES_WITH_SUMS: ReadonlySet<EventTableName> = new Set<EventTableName>(['swaps', 'transfers']);

/** `floors` holds, for each pruned table, the first block whose rows are all kept. */
export function createGapStore(
  database: Database,
  chainId: number,
  floors: () => Promise<Floors>,
  writer: WriterClaim | null = null,
): GapStore {
  const insert = async (gap: Gap, batch: RowBatch): Promise<void> => {
    for (const { table, columns, body } of batch.encoded()) {
      const name = TABLE_NAMES.find((tableName) => tableName === table);
      if (name === undefined || !gap.missing.has(name)) continue;
      const firstInsertToken = rangeToken(chainId, gap, name);
      const token = TABLES_WITH_SUMS.has(name) ? firstInsertToken : `refill:${firstInsertToken}`;
      await database.insert(name, columns, body, token, writer?.guard(name, columns));
    }
  };
  return {
    readExpected: async () => readExpected(database, await floors()),
    readStored: async (upTo) => readStored(database, upTo, await floors()),
    async listGaps(tables, cursor): Promise<Gap[]> {
      const floorByTable = await floors();
      const gaps = new Map<number, OpenIntent & { missing: Set<EventTableName> }>();
      for (const table of tables) {
        for (const range of await listMissing(
          database,
          chainId,
          table,
          cursor,
          floorByTable.get(table) ?? 0,
        )) {
          const gap = gaps.get(range.seq) ?? { ...range, missing: new Set() };
          gap.missing.add(table);
          gaps.set(range.seq, gap);
        }
      }
      return [...gaps.values()].sort((a, b) => a.seq - b.seq);
    },
    async refill(gap, batch): Promise<void> {
      // The other rows come from an earlier read, so the weaker level of proof holds. A second `done` row stores it.
      if (isWeaker(batch.proof, gap.proof))
        await writePromotion({ database, chainId, writer }, 'done', { ...gap, proof: batch.proof });
      await insert(gap, batch);
    },
    listIncomplete: (blocks, someLogs = false) => listIncomplete(database, blocks, someLogs),
  };
}

async function readExpected(database: Database, floors: Floors): Promise<RowTotals> {
  const names = [...floors.keys()].map((name) => `'${name}'`).join(', ');
  const blocks = [...floors.values()].join(', ');
  const counts =
    floors.size === 0
      ? 'counts'
      : `mapFilter((name, rows) -> to_block >= transform(toString(name), [${names}], [${blocks}], 0), counts)`;
  const [row] = await selectMade(
    database,
    'sum up finished ranges',
    // A statement can succeed although its answer timed out. A range can therefore have two `done` rows.
    `SELECT sumMap(${counts}) AS totals
     FROM (SELECT to_block, any(counts) AS counts FROM promotions WHERE status = 'done' GROUP BY chain_id, from_block, to_block, to_hash)`,
    {},
    totalsRow,
  );
  return new Map(TABLE_NAMES.map((name) => [name, row?.totals[name] ?? 0]));
}

/** Rows after block `upTo` are not counted, because they may belong to an unfinished range. */
async function readStored(database: Database, upTo: number | undefined, floors: Floors): Promise<RowTotals> {
  const counts = TABLE_NAMES.map((name) => {
    const floor = floors.get(name);
    const minusPrunedSql = floor === undefined ? '' : ` - ${countSql(name, `ord < ${toOrd(floor, 0)}`)}`;
    const isLaterSql = name === 'blocks' ? 'number > {up_to:UInt32}' : 'ord > {up_to_ord:UInt64}';
    const minusLaterSql = upTo === undefined ? '' : ` - ${countSql(name, isLaterSql)}`;
    return `'${name}', toUInt64(assumeNotNull((SELECT count() FROM ${name})${minusLaterSql}${minusPrunedSql}))`;
  });
  const [row] = await selectMade(
    database,
    'count final rows',
    `SELECT map(${counts.join(', ')}) AS totals`,
    upTo === undefined ? {} : { up_to: upTo, up_to_ord: lastOrdOfBlock(upTo) },
    totalsRow,
  );
  return new Map(TABLE_NAMES.map((name) => [name, row?.totals[name] ?? 0]));
}

/** Row with a number of rows by table. */
export const totalsRow = rowType({ totals: mapOf(u64) });
const gapRow = rowType({ ...rangeColumns, found: u64 });
const commitRow = rowType({ commit: u64 });

async function listMissing(
  database: Database,
  chainId: number,
  table: EventTableName,
  cursor: number,
  floorBlock: number,
): Promise<OpenIntent[]> {
  const blockSql = table === 'blocks' ? 'number' : 'toUInt32(bitShiftRight(ord, 20))';
  const isOfChainSql = table === 'blocks' || table === 'logs' ? 'chain_id = {chain:UInt32} AND' : '';
  const rows = await selectMade(
    database,
    `find gaps in ${table}`,
    `WITH
       ranges AS (
         SELECT chain_id, seq, kind, from_block, to_block, to_hash, to_timestamp, counts, proof FROM promotions
         WHERE chain_id = {chain:UInt32} AND status = 'done' AND kind != 'start' AND to_block >= {floor:UInt32}
         LIMIT 1 BY from_block, to_block, to_hash
       ),
       found AS (
         SELECT r.seq AS range_seq, count() AS rows
         FROM (SELECT {chain:UInt32} AS chain_id, ${blockSql} AS block FROM ${table}
               WHERE ${isOfChainSql} block <= {cursor:UInt32}) AS t
         ASOF INNER JOIN ranges AS r ON t.chain_id = r.chain_id AND t.block >= r.from_block
         GROUP BY range_seq
       )
     SELECT seq, kind, from_block, to_block, to_hash, to_timestamp, counts, proof, f.rows AS found
     FROM ranges AS r LEFT JOIN found AS f ON r.seq = f.range_seq
     WHERE f.rows != counts[{table:String}]
     ORDER BY r.seq LIMIT ${GAPS_MAX}`,
    { chain: chainId, table, cursor, floor: floorBlock },
    gapRow,
  );
  return rows.map((row) => toRange(row, table));
}

function toRange(row: RowOf<typeof gapRow>, table: string): OpenIntent {
  if (row.found !== 0) {
    throw new AppError(
      'broken_invariant',
      `blocks ${row.from_block}-${row.to_block} have ${row.found} rows in ${table}, expected ${row.counts[table]}; ` +
        'the writer stops: run `candlehouse verify` to list the differences',
    );
  }
  return intentOfRow(row);
}

async function listIncomplete(
  database: Database,
  blocks: readonly HeadBlock[],
  someLogs: boolean,
): Promise<HeadBlock[]> {
  if (blocks.length === 0) return [];
  const numbers = blocks.map(({ number }) => number);
  const params = {
    from: Math.min(...numbers),
    to: Math.max(...numbers),
    commits: blocks.map(({ commit }) => commit),
    some_logs: someLogs,
  };
  const rows = await selectNamed(database, 'ingest/repair/list_complete_commits', params, commitRow);
  const completeCommits = new Set(rows.map(({ commit }) => commit));
  return blocks.filter(({ commit }) => !completeCommits.has(commit));
}
