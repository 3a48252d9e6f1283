/** What the node is asked about Camelot pools. getReserves() has four words: the reserves and the two fees. */
import { callData, readAddress, readUint } from '../../domain/contractCall';
import type { Hex } from '../../domain/hex';
import { EMPTY_STATE, type PoolState } from '../../domain/pool';
import type { PoolCreation, PoolQuestions, SwapFees } from '../protocol';
import { exponentOf } from '../solidly/solidlyQuestions';
import { uniswapV2 } from '../uniswapV2/uniswapV2';
import { FEE_UNITS_MAX, PIPS_PER_UNIT } from './camelotEvents';
import { toTick, UNKNOWN_TICK } from './camelotTick';

/** token0FeePercent and token1FeePercent of a new pool. */
const FIRST_FEE_PIPS = 3_000;

export const camelotQuestions = {
  factCalls: ['token0()', 'token1()', 'getReserves()'],
  readFacts,
  detailCalls: (_factory, { pool: to }) =>
    ['precisionMultiplier0()', 'precisionMultiplier1()'].map((name) => ({ to, data: callData(name) })),
  readDetails,
  stateCalls: ({ pool: to }) =>
    ['getReserves()', 'stableSwap()'].map((name) => ({ to, data: callData(name) })),
  readState,
  readLastMove: () => null,
} satisfies Partial<PoolQuestions>;

function readFacts(pool: Hex, answers: ReadonlyMap<string, Hex | null>): PoolCreation | null {
  const [token0, token1] = [readAddress(answers.get('token0()')), readAddress(answers.get('token1()'))];
  const fees = readFees(answers.get('getReserves()'));
  if (token0 === null || token1 === null || fees === null) return null;
  return { pool, token0, token1, feePips: Math.max(...fees), tickSpacing: 0 };
}

function readFees(reserves: Hex | null | undefined): SwapFees | null {
  const [fee0, fee1] = [readUint(reserves, 2), readUint(reserves, 3)];
  if (fee0 === null || fee1 === null || fee0 > FEE_UNITS_MAX || fee1 > FEE_UNITS_MAX) return null;
  return [Number(fee0) * PIPS_PER_UNIT, Number(fee1) * PIPS_PER_UNIT];
}

/** precisionMultiplier names the unit in which a stable pool counts: 10^decimals at its creation. */
function readDetails(creation: PoolCreation, answers: readonly (Hex | null)[]): PoolCreation {
  const [decimals0 = null, decimals1 = null] = answers.map((answer) => exponentOf(readUint(answer)));
  return {
    ...creation,
    feePips: creation.feePips ?? FIRST_FEE_PIPS,
    scaleDecimals: decimals0 === null || decimals1 === null ? null : [decimals0, decimals1],
  };
}

/** Without an answer about the curve, the pool has no price until its next SetStableSwap. */
function readState([reserves, stable]: readonly (Hex | null)[]): PoolState {
  const state = uniswapV2.readState([reserves ?? null]) ?? EMPTY_STATE;
  const [fees, isStable] = [readFees(reserves), readUint(stable)];
  if (fees === null || isStable === null || isStable > 1n) return { ...state, tick: UNKNOWN_TICK };
  return { ...state, fees, tick: toTick(isStable === 1n, fees) };
}
