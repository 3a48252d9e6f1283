/**
 * `ord = block_number · 2^20 + log_index`, the position of a log in the chain and the only order of events.
 * Up to block 2^33 an ord is an exact JavaScript number, so it is a plain number in code and a UInt64 in the
 * database.
 */

/** Log indexes are below this number, so two logs never have the same ord. */
export const ORD_SPAN = 1_048_576;

export function toOrd(blockNumber: number, logIndex: number): number {
  return blockNumber * ORD_SPAN + logIndex;
}

/** The largest possible ord of a block. */
export function lastOrdOfBlock(blockNumber: number): number {
  return blockNumber * ORD_SPAN + (ORD_SPAN - 1);
}

export function blockOfOrd(ord: number): number {
  return Math.floor(ord / ORD_SPAN);
}

export function logIndexOfOrd(ord: number): number {
  return ord % ORD_SPAN;
}

/** Id of an event in the API: `"<block_number>-<log_index>"`. */
export function eventId(ord: number): string {
  return `${blockOfOrd(ord)}-${logIndexOfOrd(ord)}`;
}
