/**
 * Solidly and Slipstream contracts on a local node: factories, tokens of many decimals, and a trader that owns all tokens.
 * Solidly.sol emits the events and follows the formulas of the published contracts. The pools of Slipstream are those of
 * @uniswap/v3-core.
 */
import { join } from 'node:path';

import { Interface } from 'ethers';
import {
  abi as POSITIONS_ABI,
  bytecode as POSITIONS_CODE,
} from '@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json';
import { bytecode as RANGE_POOL_CODE } from '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json';

import { readContract } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import {
  inOrder,
  openPoolMarket,
  type MarketPool,
  type MarketToken,
  type PoolMarket,
} from '../protocols/poolMarket';
import { addPosition } from '../protocols/positions';

const UNIT = 10n ** 18n;
/** A time, unix seconds, that never comes. */
const NEVER = 2n ** 40n;

export const SOLIDLY_FACTORY = new Interface([
  'constructor(bool)',
  'function setFee(bool stable, uint256 fee)',
  'function setCustomFee(address pool, uint256 fee)',
  'function getPool(address, address, bool) view returns (address)',
  'function getPair(address, address, bool) view returns (address)',
]);
export const SOLIDLY_POOL = new Interface([
  'function fee() view returns (uint256)',
  'function fees() view returns (address)',
  'function reserve0() view returns (uint256)',
  'function reserve1() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function getAmountOut(uint256 amountIn, address tokenIn) view returns (uint256)',
  'function scaledOut(uint256 amountIn, uint256 x, uint256 y) view returns (uint256)',
]);
export const SOLIDLY_TRADER = new Interface([
  'function create(address factory, address a, address b, bool stable)',
  'function swap(address pool, bool zeroForOne, uint256 amountIn)',
  'function mint(address pool, uint256 amount0, uint256 amount1)',
  'function burn(address pool, uint256 share, uint256 shares)',
  'function mintRange(address pool, int24 lower, int24 upper, uint128 liquidity)',
  'function burnRange(address pool, int24 lower, int24 upper, uint128 liquidity)',
  'function swapRange(address pool, bool zeroForOne, int256 amount, uint160 limit)',
  'function swapPair(address pair, bool zeroForOne, uint256 amountIn, uint256 out)',
]);
const RANGE_FACTORY = new Interface([
  'function createPool(bytes code, address a, address b, int24 spacing, uint24 fee, uint160 price)',
  'function getPool(address, address, int24) view returns (address)',
]);

export interface SolidlyPool extends MarketPool {
  readonly factory: Hex;
  readonly isSecond: boolean;
  readonly isStable: boolean;
}

/** A pool of Slipstream. */
export interface RangePool extends MarketPool {
  readonly spacing: number;
  readonly feePips: number;
}

export interface SolidlyMarket extends PoolMarket {
  /** Factories of the first and of the second generation. */
  readonly factories: readonly [Hex, Hex];
  /** The factory of Slipstream. */
  readonly rangeFactory: Hex;
  /** Uniswap V3's position manager for this factory, whose events are those of Slipstream's. */
  readonly positionManager: Hex;
  /** Adds a position between two ticks, whose NFT the owner gets. */
  addPosition(pool: RangePool, ticks: readonly [number, number], amounts: readonly [bigint, bigint]): void;
  createPool(isSecond: boolean, isStable: boolean, a: MarketToken, b: MarketToken): Promise<SolidlyPool>;
  createRange(
    plan: Pick<RangePool, 'spacing' | 'feePips'> & { readonly price: bigint; readonly code?: Hex },
    a: MarketToken,
    b: MarketToken,
  ): Promise<RangePool>;
}

/** Deploys the contracts and one token for each number of decimals. The trader gets all tokens. */
export async function deploySolidly(rpc: DevRpc, decimals: readonly number[]): Promise<SolidlyMarket> {
  const market = await openPoolMarket(rpc, join(__dirname, 'Solidly.sol'), decimals);
  const { owner, trader, codeOf, deploy, add, mine } = market;
  const [first, second] = [false, true].map((isSecond) =>
    deploy(codeOf('Factory'), SOLIDLY_FACTORY, [isSecond]),
  ) as [Hex, Hex];
  const rangeFactory = deploy(codeOf('RangeFactory'));
  const positionsAbi = new Interface(POSITIONS_ABI);
  const positionManager = deploy(POSITIONS_CODE as Hex, positionsAbi, [rangeFactory, owner, owner]);
  await mine();
  return {
    ...market,
    factories: [first, second],
    rangeFactory,
    positionManager,
    addPosition(pool, ticks, amounts) {
      const { token0, token1, feePips } = pool;
      const params = [token0.address, token1.address, feePips, ...ticks, ...amounts, 0, 0, owner, NEVER];
      addPosition(market, positionManager, pool, { abi: positionsAbi, params });
    },
    async createPool(isSecond, isStable, a, b) {
      const [token0, token1] = inOrder(a, b);
      const factory = isSecond ? second : first;
      add(trader, SOLIDLY_TRADER, 'create', [factory, a.address, b.address, isStable]);
      await mine();
      const name = isSecond ? 'getPool' : 'getPair';
      const values = [token0.address, token1.address, isStable];
      const address = String(await readContract(rpc, SOLIDLY_FACTORY, factory, name, values)) as Hex;
      return { address: address.toLowerCase() as Hex, factory, isSecond, isStable, token0, token1 };
    },
    async createRange({ spacing, feePips, price, code = RANGE_POOL_CODE }, a, b) {
      const [token0, token1] = inOrder(a, b);
      const values = [code, a.address, b.address, spacing, feePips, price];
      add(rangeFactory, RANGE_FACTORY, 'createPool', values);
      await mine();
      const pair = [token0.address, token1.address, spacing];
      const address = String(await readContract(rpc, RANGE_FACTORY, rangeFactory, 'getPool', pair)) as Hex;
      return { address: address.toLowerCase() as Hex, spacing, feePips, token0, token1 };
    },
  };
}

/**
 * The slope of the contract's own curve at these reserves, from two small trades: (4·q(d) − q(2d)) / 2d. Raw token1 per
 * raw token0.
 */
export async function quotedPrice(
  rpc: DevRpc,
  { address, token0, token1 }: MarketPool,
  reserves: readonly [bigint, bigint],
): Promise<number> {
  const [x, y] = [
    (reserves[0] * UNIT) / 10n ** BigInt(token0.decimals),
    (reserves[1] * UNIT) / 10n ** BigInt(token1.decimals),
  ];
  const step = x / 10n ** 8n;
  const quote = async (amount: bigint): Promise<bigint> =>
    BigInt(String(await readContract(rpc, SOLIDLY_POOL, address, 'scaledOut', [amount, x, y])));
  const [once, twice] = [await quote(step), await quote(2n * step)];
  return (Number(4n * once - twice) / Number(2n * step)) * 10 ** (token1.decimals - token0.decimals);
}
