/**
 * Asks the node what the creation event of a pool does not tell, such as its fee and the decimals by which it counts.
 * The decimals never change. If no node has the state of the block, the fee is that of the newest block.
 */
import type { ChainBlock } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import type { Dex } from '../../domain/pool';
import { askContracts, askSince, type EthCalls } from '../../node/calls/askContracts';
import type { PoolCreation, Protocol } from '../../protocols/protocol';
import type { DecodeContext } from '../decode/decodeContext';

interface CreatedPool {
  readonly dex: Dex;
  readonly protocol: Protocol;
  readonly creation: PoolCreation;
}

/**
 * The creations with their details, in the same order. A detail without a usable answer stays unknown. The contracts are
 * asked at the blocks with these hashes, by default at `block`, which is the newest of them.
 */
export async function withDetails<Created extends CreatedPool>(
  rpc: EthCalls,
  pools: readonly Created[],
  block: Pick<ChainBlock, 'number' | 'hash'>,
  reversible: boolean,
  signal?: AbortSignal,
  hashes?: readonly Hex[],
): Promise<Created[]> {
  const calls = pools.map(({ dex, protocol, creation }) => protocol.detailCalls(dex.factory, creation));
  if (calls.every(({ length }) => length === 0)) return [...pools];
  const details = await askSince(block, reversible, (place) => {
    const own = (index: number) => ({ blockHash: hashes?.[index] ?? block.hash });
    return askContracts(rpc, calls, { ...place, at: place.at === 'latest' ? place.at : own, signal });
  });
  return pools.map((pool, index) => ({
    ...pool,
    creation: pool.protocol.readDetails(pool.creation, details[index]?.answers ?? []),
  }));
}

/** The first creation of each pool in these blocks with its details, by the id of the pool or its address. */
export async function readCreations(
  rpc: EthCalls,
  { dexByFactory, protocolOfDex }: Pick<DecodeContext, 'dexByFactory' | 'protocolOfDex'>,
  blocks: readonly ChainBlock[],
  reversible: boolean,
  signal?: AbortSignal,
): Promise<ReadonlyMap<Hex, PoolCreation>> {
  const last = blocks.at(-1);
  const created = blocks.flatMap(({ hash, logs }) =>
    logs.flatMap((log) => {
      const dex = dexByFactory.get(log.address);
      if (dex === undefined) return [];
      const protocol = protocolOfDex(dex);
      const creation = protocol.decodeCreation(log);
      return creation === null ? [] : [{ dex, protocol, creation, hash }];
    }),
  );
  if (last === undefined || created.length === 0) return new Map();
  const hashes = created.map(({ hash }) => hash);
  const pools = await withDetails(rpc, created, last, reversible, signal, hashes);
  return new Map(pools.toReversed().map(({ creation }) => [creation.id ?? creation.pool, creation]));
}
