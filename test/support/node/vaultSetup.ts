/** A node and a decoding context for tests of vault pools. */
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { Hex } from '../../../src/domain/hex';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { EthCalls } from '../../../src/node/calls/askContracts';
import { createTransferDecoder } from '../../../src/ingest/decode/decodeTransfers';
import type { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { POOL_TOPICS, VAULT_TOPICS } from '../../../src/protocols/balancerV2';

export interface Asked {
  readonly to: Hex;
  readonly data: Hex;
  readonly at: Hex | 'latest' | { readonly blockHash: Hex };
}

/**
 * Answer of a call; null means that the call reverts. A retryable error fails the whole batch, as in the
 * endpoint pool, unless it means that every endpoint gave a malformed answer. `hashAt` gives the hash of each block on the node's chain.
 */
export function answeringCalls(
  answer: (asked: Asked) => Hex | null | RpcError,
  hashAt: (number: number) => Hex | null = () => null,
): EthCalls {
  return {
    batchOutcomes(calls, parse) {
      const results = calls.map(({ method, params }) => {
        // This block number is above all blocks of these tests.
        if (method === 'eth_blockNumber') return '0xffffff';
        if (method === 'eth_getBlockByNumber') return { hash: hashAt(Number(params[0])) };
        const [call, at] = params as unknown as [{ to: Hex; data: Hex }, Asked['at']];
        return answer({ ...call, at }) ?? new RpcError('revert', 'execution reverted');
      });
      const passing = results.find(
        (result) => result instanceof RpcError && result.retryable && !result.malformed,
      );
      if (passing instanceof RpcError) return Promise.reject(passing);
      return Promise.resolve(
        results.map((result, index) =>
          result instanceof RpcError ? { error: result } : { value: parse(result, index) },
        ),
      );
    },
  };
}

/** The error of a call to which every endpoint gave a malformed answer. */
export const malformedAnswer = new RpcError('bad_answer', 'not hex data', { malformed: true });

/** A chain whose only DEX is a vault. The smaller address is the base. */
export function contextOf(registry: PoolRegistry): DecodeContext {
  const none = (): never => {
    throw new Error('this setup has no pairs');
  };
  return {
    chainId: 369,
    registry,
    dexByFactory: new Map(),
    protocolOfDex: none,
    protocolOfPool: none,
    eventTopics: new Set(),
    creationTopics: new Set(),
    transfers: createTransferDecoder({
      wrappedNative: null,
      positionManagers: new Set(),
      isPool: () => false,
    }),
    keepsAllLogs: () => true,
    vaultTopics: new Set([...VAULT_TOPICS, ...POOL_TOPICS]),
    baseIsToken0: (token0, token1) => token0 < token1,
    onBlockLog: none,
    onMalformed: none,
  };
}
