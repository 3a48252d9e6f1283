/**
 * Counts what one API request reads from the database. The database client reports each statement, and the
 * counter of the current request is found even after an await.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Rows and bytes that statements have read. */
export interface ReadCost {
  rows: number;
  bytes: number;
}

const costOfRequest = new AsyncLocalStorage<ReadCost>();

/** Runs work, and counts its statements in `cost`. */
export function countReads<T>(cost: ReadCost, work: () => T): T {
  return costOfRequest.run(cost, work);
}

/**
 * Adds the numbers in an answer's header X-ClickHouse-Summary. A missing or unreadable header adds nothing.
 */
export function addSummary(header: string | readonly string[] | undefined): void {
  const cost = costOfRequest.getStore();
  if (cost === undefined || typeof header !== 'string') return;
  cost.rows += readField(header, 'read_rows');
  cost.bytes += readField(header, 'read_bytes');
}

function readField(header: string, name: string): number {
  return Number(new RegExp(`"${name}":"(\\d{1,18})"`).exec(header)?.[1] ?? 0);
}
