/** Gives some accounts what a wallet has: tokens, V2 liquidity by the routers, V3 positions, and trades by the routers. */
import type { Interface } from 'ethers';

import type { Hex } from '../../src/domain/hex';
import { ERC20, POSITION_MANAGER, TRADER, V2_ROUTER, V3_ROUTER, encodeCall } from './abi';
import type { Builder } from './buildWorld';
import { rawAmount, tickOf } from './priceMath';
import type { World, WorldPool, WorldToken } from './world';
import { DEX_V2, DEX_V2_29 } from './worldPlan';

const GIFT_USD = 20_000;
const LIQUIDITY_USD = 2_500;
const TRADE_USD = 300;
const GIFT_KEYS = ['wpls', 'usdc', 'dai', 'weth', 'hexd'];
const SPENDER_ALLOWANCE = 2n ** 256n - 1n;
const FAR_FUTURE = 4_102_444_800;
const GAS = 900_000;

/** Sends what the accounts after the deployer own and do; the caller finishes the blocks. */
export async function giveHoldings(builder: Builder, world: World, holders: number): Promise<void> {
  const [deployer, ...wallets] = world.accounts;
  if (deployer === undefined) return;
  const tokens = world.tokens.filter(({ key }) => GIFT_KEYS.includes(key));
  const spenders = [...world.v2.map(({ router }) => router), world.v3.router, world.v3.positionManager];
  const chosen = wallets.slice(0, holders);
  for (const wallet of chosen) {
    for (const token of tokens) {
      const gift = encodeCall(TRADER, 'give', [token.address, wallet, rawAmount(token, GIFT_USD)]);
      await builder.send(deployer, world.trader, gift, GAS);
      for (const spender of spenders) {
        await builder.send(
          wallet,
          token.address,
          encodeCall(ERC20, 'approve', [spender, SPENDER_ALLOWANCE]),
          GAS,
        );
      }
    }
  }
  await builder.finish();
  for (const [index, wallet] of chosen.entries()) await actAs(builder, world, wallet, index, tokens);
}

async function actAs(
  builder: Builder,
  world: World,
  wallet: Hex,
  index: number,
  tokens: readonly WorldToken[],
): Promise<void> {
  const owned = world.pools.filter(
    ({ token0, token1 }) => tokens.includes(token0) && tokens.includes(token1),
  );
  const v2Pools = owned.filter(({ protocol }) => protocol === 'uniswap_v2');
  const v3Pools = owned.filter(({ protocol }) => protocol === 'uniswap_v3');
  const v2Pool = v2Pools[index % v2Pools.length];
  const v3Pool = v3Pools[index % v3Pools.length];
  const call = async (
    to: Hex,
    contract: Interface,
    name: string,
    values: readonly unknown[],
  ): Promise<void> => {
    await builder.send(wallet, to, encodeCall(contract, name, values), GAS);
  };
  if (v2Pool !== undefined) {
    const router = routerOf(world, v2Pool);
    await call(router, V2_ROUTER, 'addLiquidity', addLiquidityValues(v2Pool, wallet));
    await call(router, V2_ROUTER, 'swapExactTokensForTokens', v2SwapValues(v2Pool, wallet));
  }
  if (v3Pool !== undefined) {
    await call(world.v3.positionManager, POSITION_MANAGER, 'mint', [positionValues(v3Pool, wallet, index)]);
    await call(world.v3.router, V3_ROUTER, 'exactInputSingle', [v3SwapValues(v3Pool, wallet)]);
  }
}

/** The router of a V2 pool's exchange. */
export function routerOf(world: Pick<World, 'v2'>, pool: WorldPool): Hex {
  const exchange = world.v2[[DEX_V2, DEX_V2_29].indexOf(pool.dex)];
  if (exchange === undefined) throw new Error(`no router for ${pool.dex}`);
  return exchange.router;
}

function addLiquidityValues({ token0, token1 }: WorldPool, to: Hex): unknown[] {
  const amounts = [rawAmount(token0, LIQUIDITY_USD), rawAmount(token1, LIQUIDITY_USD)];
  return [token0.address, token1.address, ...amounts, 0, 0, to, FAR_FUTURE];
}

function v2SwapValues({ token0, token1 }: WorldPool, to: Hex): unknown[] {
  return [rawAmount(token0, TRADE_USD), 0, [token0.address, token1.address], to, FAR_FUTURE];
}

function v3SwapValues({ token0, token1, feePips }: WorldPool, to: Hex): unknown[] {
  return [token0.address, token1.address, feePips, to, FAR_FUTURE, rawAmount(token0, TRADE_USD), 0, 0];
}

/** A range of some percent around the first price; every third one lies above it, out of range. */
function positionValues({ token0, token1, feePips }: WorldPool, to: Hex, index: number): unknown[] {
  const spacing = feePips === 100 ? 1 : feePips / 50;
  const width = Math.ceil((1_000 * (index + 1)) / spacing) * spacing;
  const shift = index % 3 === 2 ? 2 * width : 0;
  const middle = Math.floor(tickOf(token0, token1) / spacing) * spacing + shift;
  const amounts = [rawAmount(token0, LIQUIDITY_USD), rawAmount(token1, LIQUIDITY_USD)];
  return [
    token0.address,
    token1.address,
    feePips,
    middle - width,
    middle + width,
    ...amounts,
    0,
    0,
    to,
    FAR_FUTURE,
  ];
}
