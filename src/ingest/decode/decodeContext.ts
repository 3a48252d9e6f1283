/**
 * The data that the decoders of pools of two tokens and of many tokens share: the chain's configuration, the pool
 * registry, and the block being decoded.
 */
import type { ChainBlock, ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import type { ManyTokenProtocol, ManyTokenState } from '../../protocols/manyTokenProtocol';
import type { Protocol } from '../../protocols/protocol';
import type { BlockFacts } from '../rows/blockRows';
import type { TransferDecoder } from './decodeTransfers';
import type { KnownPool, PoolRegistry } from '../pools/poolRegistry';

/** The protocols of the configured DEXes whose pools have many tokens. */
interface ManyTokenContext {
  /** topic0 of every event that their factories, vaults and pools emit. */
  readonly topics: ReadonlySet<Hex>;
  readonly protocols: readonly ManyTokenProtocol[];
}

/** Data for the whole life of the process. The registry is the only part that changes. */
export interface DecodeContext {
  readonly chainId: number;
  readonly registry: PoolRegistry;
  readonly dexByFactory: ReadonlyMap<Hex, Dex>;
  readonly protocolOfDex: (dex: Dex) => Protocol;
  readonly protocolOfPool: (pool: KnownPool) => Protocol;
  /** The known pool that a log concerns: its emitter, or the pool whose id it names. */
  readonly findPoolOf: (log: ChainLog) => KnownPool | undefined;
  /** topic0 of every event that pools emit. */
  readonly eventTopics: ReadonlySet<Hex>;
  readonly creationTopics: ReadonlySet<Hex>;
  /** Whether the balances of some pools follow the Transfers of their tokens. */
  readonly hasTokenTransfers: boolean;
  readonly manyTokens: ManyTokenContext;
  readonly transfers: TransferDecoder;
  /** Whether all raw logs of the block are stored; otherwise only the logs that `isKeptLog` names are. */
  readonly keepsAllLogs: (block: number) => boolean;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
  /** Called for a log that belongs to no transaction and is not proven by a receipt. */
  readonly onBlockLog: () => void;
  readonly onMalformed: (log: ChainLog) => void;
  /** Called for a creation whose pool would have the key of another pool. */
  readonly onRefused: (id: Hex, factory: Hex) => void;
}

export interface BlockWork {
  readonly context: DecodeContext;
  readonly block: ChainBlock;
  readonly facts: BlockFacts;
  /** The state of a pool of many tokens before its last log of this block. */
  readonly earlier: Map<Hex, ManyTokenState>;
}

/** Sender of the log's transaction. Null if the node does not report the sender. */
export function makerOf({ block }: BlockWork, log: ChainLog): Hex | null {
  return block.transactions[log.transactionIndex]?.from ?? null;
}

/** Whether a swap moves a price by more than 10 %. False if one of the two prices is unknown (null or 0). */
export function isBigMove(priceBefore: number | null, priceAfter: number | null): boolean {
  if (priceBefore === null || priceAfter === null || priceBefore <= 0 || priceAfter <= 0) return false;
  return Math.max(priceBefore / priceAfter, priceAfter / priceBefore) > 1.1;
}
