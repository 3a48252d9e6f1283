/**
 * StableSwap pools of n tokens: Pancake's port, which PulseX uses, and the plain pools of Curve's StableSwap-NG. Each pool is
 * a contract that emits its own events.
 */
import { wholeTokens } from '../../domain/amounts';
import { scalePrice } from '../../domain/prices';
import { POOL_STABLE } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol, ManyTokenState, StoredManyTokenState } from '../manyTokenProtocol';
import { curveLiquidity } from './curveDepth';
import { CURVE_FEE_TOPICS } from './curveEvents';
import { lacksCurveBooks, shareOf, toCurvePool, toSwapFee } from './curveParams';
import { curvePrice, getDy } from './curvePool';
import { curveQuestions } from './curveQuestions';
import { curveLogs } from './readCurveLog';

export const curveStable = {
  name: 'curve_stable',
  hasManyTokens: true,
  isVault: false,
  poolTypes: [POOL_STABLE],
  keptTopics: CURVE_FEE_TOPICS,
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: {
    topics: CURVE_FEE_TOPICS,
    decodeFees: (log) => {
      const fee = curveLogs.decodeSwapFee(log);
      return fee === null ? null : [toFeePips(fee), toFeePips(fee)];
    },
  },
  fillState: (state, other) => {
    const filled = lacksCurveBooks(state) ? { ...other, poolId: state.poolId, doubts: state.doubts } : state;
    return withDoubts(filled, other.doubts);
  },
  restoreState: (state) => {
    const pool = toCurvePool(state);
    return pool === null ? { ...state, params: [] } : { ...state, swapFee: toSwapFee(pool.fee) };
  },
  shareToken: shareOf,
  isFollowed: ({ doubts, params }) => doubts === 0 && params.length > 0,
  spotPrice,
  quote: (state, i, j, amountIn, timestamp) => {
    const pool = toCurvePool(state);
    if (pool === null || amountIn <= 0n || spotPrice(state, i, j, timestamp) === null) return null;
    return getDy(pool, i, j, amountIn, timestamp);
  },
  legState,
  ...curveLogs,
  ...curveQuestions,
} satisfies ManyTokenProtocol;

function spotPrice(
  state: Pick<ManyTokenState, 'params' | 'balances' | 'doubts'>,
  i: number,
  j: number,
  timestamp: number,
): number | null {
  const pool = state.doubts > 0 ? null : toCurvePool(state);
  return pool === null ? null : curvePrice(pool, i, j, timestamp);
}

function legState(
  state: StoredManyTokenState,
  i: number,
  j: number,
  [decimalsI, decimalsJ]: readonly [number, number],
) {
  const raw = spotPrice(state, i, j, state.timestamp);
  const pool = toCurvePool(state);
  if (raw === null || pool === null) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  return {
    price: scalePrice(raw, decimalsI, decimalsJ, true),
    liquidity: curveLiquidity(pool, i, j, state.timestamp) / 10 ** ((decimalsI + decimalsJ) / 2),
    reserve0: wholeTokens(pool.balances[i] ?? 0n, decimalsI),
    reserve1: wholeTokens(pool.balances[j] ?? 0n, decimalsJ),
  };
}
