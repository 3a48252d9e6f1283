/** What reading a block's logs needs to know, and where the rows go: shared by the readers of pairs and of vaults. */
import type { ChainBlock, ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { Protocol } from '../../protocols/protocol';
import type { BlockFacts } from '../rows/blockRows';
import type { TransferDecoder } from './decodeTransfers';
import type { KnownPool, PoolRegistry } from '../pools/poolRegistry';

/** What decoding needs to know of the chain: fixed for the life of the process. */
export interface DecodeContext {
  readonly chainId: number;
  readonly registry: PoolRegistry;
  readonly dexByFactory: ReadonlyMap<Hex, Dex>;
  readonly protocolOfDex: (dex: Dex) => Protocol;
  readonly protocolOfPool: (pool: KnownPool) => Protocol;
  /** topic0 of every event that some protocol's pools emit. */
  readonly eventTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  /** topic0 of every event of a vault and of its pools that moves something; empty where no vault is configured. */
  readonly vaultTopics: ReadonlySet<Hex>;
  readonly transfers: TransferDecoder;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  readonly onMalformed: (log: ChainLog) => void;
}

/** One block being decoded. */
export interface BlockWork {
  readonly context: DecodeContext;
  readonly block: ChainBlock;
  readonly facts: BlockFacts;
}

/** Sender of the log's transaction; null where the node does not tell. */
export function makerOf({ block }: BlockWork, log: ChainLog): Hex | null {
  return block.transactions[log.transactionIndex]?.from ?? null;
}
