/**
 * Reads the states of old pools at the end of one block, which is named by its hash. Pools without a readable
 * state are left out of the result; the pool search tries them again.
 */
import type { ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE } from '../../domain/pool';
import { toPool } from '../../protocols/protocol';
import { askContracts, type EthCalls } from '../../node/calls/askContracts';
import type { ManyTokenDiscovery } from '../pools/discoverManyTokenPools';
import type { Finding } from '../pools/finding';
import { withDetails } from '../pools/poolDetails';
import type { OlderPool } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

/** Largest number of calls that read the state of one pool. */
export const CALLS_PER_POOL = 8;
/** Number of calls for a pool of many tokens: its type, its fee, its tokens, and one or two calls per token. */
export const CALLS_PER_MANY_TOKEN_POOL = 25;

interface StateDeps {
  readonly rpc: EthCalls;
  readonly manyTokenDiscovery: ManyTokenDiscovery;
  readonly baseIsToken0: (token0: Hex, token1: Hex) => boolean;
}

export async function readOldStates(
  { rpc, manyTokenDiscovery, baseIsToken0 }: StateDeps,
  pools: readonly OlderPool[],
  at: SearchBlock,
  signal: AbortSignal,
): Promise<Finding[]> {
  const pairs = pools.filter(({ creation }) => creation !== null);
  const found = await readPairs(rpc, baseIsToken0, pairs, at, signal);
  const named = pools.flatMap(({ dex, poolId }) => (poolId === null ? [] : [{ dex, poolId }]));
  return [...found, ...(await manyTokenDiscovery.readOlder(named, at, signal))];
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
