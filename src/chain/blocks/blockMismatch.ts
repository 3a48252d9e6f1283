/** The error of a node whose answer contradicts itself or the chain: the block is not used, the node is not believed. */
import { AppError } from '../../errors';

/**
 * - `block_identity`: a log, receipt or transaction names another block than the header it came with
 * - `parent_link`: consecutive blocks do not link
 * - `transactions`: count, index or hash of transactions and receipts disagree
 * - `log_index`: log indexes are not 0…n−1, or logs stand outside their transaction's order
 * - `removed_log`: a log is marked as taken back
 * - `bloom`: the logs do not make the header's bloom: something was left out, added or altered
 * - `malformed`: a field is missing, of the wrong shape or out of range
 */
export const MISMATCH_KINDS = [
  'block_identity',
  'parent_link',
  'transactions',
  'log_index',
  'removed_log',
  'bloom',
  'malformed',
] as const;

export type MismatchKind = (typeof MISMATCH_KINDS)[number];

/**
 * An honest node gives these too, when the chain is reorganised between two calls or when a fresh block's logs are
 * not indexed yet: ask again before judging.
 */
const RACE_KINDS: ReadonlySet<MismatchKind> = new Set([
  'block_identity',
  'parent_link',
  'transactions',
  'removed_log',
  'bloom',
]);

export class BlockMismatch extends AppError {
  readonly kind: MismatchKind;
  /** The block in question; null where the answer did not even say. */
  readonly blockNumber: number | null;

  constructor(kind: MismatchKind, blockNumber: number | null, what: string) {
    const where = blockNumber === null ? 'an answer' : `block ${blockNumber}`;
    super('node_failed', `${where} fails verification (${kind}): ${what}`, { retryable: true });
    this.name = 'BlockMismatch';
    this.kind = kind;
    this.blockNumber = blockNumber;
  }

  get maybeRace(): boolean {
    return RACE_KINDS.has(this.kind);
  }
}
