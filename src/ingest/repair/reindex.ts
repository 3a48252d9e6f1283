/**
 * The command `reindex`: reads final blocks from the node again, compares them with the stored rows, and
 * replaces tables that differ, together with their aggregates.
 */
import { BeyondFinality } from '../../node/head/follower';
import type { BlockSource } from '../../node/blocks/blockSource';
import type { Database } from '../../clickhouse/client/database';
import { selectMade, selectNamed } from '../../clickhouse/client/namedQueries';
import { countSql } from '../../clickhouse/client/queryText';
import { readOperations, writeOperation } from '../../clickhouse/schema/operations';
import type { EventTableName } from '../../clickhouse/schema/eventTables';
import { hash, u32, u64, u8 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf, nameRow } from '../../clickhouse/rows/rowType';
import { isWeaker, PROOF_LEVELS } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { lastOrdOfBlock, toOrd } from '../../domain/ord';
import { addRange, type ProofRange } from '../../clickhouse/schema/proofRanges';
import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { HASH_BLOCKS, hashRanges, listWholeRanges, writeRangeHash } from './rangeHash';
import { BlockReader, type ReaderDeps } from '../decode/blockReader';
import { TABLE_ENCODERS } from '../rows/encodeBlocks';
import { fetchAhead } from '../session/fetchAhead';
import { logRebuild } from '../session/progress';
import { readFloors, type Floors } from '../store/retention';
import { RowBatch } from '../rows/rowBatch';
import { readStoredState, startRow } from '../store/storedState';
import { totalsRow } from './gapStore';
import { cloneNext, exchange, nextOf, rebuildViews } from './viewRebuild';

interface ReindexDeps extends ReaderDeps {
  readonly database: Database;
  readonly source: BlockSource;
  readonly chainId: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface ReindexDifference {
  readonly table: EventTableName;
  readonly stored: number;
  /** Rows that were read from the node. */
  readonly read: number;
}

interface ReindexReport {
  /** The blocks that were read: the requested blocks, extended to whole ranges. */
  readonly from: number;
  readonly to: number;
  readonly differences: readonly ReindexDifference[];
  readonly rebuilt: readonly string[];
}

const rangeRow = rowType({ from_block: u32, to_block: u32, to_hash: hash });
type Range = RowOf<typeof rangeRow>;
const comparisonRow = rowType({ stored: u64, read: u64, same: u8 });

/** Size limit of one insert into the new tables. */
const BATCH_LOGS = 100_000;
/**
 * Name of the flag that is stored while tables are exchanged. If a crash leaves the flag behind, some tables
 * are new and some are old.
 */
const EXCHANGING = 'exchanging';
const RANGES_MAX = 1_000_000;

const stagedOf = (table: string): string => `staged_${table}`;

/** Runs the command. The ingester must be paused. If `replace` is false, the tables are only compared. */
export async function reindex(
  deps: ReindexDeps,
  { from, to, replace }: { readonly from: number; readonly to: number; readonly replace: boolean },
): Promise<ReindexReport> {
  const { database, chainId } = deps;
  const ranges = await listRanges(database, chainId, from, to);
  const [firstRange, lastRange] = [ranges[0], ranges.at(-1)];
  if (firstRange === undefined || lastRange === undefined)
    throw new AppError('bad_config', `none of the blocks ${from}-${to} is stored as final`);
  const span = { from: firstRange.from_block, to: lastRange.to_block };
  const floors = await readFloors(database);
  await dropLeftovers(database);
  try {
    const proven = await stage(deps, span, ranges);
    const differences = await compare(database, span, floors);
    const interrupted = (await readOperations(database, [EXCHANGING])).get(EXCHANGING) === 1;
    const work = { span, ranges, floors, differences, interrupted };
    const isEqual = differences.length === 0 && !interrupted;
    if (!replace) return { ...span, differences, rebuilt: [] };
    // A level falls before the rows are replaced and rises afterwards, so a crash leaves no level above the truth.
    if (!isEqual) await setLevels(deps, proven, 'lower');
    const rebuilt = await repair(deps, work);
    await setLevels(deps, proven, 'raise');
    return { ...span, differences, rebuilt };
  } finally {
    for (const { name } of TABLE_ENCODERS)
      await database.command('drop staged', `DROP TABLE IF EXISTS ${stagedOf(name)} SYNC`);
  }
}

/** Drops the staging tables that a crashed run left behind. */
async function dropLeftovers(database: Database): Promise<void> {
  const prefixes = { staged: stagedOf(''), next: nextOf('') };
  const rows = await selectNamed(database, 'schema/list_tables_by_prefix', prefixes, nameRow);
  for (const { name } of rows) await database.command('drop leftover', `DROP TABLE IF EXISTS ${name} SYNC`);
}

/** Finished ranges that overlap the blocks, ascending. */
function listRanges(database: Database, chainId: number, from: number, to: number): Promise<Range[]> {
  const params = { chain: chainId, from, to, limit: RANGES_MAX };
  return selectNamed(database, 'ingest/repair/list_ranges', params, rangeRow);
}

/**
 * Reads the blocks into staging tables, starting with the pool states and prices from before these blocks. Returns how
 * far the blocks are proven.
 */
async function stage(
  deps: ReindexDeps,
  span: Span,
  ranges: readonly Range[],
): Promise<readonly ProofRange[]> {
  const { database, source, chainId, signal, log } = deps;
  for (const { name } of TABLE_ENCODERS)
    await database.command('create staged', `CREATE TABLE ${stagedOf(name)} AS ${name}`);
  await source.expectLevel?.((await readStoredState(database, chainId))?.proof ?? 'none');
  const reader = new BlockReader(deps, await readStart(database, chainId));
  // The reader uses only the number. The hash and the time of the block before are not known here.
  const cursorBefore = {
    seq: 0,
    number: span.from - 1,
    hash: ranges[0]?.to_hash ?? '0x',
    timestamp: 0,
  } as const;
  await reader.load(cursorBefore, { exact: true });
  const hashByLastBlock = new Map(ranges.map(({ to_block, to_hash }) => [to_block, to_hash]));
  const batch = new RowBatch();
  let proven: readonly ProofRange[] = [];
  const flush = async (): Promise<void> => {
    if (batch.blocks === 0) return;
    const { first, last } = batch.range;
    proven = addRange(proven, { from: first.number, to: last.number, level: batch.proof });
    for (const { table, columns, body } of batch.encoded())
      await database.insert(stagedOf(table), columns, body);
    batch.reset();
  };
  let lastBlock: { number: number; hash: Hex } | null = null;
  for await (const blocks of fetchAhead(source, span.from, span.to, { signal })) {
    const [firstBlock] = blocks;
    if (firstBlock === undefined) continue;
    const parent = lastBlock ?? { number: firstBlock.number - 1, hash: firstBlock.parentHash };
    await reader.read(blocks, parent, false, signal, (rows) => batch.add(rows));
    for (const block of blocks) {
      const hash = hashByLastBlock.get(block.number);
      if (hash !== undefined && hash !== block.hash)
        throw new BeyondFinality({ number: block.number, hash }, block);
    }
    lastBlock = blocks.at(-1) ?? lastBlock;
    if (batch.logs >= BATCH_LOGS) {
      await flush();
      log.info({ to: lastBlock?.number, of: span.to }, 'reading the blocks again');
    }
  }
  await flush();
  return proven;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

async function readStart(database: Database, chainId: number): Promise<number> {
  const [row] = await selectNamed(database, 'ingest/store/find_start', { chain: chainId }, startRow);
  return row?.from_block ?? 1;
}

/** SQL condition for the rows of the blocks. Excludes rows that retention has deleted. */
function rowsCondition(table: EventTableName, { from, to }: Span, floors: Floors): string {
  const firstKept = Math.max(from, floors.get(table) ?? 0);
  return table === 'blocks'
    ? `number BETWEEN ${firstKept} AND ${to}`
    : `ord BETWEEN ${toOrd(firstKept, 0)} AND ${lastOrdOfBlock(to)}`;
}

async function compare(database: Database, span: Span, floors: Floors): Promise<ReindexDifference[]> {
  const differences: ReindexDifference[] = [];
  for (const { name, columns } of TABLE_ENCODERS) {
    const sumSql = (table: string): string =>
      `SELECT count() AS total, sum(reinterpretAsUInt128(sipHash128(tuple(${columns.join(', ')})))) AS sum
       FROM ${table} WHERE ${rowsCondition(name, span, floors)}`;
    const [row] = await selectMade(
      database,
      `compare ${name}`,
      `SELECT old_rows.total AS stored, new_rows.total AS read, stored = read AND old_rows.sum = new_rows.sum AS same
       FROM (${sumSql(name)}) AS old_rows CROSS JOIN (${sumSql(stagedOf(name))}) AS new_rows`,
      {},
      comparisonRow,
    );
    if (row?.same === 0) differences.push({ table: name, stored: row.stored, read: row.read });
  }
  return differences;
}

interface Repair {
  readonly span: Span;
  readonly ranges: readonly Range[];
  readonly floors: Floors;
  readonly differences: readonly ReindexDifference[];
  /** Whether a crash interrupted an earlier exchange of tables. All aggregates are then rebuilt. */
  readonly interrupted: boolean;
}

/**
 * Builds all new tables beside the old tables, and exchanges them at the end. Readers are affected only
 * during the exchange.
 */
async function repair(deps: ReindexDeps, work: Repair): Promise<string[]> {
  const { database, log, signal } = deps;
  const { span, floors, differences, interrupted } = work;
  const onProgress = logRebuild(log, () => performance.now());
  const changedTables = new Set(differences.map(({ table }) => table));
  if (changedTables.size === 0 && !interrupted) return [];
  if (floors.has('swaps') && (changedTables.has('swaps') || interrupted))
    throw new AppError('bad_config', 'bars cannot be rebuilt, because old swaps were pruned');
  const nextTables: string[] = [];
  const rebuilt: string[] = [];
  for (const { name, columns } of TABLE_ENCODERS) {
    if (changedTables.has(name)) {
      log.info({ table: name }, 'building the new version of a table');
      const where = rowsCondition(name, span, floors);
      await cloneNext(database, name);
      await database.command(
        `delete old rows of ${name}`,
        `ALTER TABLE ${nextOf(name)} DELETE WHERE ${where} SETTINGS mutations_sync = 2`,
      );
      const columnList = columns.join(', ');
      await database.command(
        `insert new rows of ${name}`,
        `INSERT INTO ${nextOf(name)} (${columnList}) SELECT ${columnList} FROM ${stagedOf(name)} WHERE ${where}`,
      );
      nextTables.push(name);
    }
    if (changedTables.has(name) || interrupted)
      rebuilt.push(
        ...(await rebuildViews(database, name, changedTables.has(name) ? nextOf(name) : name, {
          onProgress,
          signal,
        })),
      );
  }
  await writeOperation(database, EXCHANGING, 1);
  await exchange(database, [...nextTables, ...rebuilt]);
  await writeCounts(deps, work);
  await renewRangeHashes(deps, span);
  await writeOperation(database, EXCHANGING, 0);
  return rebuilt;
}

/** Corrects the row counts of the ranges in the table promotions. */
async function writeCounts({ database, chainId }: ReindexDeps, { ranges, floors }: Repair): Promise<void> {
  for (const range of ranges) {
    const span = { from: range.from_block, to: range.to_block };
    const names = TABLE_ENCODERS.map(({ name }) => name).filter(
      (name) => (floors.get(name) ?? 0) <= span.from,
    );
    const counts = names.map(
      (name) => `'${name}', assumeNotNull(${countSql(name, rowsCondition(name, span, floors))})`,
    );
    const sql = `SELECT map(${counts.join(', ')}) AS totals`;
    const [row] = await selectMade(database, 'count range', sql, {}, totalsRow);
    const pairs = names.map((name) => `'${name}', toUInt64(${row?.totals[name] ?? 0})`);
    const isWrong = names.map((name) => `counts['${name}'] != ${row?.totals[name] ?? 0}`).join(' OR ');
    await database.command(
      'correct counts',
      `ALTER TABLE promotions UPDATE counts = mapUpdate(counts, CAST(map(${pairs.join(', ')}), 'Map(LowCardinality(String), UInt64)'))
       WHERE chain_id = {chain:UInt32} AND from_block = {from:UInt32} AND to_block = {to:UInt32} AND (${isWrong})
       SETTINGS mutations_sync = 2`,
      { chain: chainId, ...span },
    );
  }
}

/** Lowers the levels of proof of ranges with blocks that are less proven, or raises those of ranges that are proven more. */
export async function setLevels(
  { database, chainId }: Pick<ReindexDeps, 'database' | 'chainId'>,
  proven: readonly ProofRange[],
  change: 'lower' | 'raise',
): Promise<void> {
  const isAffectedSql =
    change === 'lower'
      ? 'from_block <= {to:UInt32} AND to_block >= {from:UInt32}'
      : 'from_block >= {from:UInt32} AND to_block <= {to:UInt32}';
  for (const { from, to, level } of proven) {
    const changed = PROOF_LEVELS.filter((storedLevel) =>
      change === 'lower' ? isWeaker(level, storedLevel) : isWeaker(storedLevel, level),
    );
    await database.command(
      'set levels of proof',
      `ALTER TABLE promotions UPDATE proof = {level:String}
       WHERE chain_id = {chain:UInt32} AND has({changed:Array(String)}, toString(proof)) AND ${isAffectedSql}
       SETTINGS mutations_sync = 2`,
      { chain: chainId, from, to, level, changed },
    );
  }
}

/** Recomputes the stored range hashes of the blocks. */
async function renewRangeHashes({ database, chainId }: ReindexDeps, span: Span): Promise<void> {
  const firstRange = Math.floor(span.from / HASH_BLOCKS) * HASH_BLOCKS;
  const params = { chain: chainId, first: firstRange, to: span.to };
  const storedRanges = await selectNamed(database, 'ingest/repair/list_hashed_ranges', params, startRow);
  const ranges = listWholeRanges(firstRange, span.to + HASH_BLOCKS).filter((range) =>
    storedRanges.some(({ from_block }) => from_block === range),
  );
  for await (const range of hashRanges(database, chainId, ranges))
    await writeRangeHash(database, chainId, range);
}
