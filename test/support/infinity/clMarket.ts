/** CL pools of PancakeSwap Infinity with the actions of Uniswap V4. See CLPoolManager.sol. */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { ADDRESS_CONSTRUCTOR, ERC20 } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { ZERO_HASH } from '../../../src/domain/hex';
import { compileSolidity } from '../node/compileSolidity';
import { installProject } from '../server/installProject';
import { LIMITS, NATIVE, type PositionMarket, type V4Pool } from '../uniswapV4/v4Market';
import { deployInfinity, keyed, readHolding, type InfinityPool } from './infinityMarket';

const ABI = new Interface([
  ...keyed(
    'initialize(uint160 price)',
    'modifyLiquidity(int24 lower, int24 upper, int128 change, bytes32 salt) payable returns (int256, int256)',
    'swap(bool zeroForOne, int256 amount, uint160 limit) payable returns (int256, int256)',
    'donate(uint256 amount0, uint256 amount1) payable',
  ),
  'function getState(bytes32 id) view returns (uint160 sqrtPriceX96, int24 tick, uint128 liquidity)',
]);

const POSITIONS = new Interface([
  ...keyed('mint(int24 lower, int24 upper, int128 liquidity, address owner) payable'),
  'function approve(address token)',
  'function take(uint256 id, int128 liquidity, address to)',
]);
/** Of 10^15 whole tokens, the position manager gets this part. */
const PART = 1_000n;
/** Native coins for a position; those that are left over stay in the position manager. */
const COINS = 10n ** 22n;

export async function deployInfinityCl(rpc: DevRpc, decimals: readonly number[]): Promise<PositionMarket> {
  const folder = await installProject(join(__dirname, '../uniswapV4'), 'uniswap-v4');
  const codeOf = compileSolidity(join(__dirname, 'CLPoolManager.sol'), folder);
  const market = await deployInfinity(rpc, decimals, ABI, () => codeOf('CLPoolManager'));
  const positions = market.deploy(codeOf('CLPositionManager'), ADDRESS_CONSTRUCTOR, [market.manager]);
  await market.mine();
  for (const { address, decimals: digits } of market.tokens) {
    market.run(address, ERC20, 'transfer', [positions, 10n ** BigInt(digits + 15) / PART]);
    market.run(positions, POSITIONS, 'approve', [address]);
  }
  await market.mine();
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
    positions,
    mintPosition: ({ key, token0 }, lower, upper, liquidity) =>
      market.run(
        positions,
        POSITIONS,
        'mint',
        [key, lower, upper, liquidity, market.owner],
        token0 === NATIVE ? COINS : 0n,
      ),
    takePosition: (_, id, liquidity, to) => market.run(positions, POSITIONS, 'take', [id, liquidity, to]),
    readBalance: ({ address }, holder) => readHolding(rpc, address, holder),
    createPool(a, b, fee, spacing, price, hooks) {
      const { address: id, ...pool } = market.createPool(a, b, fee, spacing, price, hooks);
      return { ...pool, id };
    },
    modify: (pool, lower, upper, change) =>
      market.act(poolOf(pool), 'modifyLiquidity', [lower, upper, change, ZERO_HASH]),
    swap: (pool, zeroForOne, amount) => market.act(poolOf(pool), 'swap', swapValues(zeroForOne, amount)),
    donate: (pool, amount0, amount1) => market.act(poolOf(pool), 'donate', [amount0, amount1]),
    setProtocolFee: (pool, packed) => market.setProtocolFee(poolOf(pool), packed),
    setHookFee: (pips) => market.setHookFee(pips, (changes += 1) % 2 === 0),
    quote: async (pool, zeroForOne, amount) =>
      amountsOf(await market.ask(poolOf(pool), 'swap', swapValues(zeroForOne, amount))),
    quoteChange: async (pool, lower, upper, change) =>
      amountsOf(await market.ask(poolOf(pool), 'modifyLiquidity', [lower, upper, change, ZERO_HASH])),
    async readState(pool) {
      const [sqrtPriceX96 = 0n, tick = 0n, liquidity = 0n] = await market.read(poolOf(pool), 'getState');
      return { sqrtPriceX96, tick: Number(tick), liquidity };
    },
  };
}
