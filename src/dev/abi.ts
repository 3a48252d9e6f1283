/** ABIs of the functions that the development chain's scripts call, with helpers to encode and decode calls. */
import { Interface } from 'ethers';

import { isHexData, toLowerHex, isAddress, type Hex } from '../domain/hex';
import { AppError } from '../errors';
import { toHexData, type DevRpc } from './node/devRpc';

export const TOKEN_CONSTRUCTOR = new Interface([
  'constructor(string, string, uint256, uint256, address, uint256)',
]);
export const ADDRESS_CONSTRUCTOR = new Interface(['constructor(address)']);
export const TWO_ADDRESSES_CONSTRUCTOR = new Interface(['constructor(address, address)']);
export const THREE_ADDRESSES_CONSTRUCTOR = new Interface(['constructor(address, address, address)']);

export const TRADER = new Interface([
  'function listPools() view returns (tuple(address pool, bool concentrated, uint24 fee, int24 spacing, address token0, address token1, uint256 base)[])',
  'function openV2(address factory, uint24 feeBps, address a, address b, uint256 amountA, uint256 amountB)',
  'function openV3(address factory, uint24 fee, address a, address b, uint160 sqrtPriceX96, uint128 liquidity)',
  'function give(address token, address to, uint256 amount)',
  'function run(uint256[] operations)',
]);

export const ERC20 = new Interface([
  'function approve(address spender, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
  'function deposit()',
]);

export const V2_ROUTER = new Interface([
  'function addLiquidity(address, address, uint256, uint256, uint256, uint256, address, uint256)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
]);

export const V3_FACTORY = new Interface(['function enableFeeAmount(uint24 fee, int24 tickSpacing)']);

export const V3_ROUTER = new Interface([
  'function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable returns (uint256)',
]);

export const POSITION_MANAGER = new Interface([
  'function mint(tuple(address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable returns (uint256, uint128, uint256, uint256)',
]);

export function encodeCall(contract: Interface, name: string, values: readonly unknown[]): Hex {
  return toHexData(contract.encodeFunctionData(name, values));
}

/** Creation code followed by the constructor arguments. */
export function encodeDeploy(bytecode: Hex, constructorOf?: Interface, values: readonly unknown[] = []): Hex {
  const data = bytecode + (constructorOf?.encodeDeploy(values).slice(2) ?? '');
  if (!isHexData(data)) throw new AppError('internal', 'the creation code is not hex data');
  return data;
}

/** Calls a view function at the newest block and decodes the result. */
export async function readContract(
  rpc: DevRpc,
  contract: Interface,
  to: Hex,
  name: string,
  values: readonly unknown[] = [],
): Promise<unknown> {
  const data = encodeCall(contract, name, values);
  const answer = toHexData(await rpc.call('eth_call', [{ to, data }, 'latest']));
  const [firstResult]: unknown[] = contract.decodeFunctionResult(name, answer).toArray();
  return firstResult;
}

/** Converts a decoded value to a lower-case address; throws for any other value. */
export function toAddress(value: unknown): Hex {
  if (!isAddress(value)) throw new AppError('internal', `got ${String(value)}; allowed: an address`);
  return toLowerHex(value);
}
