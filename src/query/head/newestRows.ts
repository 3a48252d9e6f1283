/**
 * Reads tables that keep the newest row of each token. Each call reads only the rows that are new since the last call.
 */

/**
 * A row may become visible up to this time, in ms, after a row with a later version. Reads of new rows therefore
 * start this much earlier.
 */
const LATE_MS = 60_000;

interface VersionedRow {
  readonly token: string;
  /** Time when the row was written, unix milliseconds, UTC. */
  readonly version: number;
}

/** A function that returns the newest row of each token. `read` lists the rows with this version or a later one. */
export function createNewestRows<Row extends VersionedRow>(
  read: (sinceVersion: number) => Promise<readonly Row[]>,
): () => Promise<ReadonlyMap<string, Row>> {
  let rowByToken: ReadonlyMap<string, Row> = new Map();
  let newestVersion = 0;
  return async () => {
    const rows = await read(Math.max(0, newestVersion - LATE_MS));
    const newRows = rows.filter(({ version }) => version > newestVersion - LATE_MS);
    if (newRows.length === 0) return rowByToken;
    // Copies the map instead of changing it, because callers may still use the map of an earlier call.
    const nextRowByToken = new Map(rowByToken);
    for (const row of newRows) {
      nextRowByToken.set(row.token, row);
      newestVersion = Math.max(newestVersion, row.version);
    }
    rowByToken = nextRowByToken;
    return rowByToken;
  };
}
