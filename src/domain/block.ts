/** A verified block of the chain: header, transactions and logs in order. */
import type { Hex } from './hex';

/** One log. Address, topics, data and hashes are lower-case; a log has 0–4 topics of 32 bytes. */
export interface ChainLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** Identifies a block and its parent. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
}

/** The known fields of a transaction. `from` and the gas price are null if neither receipts nor bodies were fetched. */
export interface ChainTransaction {
  readonly hash: Hex;
  readonly index: number;
  readonly from: Hex | null;
  /** Wei. */
  readonly effectiveGasPrice: bigint | null;
  /** The contract that the transaction created; null: none. */
  readonly contractAddress: Hex | null;
}

export interface ChainBlock extends BlockRef {
  /** Wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  /** Number of transactions in the block, known even if `transactions` is empty. */
  readonly transactionCount: number;
  /** In index order; empty if neither receipts nor bodies were fetched. */
  readonly transactions: readonly ChainTransaction[];
  /** Complete, in log-index order. */
  readonly logs: readonly ChainLog[];
}
