/** A node and a decoding context for tests of vault pools. */
import { RpcError } from '../../../src/node/rpc/rpcError';
import type { FoundPoolRow } from '../../../src/clickhouse/schema/olderPoolTables';
import { ZERO_HASH, type Hex } from '../../../src/domain/hex';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import type { EndpointPool } from '../../../src/node/rpc/endpointPool';
import { createTransferDecoder } from '../../../src/ingest/decode/decodeTransfers';
import type { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { balancerV2 } from '../../../src/protocols/balancerV2/balancerV2';
import { POOL_TOPICS, VAULT_TOPICS } from '../../../src/protocols/balancerV2/decodeBalancerEvent';

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
): Pick<EndpointPool, 'call' | 'batchOutcomes'> {
  return {
    call: (_header, [number], parse) => Promise.resolve(parse({ hash: hashAt(Number(number)) })),
    batchOutcomes(calls, parse) {
      const results = calls.map(({ method, params }) => {
        // This block number is above all blocks of these tests.
        if (method === 'eth_blockNumber') return '0xffffff';
        const [call, blockTag] = params as unknown as [{ to: Hex; data: Hex }, Asked['at']];
        return answer({ ...call, at: blockTag }) ?? new RpcError('revert', 'execution reverted');
      });
      const passingError = results.find(
        (result) => result instanceof RpcError && result.retryable && !result.malformed,
      );
      if (passingError instanceof RpcError) return Promise.reject(passingError);
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
  const throwUnasked = (): never => {
    throw new Error('this setup has no pairs');
  };
  return {
    chainId: 369,
    registry,
    dexByFactory: new Map(),
    protocolOfDex: throwUnasked,
    protocolOfPool: throwUnasked,
    findPoolOf: () => undefined,
    eventTopics: new Set(),
    creationTopics: new Set(),
    hasTokenTransfers: false,
    transfers: createTransferDecoder({
      wrappedNative: null,
      positionManagers: new Set(),
      keepsShares: () => false,
      decodePoolEvent: () => null,
    }),
    keepsAllLogs: () => true,
    manyTokens: { topics: new Set([...VAULT_TOPICS, ...POOL_TOPICS]), protocols: [balancerV2] },
    baseIsToken0: (token0, token1) => token0 < token1,
    onBlockLog: throwUnasked,
    onMalformed: throwUnasked,
    onRefused: throwUnasked,
  };
}

const FOUND_ADDRESS: Hex = `0x${'5a'.repeat(20)}`;
const FOUND_TOKENS = [`0x${'71'.repeat(20)}`, `0x${'72'.repeat(20)}`] as const;

/** The pool as the pool search found it, with a fee of 1,000 pips. Block 103 adds it. */
export const FOUND_VAULT_POOL: FoundPoolRow = {
  block: 103,
  block_hash: ZERO_HASH,
  address: FOUND_ADDRESS,
  dex: 'phux',
  protocol: 'balancer_v2',
  pool_type: 4,
  factory: `0x${'ba'.repeat(20)}`,
  token0: FOUND_TOKENS[0],
  token1: FOUND_TOKENS[1],
  base_is_token0: true,
  tokens: [...FOUND_TOKENS],
  weights: [5n * 10n ** 17n, 5n * 10n ** 17n],
  doubts: 0,
  fee_pips: 1_000,
  tick_spacing: 0,
  scale_decimals: [],
  pool_id: `${FOUND_ADDRESS}0002${'0'.repeat(20)}`,
  hooks: null,
  hook_bits: null,
  moved_at: 0,
  reserve0: 0n,
  reserve1: 0n,
  sqrt_price_x96: 0n,
  liquidity: 0n,
  tick: 0,
  balances: [10n ** 18n, 2n * 10n ** 18n],
  params: [],
};
