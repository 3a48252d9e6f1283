/** Limits the bytes of a page of logs, because anyone can emit logs of megabytes. Pure. */

export interface LogBounds {
  /** Bytes of data kept per log; Infinity keeps all data. */
  readonly dataMax: number;
  /** Limit of the whole page as JSON, in bytes. */
  readonly pageMax: number;
}

/** Limits for lists: long data is cut, and a page full of long data ends early. */
export const LIST_BOUNDS: LogBounds = { dataMax: 65_536, pageMax: 8_000_000 };
/** Limits for a single log, with all its data. */
export const SINGLE_BOUNDS: LogBounds = { dataMax: Infinity, pageMax: LIST_BOUNDS.pageMax };
/** Limits for requests that only ask whether logs exist. */
export const NO_DATA: LogBounds = { dataMax: 0, pageMax: LIST_BOUNDS.pageMax };

/** Size of an entry as JSON in bytes, without data and decoded values, with 4 topics. */
export const ENTRY_BYTES = 900;
/** Largest number of raw data bytes in one answer of ClickHouse. */
const READ_BYTES_MAX = 4_194_304;
const LOG_BYTES_MIN = 1_024;

interface MeasuredLog {
  readonly ord: number;
  /** Length of the log's whole data in bytes. */
  readonly dataBytes: number;
}

/**
 * Largest number of bytes of `data` per log that the first query for `rows` logs returns. This is enough for nearly all
 * pages and limits the memory.
 */
export function firstDataMax(rows: number, { dataMax }: LogBounds): number {
  return Math.min(dataMax, Math.max(LOG_BYTES_MIN, Math.floor(READ_BYTES_MAX / rows)));
}

/** How many logs, from the first one on, fit into the page; at least one. */
export function countFitting(logs: readonly MeasuredLog[], { dataMax, pageMax }: LogBounds): number {
  let pageBytes = 0;
  const firstTooMany = logs.findIndex(({ dataBytes }) => {
    pageBytes += ENTRY_BYTES + 2 * Math.min(dataBytes, dataMax);
    return pageBytes > pageMax;
  });
  return firstTooMany === -1 ? logs.length : Math.max(1, firstTooMany);
}

/**
 * Positions (`ord`) of logs with more than `keptMax` bytes of data, up to `dataMax` each, in groups of the
 * size of one ClickHouse answer.
 */
export function groupsToRead(
  logs: readonly MeasuredLog[],
  keptMax: number,
  dataMax: number,
): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let groupBytes = Infinity;
  for (const { ord, dataBytes } of logs) {
    if (dataBytes <= keptMax || keptMax >= dataMax) continue;
    const wantedBytes = Math.min(dataBytes, dataMax);
    if (groupBytes + wantedBytes > READ_BYTES_MAX) {
      groups.push([]);
      groupBytes = 0;
    }
    groups.at(-1)?.push(ord);
    groupBytes += wantedBytes;
  }
  return groups;
}
