/**
 * Reads the states of old pools at the end of one block, which is named by its hash. Pools without a readable
 * state are left out of the result; the pool search tries them again.
 */
import type { ChainBlock } from '../../domain/block';
import type { ContractCall } from '../../domain/contractCall';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { EMPTY_STATE } from '../../domain/pool';
import { toPool } from '../../protocols/protocol';
import { VAULT_TOPICS, POOL_REGISTERED } from '../../protocols/balancerV2/decodeBalancerEvent';
import { decodeSwapFee, swapFeeCall } from '../../protocols/balancerV2/weightedCalls';
import { toFeePips } from '../../domain/swapFee';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import type { VaultDiscovery } from '../pools/discoverVaultPools';
import type { Finding } from '../pools/finding';
import { withDetails } from '../pools/poolDetails';
import { PoolRegistry } from '../pools/poolRegistry';
import type { OlderPool } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

/** Largest number of calls that read the state of one pool. */
export const CALLS_PER_POOL = 8;
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
  listed: readonly OlderPool[],
  block: SearchBlock,
  signal: AbortSignal,
): Promise<Finding[]> {
  const created = listed.flatMap(({ creation, protocol, dex }) =>
    creation === null || protocol === null ? [] : [{ creation, protocol, dex }],
  );
  const pools = await withDetails(rpc, created, block, true, signal);
  const ask = (calls: readonly (readonly ContractCall[])[]) =>
    askContracts(rpc, calls, { at: { blockHash: block.hash }, signal });
  const states = await ask(pools.map(({ creation, protocol }) => protocol.stateCalls(creation)));
  const moves = await ask(
    pools.map(({ creation, protocol }, index) =>
      protocol.lastMoveCalls(creation.pool, states[index]?.answers ?? []),
    ),
  );
  return pools.map(({ creation, protocol, dex }, index) => {
    const { answers = [] } = states[index] ?? {};
    const pool = toPool(protocol, dex, creation);
    const moved = protocol.readLastMove(answers, moves[index]?.answers ?? []);
    // A pool without a readable state has no price, like a pool without liquidity.
    const state = protocol.readState(answers) ?? EMPTY_STATE;
    const feePips = state.fees === undefined ? pool.feePips : Math.max(...state.fees);
    return {
      fromBlock: block.number + 1,
      pool: { ...pool, feePips, baseIsToken0: baseIsToken0(pool.token0, pool.token1) },
      state,
      movedAt: Number(BigInt.asUintN(32, moved ?? 0n)),
    };
  });
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
  // At a final block, because no known event would show that a reorg changed the fee.
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
