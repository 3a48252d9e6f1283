/** CL pools of PancakeSwap Infinity with the actions of Uniswap V4. See CLPoolManager.sol. */
import { join } from 'node:path';

import { Interface } from 'ethers';

import type { DevRpc } from '../../../src/dev/node/devRpc';
import { compileSolidity } from '../node/compileSolidity';
import { installProject } from '../server/installProject';
import { LIMITS, type V4Market, type V4Pool } from '../uniswapV4/v4Market';
import { deployInfinity, keyed, type InfinityPool } from './infinityMarket';

const ABI = new Interface([
  ...keyed(
    'initialize(uint160 price)',
    'modifyLiquidity(int24 lower, int24 upper, int128 change) payable returns (int256, int256)',
    'swap(bool zeroForOne, int256 amount, uint160 limit) payable returns (int256, int256)',
    'donate(uint256 amount0, uint256 amount1) payable',
  ),
  'function getState(bytes32 id) view returns (uint160 sqrtPriceX96, int24 tick, uint128 liquidity)',
]);

export async function deployInfinityCl(rpc: DevRpc, decimals: readonly number[]): Promise<V4Market> {
  const folder = await installProject(join(__dirname, '../uniswapV4'), 'uniswap-v4');
  const market = await deployInfinity(rpc, decimals, ABI, () =>
    compileSolidity(join(__dirname, 'CLPoolManager.sol'), folder)('CLPoolManager'),
  );
  const poolOf = ({ id, ...pool }: V4Pool): InfinityPool => ({ ...pool, address: id });
  const amountsOf = ([amount0 = 0n, amount1 = 0n]: readonly bigint[]): readonly [bigint, bigint] => [
    amount0,
    amount1,
  ];
  const swapValues = (zeroForOne: boolean, amount: bigint) => [
    zeroForOne,
    amount,
    LIMITS[zeroForOne ? 0 : 1],
  ];
  let changes = 0;
  return {
    ...market,
    protocol: 'infinity_cl',
    createPool(a, b, fee, spacing, price, hooks) {
      const { address: id, ...pool } = market.createPool(a, b, fee, spacing, price, hooks);
      return { ...pool, id };
    },
    modify: (pool, lower, upper, change) =>
      market.act(poolOf(pool), 'modifyLiquidity', [lower, upper, change]),
    swap: (pool, zeroForOne, amount) => market.act(poolOf(pool), 'swap', swapValues(zeroForOne, amount)),
    donate: (pool, amount0, amount1) => market.act(poolOf(pool), 'donate', [amount0, amount1]),
    setProtocolFee: (pool, packed) => market.setProtocolFee(poolOf(pool), packed),
    setHookFee: (pips) => market.setHookFee(pips, (changes += 1) % 2 === 0),
    quote: async (pool, zeroForOne, amount) =>
      amountsOf(await market.ask(poolOf(pool), 'swap', swapValues(zeroForOne, amount))),
    quoteChange: async (pool, lower, upper, change) =>
      amountsOf(await market.ask(poolOf(pool), 'modifyLiquidity', [lower, upper, change])),
    async readState(pool) {
      const [sqrtPriceX96 = 0n, tick = 0n, liquidity = 0n] = await market.read(poolOf(pool), 'getState');
      return { sqrtPriceX96, tick: Number(tick), liquidity };
    },
  };
}
