/** What the node is asked about Algebra pools. globalState() begins with price, tick and fee in every version. */
import { callData, readAddress, readInt, readUint, type ContractCall } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import type { PoolState } from '../../domain/pool';
import type { PoolCreation, PoolQuestions } from '../protocol';
import { USUAL_TICK_SPACING } from './algebraEvents';

/** Words of globalState() where the fee depends on the direction: two fees instead of one. */
const TWO_FEES_WORDS = 8;
const UINT16_MAX = 0xffffn;
const INT24_MAX = 0x7fffffn;

export const algebraQuestions: PoolQuestions = {
  factCalls: ['token0()', 'token1()', 'globalState()', 'tickSpacing()'],
  readFacts,
  /** The factory names the pool of a pair. It names a custom pool only to who knows its deployer. */
  confirmCalls: (to, { token0, token1 }) => [
    { to, data: callData('poolByPair(address,address)', token0, token1) },
  ],
  detailCalls: (_factory, { pool: to }) => [{ to, data: callData('tickSpacing()') }],
  readDetails: (creation, [spacing]) => ({ ...creation, tickSpacing: toSpacing(spacing) }),
  stateCalls,
  readState,
  lastMoveCalls: () => [],
  readLastMove: () => null,
  listsPools: false,
};

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('token0()')), readAddress(answers.get('token1()'))];
  const fees = readFees(answers.get('globalState()'));
  if (token0 === null || token1 === null || fees === null) return null;
  return { pool, token0, token1, feePips: fees[0], tickSpacing: toSpacing(answers.get('tickSpacing()')) };
}

/** A pool without a first price has no spacing yet. It then gets the usual spacing. */
function toSpacing(answer: Hex | null | undefined): number {
  const spacing = readUint(answer);
  return spacing === null || spacing === 0n || spacing > INT24_MAX ? USUAL_TICK_SPACING : Number(spacing);
}

function readFees(globalState: Hex | null | undefined): [number, number] | null {
  const fee0 = readUint(globalState, 2);
  const hasTwo = readUint(globalState, TWO_FEES_WORDS - 1) !== null;
  const fee1 = hasTwo ? readUint(globalState, 3) : fee0;
  if (fee0 === null || fee1 === null || fee0 > UINT16_MAX || fee1 > UINT16_MAX) return null;
  return [Number(fee0), Number(fee1)];
}

function stateCalls({ pool, token0, token1 }: PoolCreation): ContractCall[] {
  const balance = callData('balanceOf(address)', pool);
  return [
    { to: pool, data: callData('globalState()') },
    { to: pool, data: callData('liquidity()') },
    { to: token0, data: balance },
    { to: token1, data: balance },
  ];
}

/** Null if a part is unknown: without its price or its liquidity, a pool would show a false depth. */
function readState([globalState, liquidity, balance0, balance1]: readonly (Hex | null)[]): PoolState | null {
  const [reserve0, reserve1] = [readUint(balance0), readUint(balance1)];
  const [price, tick] = [readUint(globalState), readInt(globalState, 1, 24)];
  const [fees, active] = [readFees(globalState), readUint(liquidity)];
  if (reserve0 === null || reserve1 === null || price === null) return null;
  if (tick === null || fees === null || active === null) return null;
  return {
    reserve0,
    reserve1,
    sqrtPriceX96: BigInt.asUintN(160, price),
    tick: Number(tick),
    liquidity: BigInt.asUintN(128, active),
    fees,
  };
}
