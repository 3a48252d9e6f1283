/** What the node is asked about V3 pools that are older than the first stored block, as in UniswapV3Pool.sol. */
import { callData, readAddress, readUint, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type { PoolCreation, PoolQuestions } from '../protocol';

/** The newest oracle observation has the time of the last swap or change of liquidity that wrote to the oracle. */
export const v3Questions: PoolQuestions = {
  factCalls: ['token0()', 'token1()', 'fee()', 'tickSpacing()'],
  readFacts,
  confirmCalls: (to, { token0, token1, feePips }) => [
    { to, data: callData('getPool(address,address,uint24)', token0, token1, feePips ?? 0) },
  ],
  detailCalls: () => [],
  readDetails: (creation) => creation,
  stateCalls,
  readState,
  lastMoveCalls: (to, [slot0]) => {
    const observation = readUint(slot0, 2);
    if (observation === null) return [];
    return [{ to, data: callData('observations(uint256)', observation & 0xffffn) }];
  },
  readLastMove: (_states, [observation]) => readUint(observation),
  listsPools: false,
};

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('token0()')), readAddress(answers.get('token1()'))];
  const [fee, spacing] = [readUint(answers.get('fee()')), readUint(answers.get('tickSpacing()'))];
  if (token0 === null || token1 === null || fee === null || spacing === null) return null;
  const feePips = Number(BigInt.asUintN(24, fee));
  return { pool, token0, token1, feePips, tickSpacing: Number(BigInt.asIntN(24, spacing)) };
}

function stateCalls({ pool, token0, token1 }: PoolCreation): ContractCall[] {
  const balance = callData('balanceOf(address)', pool);
  return [
    { to: pool, data: callData('slot0()') },
    { to: pool, data: callData('liquidity()') },
    { to: token0, data: balance },
    { to: token1, data: balance },
  ];
}

/** Null if a part is unknown: without its price or its liquidity, a pool would show a false depth. */
function readState([slot0, liquidity, balance0, balance1]: readonly (Hex | null)[]): PoolState | null {
  const [reserve0, reserve1] = [readUint(balance0), readUint(balance1)];
  const [price, tick, active] = [readUint(slot0), readUint(slot0, 1), readUint(liquidity)];
  if (reserve0 === null || reserve1 === null || price === null || tick === null || active === null)
    return null;
  return {
    reserve0,
    reserve1,
    sqrtPriceX96: BigInt.asUintN(160, price),
    tick: Number(BigInt.asIntN(24, tick)),
    liquidity: BigInt.asUintN(128, active),
  };
}
