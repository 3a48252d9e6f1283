/**
 * The error for a node answer that contradicts itself or the chain. The block is discarded, and the endpoint
 * may be benched: it is not used for some time.
 */
import { AppError } from '../../errors';

/**
 * Kinds of failed checks.
 * - `block_identity`: A log, receipt or transaction names another block than its header.
 * - `parent_link`: A block does not name the hash of the block before it.
 * - `transactions`: Count, index or hash of transactions and receipts disagree.
 * - `log_index`: Log indexes are not 0…n−1, or do not follow the transaction order.
 * - `removed_log`: A log is marked as removed by a reorg.
 * - `bloom`: The logs do not produce the header's bloom: a log is missing, added or changed.
 * - `proof`: The block's hash, transactions root or receipts root does not follow from its fields.
 * - `majority`: The majority of the endpoints has another block at this height.
 * - `timestamp`: A block is older than its parent, or is in the future.
 * - `malformed`: A field is missing, malformed or out of range.
 */
export const MISMATCH_KINDS = [
  'block_identity',
  'parent_link',
  'transactions',
  'log_index',
  'removed_log',
  'bloom',
  'proof',
  'majority',
  'timestamp',
  'malformed',
] as const;

export type MismatchKind = (typeof MISMATCH_KINDS)[number];

/**
 * Mismatches that an honest node can cause, if a reorg happens between two calls, or if the logs of a new
 * block are not indexed yet. The call is first repeated on the same node.
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
  /** Number of the block; null if the answer does not name a block. */
  readonly blockNumber: number | null;

  /** Whether the answer only lacks something. Another method of the same endpoint may have it. */
  readonly isIncomplete: boolean;

  constructor(kind: MismatchKind, blockNumber: number | null, what: string, isIncomplete = false) {
    const where = blockNumber === null ? 'a node answer' : `block ${blockNumber}`;
    super('node_failed', `${where} fails verification (${kind}): ${what}`, { retryable: true });
    this.name = 'BlockMismatch';
    this.kind = kind;
    this.blockNumber = blockNumber;
    this.isIncomplete = isIncomplete;
  }

  /** Whether a reorg between two calls, or an index that is behind, may be the reason. */
  get maybeRace(): boolean {
    return RACE_KINDS.has(this.kind);
  }
}
