/** Gives tokens and allowances to some accounts (wallets), and builds their router transactions. */
import type { Interface } from 'ethers';

import type { Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import { ERC20, POSITION_MANAGER, TRADER, V2_ROUTER, V3_ROUTER, encodeCall } from '../abi';
import type { DevTransaction } from '../node/blockMaker';
import type { Builder } from '../node/builder';
import { rawAmount, tickOf } from '../trading/priceMath';
import type { World, WorldPool, WorldToken } from './world';
import { DEX_V2, DEX_V2_29 } from './worldPlan';

const GIFT_USD = 20_000;
const LIQUIDITY_USD = 2_500;
const TRADE_USD = 300;
const GIFT_TOKEN_KEYS = ['wpls', 'usdc', 'dai', 'weth', 'hexd'];
const ALLOWANCE = 2n ** 256n - 1n;
/** A deadline in the year 2100, which never passes. */
const FAR_FUTURE = 4_102_444_800;
const GAS_LIMIT = 900_000;

const WALLET_ACTIONS = ['addLiquidity', 'swapV2', 'mintPosition', 'swapV3'] as const;
type WalletAction = (typeof WALLET_ACTIONS)[number];

/**
 * Gives tokens to the first accounts after the deployer, and lets each account do every action once. Mines
 * the transactions.
 */
export async function giveHoldings(builder: Builder, world: World, holders: number): Promise<void> {
  const wallets = world.accounts.slice(1, holders + 1);
  const spenders = [...world.v2.map(({ router }) => router), world.v3.router, world.v3.positionManager];
  for (const wallet of wallets) {
    for (const token of giftTokens(world)) {
      await send(builder, giftTransaction(world, token, wallet, GIFT_USD));
      for (const spender of spenders) {
        await send(builder, callTransaction(wallet, token.address, ERC20, 'approve', [spender, ALLOWANCE]));
      }
    }
  }
  await builder.finish();
  for (const [index, wallet] of wallets.entries()) {
    for (const action of WALLET_ACTIONS) {
      for (const transaction of walletTransactions(world, wallet, action, index))
        await send(builder, transaction);
    }
  }
  await builder.finish();
}

/**
 * Builds the transactions of a wallet for one action. The first transaction gives the wallet the tokens that
 * the action needs, so the action can be repeated without end. `choice` selects the pool and the range. Empty
 * if no pool fits.
 */
export function walletTransactions(
  world: World,
  wallet: Hex,
  action: WalletAction,
  choice: number,
): DevTransaction[] {
  const tokens = giftTokens(world);
  const protocol = action === 'addLiquidity' || action === 'swapV2' ? 'uniswap_v2' : 'uniswap_v3';
  const pools = world.pools.filter((pool) => {
    return pool.protocol === protocol && tokens.includes(pool.token0) && tokens.includes(pool.token1);
  });
  const pool = pools[choice % pools.length];
  if (pool === undefined) return [];
  const usd = action === 'swapV2' || action === 'swapV3' ? TRADE_USD : LIQUIDITY_USD;
  const gifts = [pool.token0, pool.token1].map((token) => giftTransaction(world, token, wallet, usd));
  return [...gifts, actionTransaction(world, wallet, action, pool, choice)];
}

/** Maps a number to one of the four actions, for random choice. */
export function walletAction(index: number): WalletAction {
  return WALLET_ACTIONS[index % WALLET_ACTIONS.length] ?? 'swapV2';
}

function giftTokens(world: World): WorldToken[] {
  return world.tokens.filter(({ key }) => GIFT_TOKEN_KEYS.includes(key));
}

function actionTransaction(
  world: World,
  wallet: Hex,
  action: WalletAction,
  pool: WorldPool,
  choice: number,
): DevTransaction {
  const { token0, token1, feePips } = pool;
  const [tradeAmount, deposit0, deposit1] = [
    rawAmount(token0, TRADE_USD),
    rawAmount(token0, LIQUIDITY_USD),
    rawAmount(token1, LIQUIDITY_USD),
  ];
  const recipientAndDeadline = [wallet, FAR_FUTURE];
  if (action === 'addLiquidity') {
    const values = [token0.address, token1.address, deposit0, deposit1, 0, 0, ...recipientAndDeadline];
    return callTransaction(wallet, routerOf(world, pool), V2_ROUTER, 'addLiquidity', values);
  }
  if (action === 'swapV2') {
    const values = [tradeAmount, 0, [token0.address, token1.address], ...recipientAndDeadline];
    return callTransaction(wallet, routerOf(world, pool), V2_ROUTER, 'swapExactTokensForTokens', values);
  }
  if (action === 'swapV3') {
    const values = [token0.address, token1.address, feePips, ...recipientAndDeadline, tradeAmount, 0, 0];
    return callTransaction(wallet, world.v3.router, V3_ROUTER, 'exactInputSingle', [values]);
  }
  const range = positionRange(pool, choice);
  const values = [
    token0.address,
    token1.address,
    feePips,
    ...range,
    deposit0,
    deposit1,
    0,
    0,
    ...recipientAndDeadline,
  ];
  return callTransaction(wallet, world.v3.positionManager, POSITION_MANAGER, 'mint', [values]);
}

/** A range of some percent around the first price. Every third range is above the price, so its position is
 * out of range. */
function positionRange({ token0, token1, feePips }: WorldPool, choice: number): [number, number] {
  const spacing = feePips === 100 ? 1 : feePips / 50;
  const width = Math.ceil((1_000 * (1 + (choice % 8))) / spacing) * spacing;
  const shift = choice % 3 === 2 ? 2 * width : 0;
  const middle = Math.floor(tickOf(token0, token1) / spacing) * spacing + shift;
  return [middle - width, middle + width];
}

function giftTransaction(world: World, token: WorldToken, wallet: Hex, usd: number): DevTransaction {
  // Users of the chain send from the first account, so the trader must not use its nonces.
  const giver = world.accounts.at(-1);
  if (giver === undefined)
    throw new AppError('internal', 'the node of the development chain has no accounts');
  return callTransaction(giver, world.trader, TRADER, 'give', [token.address, wallet, rawAmount(token, usd)]);
}

/** The router of a V2 pool's exchange. */
function routerOf(world: World, pool: WorldPool): Hex {
  const exchange = world.v2[[DEX_V2, DEX_V2_29].indexOf(pool.dex)];
  if (exchange === undefined) throw new AppError('internal', `the exchange ${pool.dex} has no router`);
  return exchange.router;
}

function callTransaction(
  from: Hex,
  to: Hex,
  contract: Interface,
  name: string,
  values: readonly unknown[],
): DevTransaction {
  return { from, to, data: encodeCall(contract, name, values), gas: GAS_LIMIT };
}

async function send(builder: Builder, { from, to, data, gas }: DevTransaction): Promise<void> {
  await builder.send(from, to, data, gas);
}
