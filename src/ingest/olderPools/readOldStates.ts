/**
 * Reads the states of old pools at the end of one block, which is named by its hash. Pools without a readable
 * state are left out of the result; the pool search tries them again.
 */
import type { ChainBlock } from '../../domain/block';
import { ZERO_HASH, type Hex } from '../../domain/hex';
import { POOL_V3, EMPTY_STATE, type PoolState } from '../../domain/pool';
import { toPool } from '../../protocols/protocol';
import { VAULT_TOPICS, POOL_REGISTERED } from '../../protocols/balancerV2';
import { callContracts, type EthCalls } from '../pools/contractCalls';
import type { VaultDiscovery } from '../pools/discoverVaultPools';
import type { FoundPool } from '../pools/foundPools';
import { PoolRegistry } from '../pools/poolRegistry';
import type { OlderPool } from './factoryLogs';
import type { SearchBlock } from './searchProgress';

const SELECTORS = {
  getReserves: '0x0902f1ac',
  slot0: '0x3850c7bd',
  liquidity: '0x1a686502',
  balanceOf: '0x70a08231',
  observations: '0x252c09d7',
} as const;
const CALL_GAS: Hex = '0x4c4b40';

/** Largest number of calls that read the state of one pool. */
export const CALLS_PER_POOL = 5;
/** Largest number of calls for a vault pool: its type, its tokens, and one call per token. */
export const CALLS_PER_VAULT_POOL = 12;

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
): Promise<FoundPool[]> {
  const pairs = pools.filter(({ creation }) => creation !== null);
  const found = await readPairs(rpc, baseIsToken0, pairs, at, signal);
  const vaultPools = pools.filter(({ poolId }) => poolId !== null);
  return [...found, ...(await readVaultPools(vaultDiscovery, vaultPools, at, signal))];
}

async function readPairs(
  rpc: EthCalls,
  baseIsToken0: StateDeps['baseIsToken0'],
  pools: readonly OlderPool[],
  block: SearchBlock,
  signal: AbortSignal,
): Promise<FoundPool[]> {
  const at = { blockHash: block.hash };
  const calls = pools.map(({ address, creation, protocol }) => {
    if (protocol?.poolType !== POOL_V3)
      return [{ to: address, data: SELECTORS.getReserves, gas: CALL_GAS, at }];
    const balance = SELECTORS.balanceOf + address.slice(2).padStart(64, '0');
    return [
      { to: address, data: SELECTORS.slot0, gas: CALL_GAS, at },
      { to: address, data: SELECTORS.liquidity, gas: CALL_GAS, at },
      { to: creation?.token0 ?? address, data: balance, gas: CALL_GAS, at },
      { to: creation?.token1 ?? address, data: balance, gas: CALL_GAS, at },
    ];
  });
  const answers = await callContracts(rpc, calls.flat(), signal);
  const observed = await readObservations(rpc, pools, answers, calls, at, signal);
  let next = 0;
  return pools.flatMap(({ address, creation, protocol, dex }, index) => {
    const mine = answers.slice(next, (next += calls[index]?.length ?? 0));
    if (creation === null || protocol === null) return [];
    const pool = toPool(protocol, dex, creation);
    const state = pool.poolType === POOL_V3 ? toV3State(mine) : toV2State(mine[0]);
    const moved = pool.poolType === POOL_V3 ? observed.get(address) : wordOf(mine[0], 2);
    const row = {
      address: pool.address,
      dex: pool.dex,
      protocol: pool.protocol,
      pool_type: pool.poolType,
      factory: pool.factory,
      token0: pool.token0,
      token1: pool.token1,
      base_is_token0: baseIsToken0(pool.token0, pool.token1),
      tokens: [],
      weights: [],
      doubts: 0,
      fee_pips: pool.feePips,
      tick_spacing: pool.tickSpacing,
      pool_id: null,
      moved_at: Number(BigInt.asUintN(32, moved ?? 0n)),
      reserve0: state.reserve0,
      reserve1: state.reserve1,
      sqrt_price_x96: state.sqrtPriceX96,
      liquidity: state.liquidity,
      tick: state.tick,
      balances: [],
    };
    return [{ row, readAt: block }];
  });
}

/**
 * For each V3 pool, the time of its newest oracle observation. This is the time of the last swap, or of the last
 * change of liquidity at the current tick, that wrote to the oracle.
 */
async function readObservations(
  rpc: EthCalls,
  pools: readonly OlderPool[],
  answers: readonly (Hex | null)[],
  calls: readonly (readonly unknown[])[],
  at: { readonly blockHash: Hex },
  signal: AbortSignal,
): Promise<ReadonlyMap<Hex, bigint>> {
  let next = 0;
  const asked = pools.flatMap(({ address, protocol }, index) => {
    const [slot0] = answers.slice(next, (next += calls[index]?.length ?? 0));
    const observation = wordOf(slot0, 2);
    if (protocol?.poolType !== POOL_V3 || observation === null) return [];
    const data = SELECTORS.observations + (observation & 0xffffn).toString(16).padStart(64, '0');
    return [{ to: address, data, gas: CALL_GAS, at }];
  });
  const found = await callContracts(rpc, asked, signal);
  return new Map(
    asked.flatMap(({ to }, index) => {
      const time = wordOf(found[index], 0);
      return time === null ? [] : [[to, time] as const];
    }),
  );
}

/** A reverted or malformed answer counts as an empty pool: it has no price, like a pool without liquidity. */
function toV2State(answer: Hex | null | undefined): PoolState {
  const [reserve0, reserve1] = [wordOf(answer, 0), wordOf(answer, 1)];
  if (reserve0 === null || reserve1 === null) return EMPTY_STATE;
  return { ...EMPTY_STATE, reserve0: BigInt.asUintN(112, reserve0), reserve1: BigInt.asUintN(112, reserve1) };
}

function toV3State([slot0, liquidity, balance0, balance1]: readonly (Hex | null)[]): PoolState {
  const [reserve0, reserve1] = [wordOf(balance0, 0), wordOf(balance1, 0)];
  const [price, tick, active] = [wordOf(slot0, 0), wordOf(slot0, 1), wordOf(liquidity, 0)];
  if (reserve0 === null || reserve1 === null || price === null || tick === null || active === null)
    return EMPTY_STATE;
  return {
    reserve0,
    reserve1,
    sqrtPriceX96: BigInt.asUintN(160, price),
    tick: Number(BigInt.asIntN(24, tick)),
    liquidity: BigInt.asUintN(128, active),
  };
}

function wordOf(data: Hex | null | undefined, index: number): bigint | null {
  const start = 2 + index * 64;
  if (data == null || data.length < start + 64) return null;
  return BigInt(`0x${data.slice(start, start + 64)}`);
}

/**
 * A topic0 for the made-up log of an older pool. It may be the topic0 of every event of a vault, except the
 * registration of a new pool. VaultDiscovery takes the pool id from this log.
 */
const [EVENT_OF_OLDER = POOL_REGISTERED] = [...VAULT_TOPICS].filter((topic) => topic !== POOL_REGISTERED);

/**
 * Reads vault pools through VaultDiscovery, with one made-up log per pool in the block after `at`. The
 * discovery reads the state before a pool's first log, which is the state at the end of `at`.
 */
async function readVaultPools(
  discovery: VaultDiscovery,
  pools: readonly OlderPool[],
  at: SearchBlock,
  signal: AbortSignal,
): Promise<FoundPool[]> {
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
  return listed.map(({ vaultPool: { pool, state } }) => ({
    row: {
      address: pool.address,
      dex: pool.dex,
      protocol: pool.protocol,
      pool_type: pool.poolType,
      factory: pool.factory,
      token0: pool.token0,
      token1: pool.token1,
      base_is_token0: pool.baseIsToken0,
      tokens: [...state.tokens],
      weights: [...(state.weights ?? [])],
      doubts: state.doubts,
      fee_pips: pool.feePips,
      tick_spacing: 0,
      pool_id: state.poolId,
      moved_at: 0,
      reserve0: 0n,
      reserve1: 0n,
      sqrt_price_x96: 0n,
      liquidity: 0n,
      tick: 0,
      balances: [...state.balances],
    },
    readAt: at,
  }));
}
