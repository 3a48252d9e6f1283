/** NFTs of position managers with the interface of Uniswap V3's, and what their contracts would pay out for them. */
import { Interface, parseUnits } from 'ethers';

import { encodeCall, ERC20 } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import type { Portfolio, PortfolioPosition } from '../../../src/wire/portfolio';
import type { Program } from '../server/program';
import type { MarketPool, PoolMarket } from './poolMarket';
import { getData } from './poolWorld';

const MANAGER = new Interface([
  'function decreaseLiquidity((uint256 id, uint128 liquidity, uint256 min0, uint256 min1, uint256 deadline)) returns (uint256, uint256)',
  'function collect((uint256 id, address to, uint128 max0, uint128 max1)) returns (uint256, uint256)',
]);
const CALLER = new Interface(['function call(address to, bytes data)']);
const NO_LIMIT = 2n ** 128n - 1n;
const NEVER = 2n ** 40n;

/** Lets the manager take the trader's tokens, then calls `mint` with these parameters, all with the next block. */
export function addPosition(
  market: PoolMarket,
  manager: Hex,
  { token0, token1 }: MarketPool,
  mint: { readonly abi: Interface; readonly params: readonly unknown[] },
): void {
  const call = (to: Hex, data: Hex): void => market.add(market.trader, CALLER, 'call', [to, data]);
  for (const { address } of [token0, token1])
    call(address, encodeCall(ERC20, 'approve', [manager, 2n ** 256n - 1n]));
  call(manager, encodeCall(mint.abi, 'mint', [mint.params]));
}

/** The positions of a wallet in a pool. */
export async function listPositions(program: Program, owner: Hex, pool: Hex): Promise<PortfolioPosition[]> {
  const { positions } = await getData<Portfolio>(program, `/portfolio/${owner}`);
  return positions.filter(({ pair_address }) => pair_address === pool);
}

/** Compares amounts in whole tokens, in the order of the pool, with what a contract pays in raw units. */
export function expectPaid(
  shown: PortfolioPosition['tokens'] | null | undefined,
  pool: Pick<MarketPool, 'token0' | 'token1'>,
  paid: readonly bigint[],
): void {
  expect(shown).toHaveLength(2);
  for (const [index, { address, amount }] of (shown ?? []).entries()) {
    const token = [pool.token0, pool.token1].find((each) => each.address === address)!;
    expect([address, parseUnits(amount!, token.decimals)]).toEqual([address, paid[index]]);
  }
}

/** The amounts of a position equal what its manager would pay the owner now: for its liquidity, and besides it. */
export async function expectManagerPays(
  rpc: DevRpc,
  [manager, owner]: readonly [manager: Hex, owner: Hex],
  pool: MarketPool,
  { position_id, lp_balance_raw, tokens, unclaimed }: PortfolioPosition,
): Promise<void> {
  const ask = async (name: string, values: readonly unknown[]): Promise<readonly bigint[]> => {
    const call = { from: owner, to: manager, data: encodeCall(MANAGER, name, [values]) };
    const answer = String(await rpc.call('eth_call', [call, 'latest']));
    return MANAGER.decodeFunctionResult(name, answer).toArray() as bigint[];
  };
  const liquidity = [position_id, lp_balance_raw, 0, 0, NEVER];
  expectPaid(tokens, pool, await ask('decreaseLiquidity', liquidity));
  expectPaid(unclaimed, pool, await ask('collect', [position_id, owner, NO_LIMIT, NO_LIMIT]));
}
