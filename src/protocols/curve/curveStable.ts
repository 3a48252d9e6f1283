/**
 * StableSwap pools of n tokens: Pancake's port, which PulseX uses, and Curve's own, from its first contracts to
 * StableSwap-NG. Each pool is a contract that emits its own events.
 */
import { POOL_STABLE } from '../../domain/pools/poolShape';
import type { ManyTokenProtocol } from '../manyTokenProtocol';
import { curveLiquidity } from './curveDepth';
import { CURVE_FEE_TOPICS } from './curveEvents';
import { curveTraits } from './curveFamily';
import { lacksCurveBooks, shareOf, toCurvePool } from './curveParams';
import { curvePrice, getDy } from './curvePool';
import { curveQuestions } from './curveQuestions';
import { curveLogs, decodeCurveFee } from './readCurveLog';

export const curveStable = {
  name: 'curve_stable',
  ...curveTraits({
    poolType: POOL_STABLE,
    feeTopics: CURVE_FEE_TOPICS,
    toPool: toCurvePool,
    feeOf: ({ fee }) => fee,
    lacksBooks: lacksCurveBooks,
    decodeSwapFee: decodeCurveFee,
    priceOf: curvePrice,
    getDy,
    liquidityOf: curveLiquidity,
  }),
  shareToken: shareOf,
  ...curveLogs,
  ...curveQuestions,
} satisfies ManyTokenProtocol;
