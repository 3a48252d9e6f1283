/** Opening pools through the trader contract, at the build or later, and reading back what was opened. */
import type { Hex } from '../domain/hex';
import { AppError } from '../errors';
import { TRADER, encodeCall, readContract, toAddress } from './abi';
import { field, type DevRpc } from './devRpc';
import { liquidityOf, rawAmount, sqrtPriceX96Of } from './priceMath';
import type { PoolPlan, World, WorldPool, WorldToken } from './world';
import { DEX_V2, DEX_V2_29, DEX_V3 } from './worldPlan';

export type Exchanges = Pick<World, 'trader' | 'v2' | 'v3' | 'tokens'>;

const V2_GAS = 4_000_000;
const V3_GAS = 8_000_000;
/** Part of a V3 pool's depth that lies over the whole range; four times as much lies near the price. */
const FULL_RANGE_PART = 5;

/** Calldata for the trader contract that opens the planned pool at its tokens' prices. */
export function openPoolData(exchanges: Exchanges, plan: PoolPlan): { data: Hex; gas: number } {
  const base = tokenByKey(exchanges.tokens, plan.base);
  const quote = tokenByKey(exchanges.tokens, plan.quote);
  const factory = factoryOf(exchanges, plan.dex);
  const fee = feeOf(plan);
  if (plan.dex === DEX_V3) {
    const [token0, token1] = inChainOrder(base, quote);
    const liquidity = liquidityOf(token0, token1, plan.sideUsd) / BigInt(FULL_RANGE_PART);
    const values = [factory, fee, base.address, quote.address, sqrtPriceX96Of(token0, token1), liquidity];
    return { data: encodeCall(TRADER, 'openV3', values), gas: V3_GAS };
  }
  const amounts = [rawAmount(base, plan.sideUsd), rawAmount(quote, plan.sideUsd)];
  const values = [factory, fee, base.address, quote.address, ...amounts];
  return { data: encodeCall(TRADER, 'openV2', values), gas: V2_GAS };
}

/** All pools of the trader's list, joined with the plans in their order. Throws when the chain has another number. */
export async function readPools(
  rpc: DevRpc,
  exchanges: Exchanges,
  plans: readonly PoolPlan[],
): Promise<WorldPool[]> {
  const records = await readContract(rpc, TRADER, exchanges.trader, 'listPools');
  if (!Array.isArray(records) || records.length !== plans.length) {
    throw new AppError('node_failed', `${plans.length} pools were to be opened`);
  }
  return plans.map((plan, index) => joinPool(exchanges.tokens, plan, records[index], index));
}

function joinPool(tokens: readonly WorldToken[], plan: PoolPlan, record: unknown, index: number): WorldPool {
  const [token0, token1] = inChainOrder(tokenByKey(tokens, plan.base), tokenByKey(tokens, plan.quote));
  const isV3 = plan.dex === DEX_V3;
  return {
    index,
    address: toAddress(field(record, 'pool')),
    dex: plan.dex,
    protocol: isV3 ? 'uniswap_v3' : 'uniswap_v2',
    token0,
    token1,
    feePips: isV3 ? feeOf(plan) : feeOf(plan) * 100,
    sideUsd: plan.sideUsd,
    popularity: plan.popularity,
  };
}

/** Basis points of a V2 exchange, pips of a V3 pool. */
function feeOf(plan: PoolPlan): number {
  if (plan.dex === DEX_V2) return 30;
  if (plan.dex === DEX_V2_29) return 29;
  if (plan.fee === undefined)
    throw new AppError('internal', `the pool ${plan.base}/${plan.quote} has no fee`);
  return plan.fee;
}

/** Which factory an exchange's name stands for. */
function factoryOf(contracts: Pick<World, 'v2' | 'v3'>, dex: string): Hex {
  const factories: Record<string, Hex | undefined> = {
    [DEX_V2]: contracts.v2[0]?.factory,
    [DEX_V2_29]: contracts.v2[1]?.factory,
    [DEX_V3]: contracts.v3.factory,
  };
  const factory = factories[dex];
  if (factory === undefined) throw new AppError('internal', `no factory for "${dex}"`);
  return factory;
}

/** The token that the plan calls so; throws when there is none. */
export function tokenByKey(tokens: readonly WorldToken[], key: string): WorldToken {
  const token = tokens.find((candidate) => candidate.key === key);
  if (token === undefined) throw new AppError('internal', `the world has no token "${key}"`);
  return token;
}

function inChainOrder(a: WorldToken, b: WorldToken): [WorldToken, WorldToken] {
  return a.address < b.address ? [a, b] : [b, a];
}
