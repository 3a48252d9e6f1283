/**
 * Lists and counts logs as of a snapshot, by the cheapest key of the filter. With one contract and one
 * topic0, rows come in the order of the table's key. Otherwise a first query finds positions (`ord`) in
 * growing spans of blocks, and then the rows are read by position.
 */
import { address, hash, hexBytes, u32, u64, u8 } from '../../clickhouse/rows/columns';
import { rowType, type RowOf } from '../../clickhouse/rows/rowType';
import type { Hex } from '../../domain/hex';
import { blockOfOrd } from '../../domain/ord';
import type { HeadSnapshot } from '../head/headSnapshot';
import { inChunks } from '../head/inChunks';
import { countFitting, firstDataMax, groupsToRead, type LogBounds } from './logBytes';
import { isNarrow, logParams, rangeOf, type LogFilter, type LogSource, type OrdRange } from './logFilter';
import { searchSpans, type SpanSearch } from './logSpans';
import { TIME_BUDGETS } from '../head/timeBudgets';
import { AppError } from '../../errors';

/** Counting by the table's key stops at this total. The engine counts about this many logs in some milliseconds. */
const KEYED_TOTAL_MAX = 100_000;
/**
 * If no table key serves the filter, counting stops at this total: a page may skip at most this many logs.
 */
const SEARCHED_TOTAL_MAX = 10_000;
/** Number of positions in one query. */
const ORDS_PER_QUERY = 400;
/** A limit longer than the data of any log. */
const WHOLE_DATA_BYTES = 4_294_967_295;

const ordRow = rowType({ ord: u64 });
const countRow = rowType({ logs: u64 });
const logRow = rowType({
  ord: u64,
  timestamp: u32,
  address,
  topic_count: u8,
  topic0: hash,
  topic1: hash,
  topic2: hash,
  topic3: hash,
  kept: hexBytes,
  data_bytes: u64,
  tx_hash: hash,
  tx_index: u32,
});

export interface StoredLog {
  readonly ord: number;
  /** Time of the log's block, unix seconds. */
  readonly timestamp: number;
  readonly address: Hex;
  readonly topics: readonly Hex[];
  /** The data of the log. Only its first bytes if it is shorter than `dataBytes`. */
  readonly data: Hex;
  readonly dataBytes: number;
  readonly txHash: Hex;
  readonly txIndex: number;
}

interface LogPage {
  readonly newestFirst: boolean;
  /** The position of the previous page's last log, after which this page starts; null for the first page. */
  readonly afterOrd: number | null;
  readonly skip: number;
  readonly limit: number;
  readonly bounds: LogBounds;
}

interface FoundLogs {
  readonly logs: readonly StoredLog[];
  /** The position of the next page; null if there are no more logs. */
  readonly nextOrd: number | null;
  /** Number of matching logs found, including the skipped logs. More logs may follow after `nextOrd`. */
  readonly seenLogs: number;
  /** Whether the page ended before its limit because of long data. */
  readonly isFull: boolean;
}

/** A page of matching logs. At most 1,000 rows, and at most 10,000 skipped. */
export async function listLogs(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  page: LogPage,
): Promise<FoundLogs> {
  const range = rangeAfter(rangeOf(filter, head), page);
  if (range.from > range.to) return { logs: [], nextOrd: null, seenLogs: 0, isFull: false };
  const ordsWanted = page.skip + page.limit + 1;
  const [address] = filter.addresses;
  const [topic0] = filter.topics[0];
  const hasSingleKey = filter.addresses.length === 1 && filter.topics[0].length === 1;
  if (hasSingleKey && address !== undefined && topic0 !== undefined && filter.txHash === null) {
    const rows = await listEventLogs(source, head, filter, range, page, address, topic0);
    const dataPage = await readData(source, head, filter, rows.slice(0, page.limit), page);
    const nextOrd = rows.length > page.limit || dataPage.isFull ? (dataPage.logs.at(-1)?.ord ?? null) : null;
    const rowsOnPage = Math.min(rows.length, page.limit);
    return { ...dataPage, nextOrd, seenLogs: rowsOnPage === 0 ? 0 : page.skip + rowsOnPage };
  }
  const search = { newestFirst: page.newestFirst, ordsWanted };
  const { ords, stoppedAtOrd } = await findOrds(source, head, filter, range, search);
  const pageOrds = ords.slice(page.skip, page.skip + page.limit + 1);
  // One extra position is read, only to find out whether a next page exists.
  const ordsToRead = pageOrds.slice(0, page.limit);
  const rows = await readLogs(source, head, filter, ordsToRead, firstDataMax(page.limit, page.bounds));
  const dataPage = await readData(source, head, filter, rows, page);
  if (dataPage.isFull)
    return { ...dataPage, nextOrd: dataPage.logs.at(-1)?.ord ?? null, seenLogs: ords.length };
  const nextOrd = pageOrds.length > page.limit ? (pageOrds[page.limit - 1] ?? null) : stoppedAtOrd;
  return { ...dataPage, nextOrd, seenLogs: ords.length };
}

/**
 * The logs that fit into the page, with as much data as the page allows. `rows` have the data of the first query.
 * Long data needs a second query, after the number of fitting logs is known.
 */
async function readData(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  rows: readonly StoredLog[],
  { limit, bounds }: LogPage,
): Promise<Pick<FoundLogs, 'logs' | 'isFull'>> {
  const fittingLogs = rows.slice(0, countFitting(rows, bounds));
  const longLogs = new Map<number, StoredLog>();
  for (const ords of groupsToRead(fittingLogs, firstDataMax(limit, bounds), bounds.dataMax)) {
    for (const log of await readLogs(source, head, filter, ords, bounds.dataMax)) longLogs.set(log.ord, log);
  }
  return {
    logs: fittingLogs.map((log) => longLogs.get(log.ord) ?? log),
    isFull: fittingLogs.length < rows.length,
  };
}

/**
 * The number of matching logs. `exact` is false if the count stopped at a limit; then there are at least `total` logs.
 */
export async function countLogs(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
): Promise<{ readonly total: number; readonly exact: boolean }> {
  const { runner, chainId } = source;
  const range = rangeOf(filter, head);
  if (range.from > range.to) return { total: 0, exact: true };
  const params = { ...logParams(chainId, head, filter, range), from_ord: range.from, to_ord: range.to };
  if (filter.txHash !== null || isNarrow(filter)) {
    const countMax = SEARCHED_TOTAL_MAX + 1;
    const countSearch = { newestFirst: true, ordsWanted: countMax, patienceMs: TIME_BUDGETS.logCountMs };
    const { ords, stoppedAtOrd } = await findOrds(source, head, filter, range, countSearch);
    return { total: ords.length, exact: stoppedAtOrd === null && ords.length < countMax };
  }
  if (filter.addresses.length === 0 && filter.topics[0].length === 0) {
    const blocks = {
      from_block: blockOfOrd(range.from),
      to_block: blockOfOrd(range.to),
      final_to: head.finalTo,
    };
    const [sum] = await runner.run('logs/sum_block_logs', { ...params, ...blocks }, countRow);
    return { total: sum?.logs ?? 0, exact: true };
  }
  const countedMax = KEYED_TOTAL_MAX + 1;
  const [countRowRead] = await runner.run('logs/count_logs', { ...params, most: countedMax }, countRow);
  const total = Number(countRowRead?.logs ?? 0);
  return { total, exact: total < countedMax };
}

function rangeAfter(range: OrdRange, { newestFirst, afterOrd: last }: LogPage): OrdRange {
  if (last === null) return range;
  return newestFirst
    ? { from: range.from, to: Math.min(range.to, last - 1) }
    : { from: Math.max(range.from, last + 1), to: range.to };
}

/**
 * Lists the logs of one contract and one topic0. Returns up to one row more than the page holds, to show
 * whether a next page exists.
 */
async function listEventLogs(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange,
  { newestFirst, skip, limit, bounds }: LogPage,
  address: Hex,
  topic0: Hex,
): Promise<StoredLog[]> {
  const params = {
    ...logParams(chainId, head, filter, range),
    newest: newestFirst,
    oldest: !newestFirst,
    address: address.slice(2),
    topic0: topic0.slice(2),
    from_ord: range.from,
    to_ord: range.to,
    limit: limit + 1,
    skip,
    data_max: firstDataMax(limit, bounds),
  };
  return (await runner.run('logs/list_event_logs', params, logRow)).map(logOf);
}

interface FoundOrds {
  /** The positions in the requested order, at most `ordsWanted`. */
  readonly ords: readonly number[];
  /** Position where an unfinished search stopped; null if the search was complete or found enough. */
  readonly stoppedAtOrd: number | null;
}

async function findOrds(
  source: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  range: OrdRange,
  search: SpanSearch,
): Promise<FoundOrds> {
  const { runner, chainId } = source;
  const { newestFirst, ordsWanted } = search;
  const params = {
    ...logParams(chainId, head, filter, range),
    from_ord: range.from,
    to_ord: range.to,
    limit: ordsWanted,
    newest: newestFirst,
    oldest: !newestFirst,
  };
  const listOrds = async (name: string, otherParams = {}): Promise<number[]> =>
    (await runner.run(name, { ...params, ...otherParams }, ordRow)).map(({ ord }) => ord);
  if (filter.txHash !== null) {
    const ords = await listOrds('logs/list_matching_ords', { tx_hash: filter.txHash.slice(2) });
    return { ords, stoppedAtOrd: null };
  }
  if (filter.addresses.length === 0 && !isNarrow(filter)) {
    const [topics0] = filter.topics;
    if (topics0.length === 0) return { ords: await listOrds('logs/list_block_ords'), stoppedAtOrd: null };
    const ordLists = await Promise.all(
      [...new Set(topics0)].map((topic0) => listOrds('logs/list_topic_ords', { topic0: topic0.slice(2) })),
    );
    const sign = newestFirst ? -1 : 1;
    const ords = ordLists.flat().sort((a, b) => sign * (a - b));
    return { ords: ords.slice(0, ordsWanted), stoppedAtOrd: null };
  }
  return searchSpans(source, head, filter, range, search, (span, limit) =>
    listOrds('logs/list_matching_ords', { from_ord: span.from, to_ord: span.to, limit }),
  );
}

/** The logs at these positions, in the given order, with the first `dataMax` bytes of their data. */
async function readLogs(
  { runner, chainId }: LogSource,
  head: HeadSnapshot,
  filter: LogFilter,
  ords: readonly number[],
  dataMax: number,
): Promise<StoredLog[]> {
  const readChunk = async (chunk: readonly number[]): Promise<StoredLog[]> => {
    const range = { from: Math.min(...chunk), to: Math.max(...chunk) };
    const params = {
      ...logParams(chainId, head, filter, range),
      from_ord: range.from,
      to_ord: range.to,
      ords: chunk,
      limit: ORDS_PER_QUERY,
      data_max: Math.min(dataMax, WHOLE_DATA_BYTES),
    };
    return (await runner.run('logs/list_logs_at', params, logRow)).map(logOf);
  };
  const byOrd = new Map<number, StoredLog>();
  for (const log of await inChunks(ords, readChunk, ORDS_PER_QUERY)) byOrd.set(log.ord, log);
  return ords.flatMap((ord) => byOrd.get(ord) ?? []);
}

function logOf(row: RowOf<typeof logRow>): StoredLog {
  const topics = [row.topic0, row.topic1, row.topic2, row.topic3];
  return {
    ord: row.ord,
    timestamp: row.timestamp,
    address: row.address,
    topics: topics.slice(0, row.topic_count),
    data: row.kept,
    dataBytes: row.data_bytes,
    txHash: row.tx_hash,
    txIndex: row.tx_index,
  };
}

const NOT_KEPT =
  'this service does not keep the raw logs of contracts: its ingester runs with the setting EXPLORER=off';

/** @throws AppError `logs_not_kept` if only some logs of the newest blocks are stored */
export function requireLogs({ logsFrom }: Pick<HeadSnapshot, 'logsFrom'>): void {
  if (logsFrom === null) throw new AppError('logs_not_kept', NOT_KEPT);
}
