/** Limits the bytes of a page of logs, because anyone can emit logs of megabytes. Pure. */

export interface LogBounds {
  /** Bytes of data kept per log; Infinity: all. */
  readonly dataMax: number;
  /** Bytes of the whole page as JSON. */
  readonly pageMax: number;
}

/** For pages of lists: data is cut, and a page full of long data ends early. */
export const LIST_BOUNDS: LogBounds = { dataMax: 65_536, pageMax: 8_000_000 };
/** For a single log: all its data. */
export const SINGLE_BOUNDS: LogBounds = { dataMax: Infinity, pageMax: LIST_BOUNDS.pageMax };
/** For requests that only need the existence of logs. */
export const NO_DATA: LogBounds = { dataMax: 0, pageMax: LIST_BOUNDS.pageMax };

/** An entry as JSON without data and decoded values, with 4 topics. */
export const ENTRY_BYTES = 900;
/** Raw bytes of data in one answer of the engine. */
const READ_BYTES = 4_194_304;
const READ_BYTES_MIN = 1_024;

interface MeasuredLog {
  readonly ord: number;
  /** Bytes of the whole data, kept or not. */
  readonly dataBytes: number;
}

/** Bytes of data per log in the first read of this many logs. Enough for nearly all pages, with bounded memory. */
export function firstDataMax(rows: number, { dataMax }: LogBounds): number {
  return Math.min(dataMax, Math.max(READ_BYTES_MIN, Math.floor(READ_BYTES / rows)));
}

/** The number of first logs that fit the page; at least one. */
export function countFitting(logs: readonly MeasuredLog[], { dataMax, pageMax }: LogBounds): number {
  let bytes = 0;
  const over = logs.findIndex(({ dataBytes }) => {
    bytes += ENTRY_BYTES + 2 * Math.min(dataBytes, dataMax);
    return bytes > pageMax;
  });
  return over === -1 ? logs.length : Math.max(1, over);
}

/**
 * Ords of logs with more than `keptMax` bytes of data, up to `dataMax` each, grouped by the size of one engine answer.
 */
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
