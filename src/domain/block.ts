/** A verified block of the chain: header, transactions and logs in order; and how far it is proven. */
import type { Hex } from './hex';

/** One log. Address, topics, data and hashes are lower-case; a log has 0–4 topics of 32 bytes. */
export interface ChainLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** The zero hash if the log belongs to the block itself, and to none of its transactions. */
  readonly transactionHash: Hex;
  /** The number of transactions of the block if the log belongs to none of them. */
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** Identifies a block and its parent. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Block time, unix seconds, UTC. */
  readonly timestamp: number;
}

/**
 * The known fields of a transaction. `from` and the gas price are null if neither receipts nor bodies were fetched.
 */
export interface ChainTransaction {
  readonly hash: Hex;
  readonly index: number;
  readonly from: Hex | null;
  /** Effective gas price in wei. */
  readonly effectiveGasPrice: bigint | null;
  /** Gas used by this transaction alone; null if no receipts were fetched. */
  readonly gasUsed: number | null;
  /** Address of the contract that the transaction created; null if it created none. */
  readonly contractAddress: Hex | null;
}

export interface ChainBlock extends BlockRef {
  /** Base fee in wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  /** Number of transactions in the block, known even if `transactions` is empty. */
  readonly transactionCount: number;
  /** Transactions in the order of their index; empty if neither receipts nor bodies were fetched. */
  readonly transactions: readonly ChainTransaction[];
  /** All logs of the block, in the order of their log index. */
  readonly logs: readonly ChainLog[];
  /** How far the block is proven. Absent means `bloom`. */
  readonly proof?: ProofLevel;
}

/**
 * How much of a block is proven, least first.
 * - `none`: Nothing. The header's bloom is empty although the chain has logs.
 * - `bloom`: The bloom of the header contains the addresses and topics of the logs. The header itself is not proven.
 * - `headers`: Also the hash of the header.
 * - `receipts`: The hash of the header, and the receipts root: every log, and the status and gas of each transaction.
 * - `full`: Also the transactions root.
 */
export const PROOF_LEVELS = ['none', 'bloom', 'headers', 'receipts', 'full'] as const;
export type ProofLevel = (typeof PROOF_LEVELS)[number];

/** Whether `level` proves less than `other`. */
export function isWeaker(level: ProofLevel, other: ProofLevel): boolean {
  return PROOF_LEVELS.indexOf(level) < PROOF_LEVELS.indexOf(other);
}

export function weakerOf(level: ProofLevel, other: ProofLevel): ProofLevel {
  return isWeaker(level, other) ? level : other;
}

/** The setting PROOF. `auto` learns the level from the first blocks. */
export type ProofMode = ProofLevel | 'auto';

export interface ProofOptions {
  readonly mode: ProofMode;
  /** A block hash that the operator knows. Null if none is set. */
  readonly trusted: { readonly number: number; readonly hash: Hex } | null;
}
