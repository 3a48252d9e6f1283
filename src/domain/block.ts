/** A verified block of the chain as the program passes it on: header facts, transaction facts, logs in order. */
import type { Hex } from './hex';

/** One log. Address, topics, data and hashes are lower-case; topics are 0–4 words of 32 bytes. */
export interface ChainLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** What a block needs to be told apart and linked to its parent. */
export interface BlockRef {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds, UTC. */
  readonly timestamp: number;
}

/** What is known of a transaction. `from` and the gas price are null where neither receipts nor bodies were fetched. */
export interface ChainTransaction {
  readonly hash: Hex;
  readonly index: number;
  readonly from: Hex | null;
  /** Wei. */
  readonly effectiveGasPrice: bigint | null;
  /** The contract that the transaction created, if any. */
  readonly contractAddress: Hex | null;
}

export interface ChainBlock extends BlockRef {
  /** Wei; null before EIP-1559. */
  readonly baseFeePerGas: bigint | null;
  /** Number of transactions in the block, known even where `transactions` is empty. */
  readonly transactionCount: number;
  /** In index order; empty when neither receipts nor bodies were fetched. */
  readonly transactions: readonly ChainTransaction[];
  /** In log-index order, complete. */
  readonly logs: readonly ChainLog[];
}
