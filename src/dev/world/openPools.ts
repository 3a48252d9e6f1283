/** Opens pools through the trader contract, and reads the opened pools back. */
import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { TRADER, encodeCall, readContract, toAddress } from '../abi';
import { field, type DevRpc } from '../node/devRpc';
import { liquidityOf, rawAmount, sqrtPriceX96Of } from '../trading/priceMath';
import type { PoolPlan, World, WorldPool, WorldToken } from './world';
import { DEX_V2, DEX_V2_29, DEX_V3 } from './worldPlan';

type Deployed = Pick<World, 'trader' | 'v2' | 'v3' | 'tokens'>;

const V2_GAS = 4_000_000;
const V3_GAS = 8_000_000;
/** The depth of a V3 pool is divided by this number: one part covers the whole range, the others are near the
 * price. */
const FULL_RANGE_PART = 5;

/** Calldata for the trader contract that opens the planned pool at the prices of its tokens. */
export function openPoolCall(deployed: Deployed, plan: PoolPlan): { data: Hex; gas: number } {
  const base = tokenByKey(deployed.tokens, plan.base);
  const quote = tokenByKey(deployed.tokens, plan.quote);
  const factory = factoryOf(deployed, plan.dex);
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

/** Reads the trader contract's list of pools and joins it with the plans, in the same order. Throws if the
 * numbers differ. */
export async function readPools(
  rpc: DevRpc,
  deployed: Deployed,
  plans: readonly PoolPlan[],
): Promise<WorldPool[]> {
  const records = await readContract(rpc, TRADER, deployed.trader, 'listPools');
  if (!Array.isArray(records) || records.length !== plans.length) {
    throw new AppError('node_failed', `the trader contract did not list ${plans.length} pools`);
  }
  return plans.map((plan, index) => joinPool(deployed.tokens, plan, records[index], index));
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

/** Fee in basis points for a V2 exchange, in pips for a V3 pool. */
function feeOf(plan: PoolPlan): number {
  if (plan.dex === DEX_V2) return 30;
  if (plan.dex === DEX_V2_29) return 29;
  if (plan.fee === undefined)
    throw new AppError('internal', `the plan of pool ${plan.base}/${plan.quote} has no fee`);
  return plan.fee;
}

/** Address of the factory of an exchange, by name. */
function factoryOf(contracts: Pick<World, 'v2' | 'v3'>, dex: string): Hex {
  const factories: Record<string, Hex | undefined> = {
    [DEX_V2]: contracts.v2[0]?.factory,
    [DEX_V2_29]: contracts.v2[1]?.factory,
    [DEX_V3]: contracts.v3.factory,
  };
  const factory = factories[dex];
  if (factory === undefined) throw new AppError('internal', `the exchange "${dex}" has no factory`);
  return factory;
}

/** The token with this key in the plan; throws if the plan has no such token. */
export function tokenByKey(tokens: readonly WorldToken[], key: string): WorldToken {
  const token = tokens.find((candidate) => candidate.key === key);
  if (token === undefined) throw new AppError('internal', `the development chain has no token "${key}"`);
  return token;
}

function inChainOrder(a: WorldToken, b: WorldToken): [WorldToken, WorldToken] {
  return a.address < b.address ? [a, b] : [b, a];
}
