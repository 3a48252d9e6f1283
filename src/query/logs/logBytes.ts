/** How much of a page of logs is read, by the lengths of their data: anyone can write logs of megabytes. Pure. */

export interface LogBounds {
  /** Bytes of `data` kept of each log; Infinity: all. */
  readonly dataMax: number;
  /** Bytes of the whole page as JSON. */
  readonly pageMax: number;
}

/** Pages of lists: data is cut, and a page that is full of long data ends earlier. */
export const LIST_BOUNDS: LogBounds = { dataMax: 65_536, pageMax: 8_000_000 };
/** Where a log is asked for alone: the whole of it. */
export const SINGLE_BOUNDS: LogBounds = { dataMax: Infinity, pageMax: LIST_BOUNDS.pageMax };
/** Where only the existence of logs matters. */
export const NO_DATA: LogBounds = { dataMax: 0, pageMax: LIST_BOUNDS.pageMax };

/** An entry without data and decoded values, as JSON: at most 4 topics. */
export const ENTRY_BYTES = 900;
/** Raw bytes of data in one answer of the engine. */
const READ_BYTES = 4_194_304;
const READ_BYTES_MIN = 1_024;

export interface MeasuredLog {
  readonly ord: number;
  /** Bytes of the data, of which perhaps not all are kept. */
  readonly dataBytes: number;
}

/** Bytes of each log's data that a first look at so many logs takes: enough for nearly all pages, and never much. */
export function firstDataMax(rows: number, { dataMax }: LogBounds): number {
  return Math.min(dataMax, Math.max(READ_BYTES_MIN, Math.floor(READ_BYTES / rows)));
}

/** How many of the logs, from the first one on, fit the page; at least one. */
export function countFitting(logs: readonly MeasuredLog[], { dataMax, pageMax }: LogBounds): number {
  let bytes = 0;
  const over = logs.findIndex(({ dataBytes }) => {
    bytes += ENTRY_BYTES + 2 * Math.min(dataBytes, dataMax);
    return bytes > pageMax;
  });
  return over === -1 ? logs.length : Math.max(1, over);
}

/** Ords of logs whose data was kept up to `keptMax` and is wanted up to `dataMax`, as many together as one answer holds. */
export function groupsToRead(
  logs: readonly MeasuredLog[],
  keptMax: number,
  dataMax: number,
): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let bytes = Infinity;
  for (const { ord, dataBytes } of logs) {
    if (dataBytes <= keptMax || keptMax >= dataMax) continue;
    const wanted = Math.min(dataBytes, dataMax);
    if (bytes + wanted > READ_BYTES) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(ord);
    bytes += wanted;
  }
  return groups;
}
