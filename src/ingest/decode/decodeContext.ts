/**
 * Context shared by the decoders of pair logs and vault logs: the chain's configuration, the registry, and
 * the block being decoded.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { Protocol } from '../../protocols/protocol';
import type { BlockFacts } from '../rows/blockRows';
import type { TransferDecoder } from './decodeTransfers';
import type { KnownPool, PoolRegistry } from '../pools/poolRegistry';

/** Fixed for the life of the process, except the registry. */
export interface DecodeContext {
  readonly chainId: number;
  readonly registry: PoolRegistry;
  readonly dexByFactory: ReadonlyMap<Hex, Dex>;
  readonly protocolOfDex: (dex: Dex) => Protocol;
  readonly protocolOfPool: (pool: KnownPool) => Protocol;
  /** topic0 of every event that pools emit. */
  readonly eventTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of the vault and vault-pool events that change a state. Empty if no vault is configured. */
  readonly vaultTopics: ReadonlySet<Hex>;
  readonly transfers: TransferDecoder;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  readonly onMalformed: (log: ChainLog) => void;
}

export interface BlockWork {
  readonly context: DecodeContext;
  readonly block: ChainBlock;
  readonly facts: BlockFacts;
}

/** Sender of the log's transaction. Null if the node does not report the sender. */
export function makerOf({ block }: BlockWork, log: ChainLog): Hex | null {
  return block.transactions[log.transactionIndex]?.from ?? null;
}
