/**
 * Reads the states of old pools at the end of one block, which is named by its hash. Pools without a readable
 * state are left out of the result; the pool search tries them again.
 */
import type { ChainBlock } from '../../domain/block';
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { POOL_V3, EMPTY_STATE, type PoolState } from '../../domain/pool';
import { toPool } from '../../protocols/protocol';
import { VAULT_TOPICS, POOL_REGISTERED } from '../../protocols/balancerV2';
import { decodeSwapFee, swapFeeCall } from '../../protocols/weightedCalls';
import { toFeePips } from '../../protocols/weightedPool';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import { readV3State, v3StateCalls } from '../pools/discoverPools';
import type { VaultDiscovery } from '../pools/discoverVaultPools';
import type { Finding } from '../pools/finding';
import { PoolRegistry } from '../pools/poolRegistry';
import type { OlderPool } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

/** Largest number of calls that read the state of one pool. */
export const CALLS_PER_POOL = 5;
/** Largest number of calls for a vault pool: its type, its fee, its tokens, and one call per token. */
export const CALLS_PER_VAULT_POOL = 13;

interface StateDeps {
  readonly rpc: EthCalls;
  readonly vaultDiscovery: VaultDiscovery;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
}

export async function readOldStates(
  { rpc, vaultDiscovery, baseIsToken0 }: StateDeps,
  pools: readonly OlderPool[],
  at: SearchBlock,
  signal: AbortSignal,
): Promise<Finding[]> {
  const pairs = pools.filter(({ creation }) => creation !== null);
  const found = await readPairs(rpc, baseIsToken0, pairs, at, signal);
  const vaultPools = pools.filter(({ poolId }) => poolId !== null);
  return [...found, ...(await readVaultPools(rpc, vaultDiscovery, vaultPools, at, signal))];
}

async function readPairs(
  rpc: EthCalls,
  baseIsToken0: StateDeps['baseIsToken0'],
  pools: readonly OlderPool[],
  block: SearchBlock,
  signal: AbortSignal,
): Promise<Finding[]> {
  const ask = (calls: readonly (readonly ContractCall[])[]) =>
    askContracts(rpc, calls, { at: { blockHash: block.hash }, signal });
  const states = await ask(
    pools.map(({ address: to, creation, protocol }) => {
      if (creation !== null && protocol?.poolType === POOL_V3) return v3StateCalls(creation);
      return [{ to, data: callData('getReserves()') }];
    }),
  );
  // The newest oracle observation of a V3 pool has the time of the last swap, or of the last change of liquidity at the
  // current tick, that wrote to the oracle.
  const observations = await ask(
    pools.map(({ address: to, protocol }, index) => {
      const observation = readUint(states[index]?.answers[0], 2);
      if (protocol?.poolType !== POOL_V3 || observation === null) return [];
      return [{ to, data: callData('observations(uint256)', observation & 0xffffn) }];
    }),
  );
  return pools.flatMap(({ creation, protocol, dex }, index) => {
    if (creation === null || protocol === null) return [];
    const { answers = [] } = states[index] ?? {};
    const pool = toPool(protocol, dex, creation);
    const isV3 = pool.poolType === POOL_V3;
    const moved = isV3 ? readUint(observations[index]?.answers[0]) : readUint(answers[0], 2);
    return {
      fromBlock: block.number + 1,
      pool: { ...pool, baseIsToken0: baseIsToken0(pool.token0, pool.token1) },
      state: isV3 ? readV3State(answers) : toV2State(answers[0]),
      movedAt: Number(BigInt.asUintN(32, moved ?? 0n)),
    };
  });
}

/** A reverted or malformed answer counts as an empty pool: it has no price, like a pool without liquidity. */
function toV2State(answer: Hex | null | undefined): PoolState {
  const [reserve0, reserve1] = [readUint(answer), readUint(answer, 1)];
  if (reserve0 === null || reserve1 === null) return EMPTY_STATE;
  return { ...EMPTY_STATE, reserve0: BigInt.asUintN(112, reserve0), reserve1: BigInt.asUintN(112, reserve1) };
}

/**
 * A topic0 for the made-up log of an older pool. It may be the topic0 of every event of a vault, except the
 * registration of a new pool. VaultDiscovery takes the pool id from this log.
 */
const [EVENT_OF_OLDER = POOL_REGISTERED] = [...VAULT_TOPICS].filter((topic) => topic !== POOL_REGISTERED);

/**
 * Reads vault pools through VaultDiscovery, with one made-up log per pool in the block after `at`. The
 * discovery reads the state before a pool's first log, which is the state at the end of `at`. The fee is that of a final
 * block: its event does not make the pool known, so a reorg could change the fee unnoticed.
 */
async function readVaultPools(
  rpc: EthCalls,
  discovery: VaultDiscovery,
  pools: readonly OlderPool[],
  at: SearchBlock,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (pools.length === 0) return [];
  const logs = pools.map(({ dex, poolId }, logIndex) => ({
    address: dex.factory,
    topics: [EVENT_OF_OLDER, poolId ?? ZERO_HASH],
    data: '0x' as const,
    transactionHash: ZERO_HASH,
    transactionIndex: 0,
    logIndex,
  }));
  const next: ChainBlock = {
    number: at.number + 1,
    hash: at.hash,
    parentHash: at.hash,
    timestamp: 0,
    baseFeePerGas: null,
    transactionCount: 0,
    transactions: [],
    logs,
  };
  const listed = await discovery.discover([next], new PoolRegistry(), true, signal);
  const fees = await askContracts(
    rpc,
    listed.map(({ pool }) => [swapFeeCall(pool.address)]),
    { at: { blockHash: at.finalHash }, missing: 'null', signal },
  );
  return listed.map(({ fromBlock, pool, state }, index) => {
    const fee = decodeSwapFee(fees[index]?.answers[0] ?? null);
    return { fromBlock, pool: fee === null ? pool : { ...pool, feePips: toFeePips(fee) }, state };
  });
}
