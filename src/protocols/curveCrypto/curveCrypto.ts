/**
 * Curve's CryptoSwap-NG pools of two and three tokens (twocrypto-ng, tricrypto-ng). Each pool is a contract that emits its own
 * events and is its own LP token.
 */
import { wholeTokens } from '../../domain/amounts';
import { scalePrice } from '../../domain/prices';
import { POOL_CRYPTO } from '../../domain/pools/poolShape';
import { toFeePips } from '../../domain/swapFee';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenProtocol, ManyTokenState, StoredManyTokenState } from '../manyTokenProtocol';
import { cryptoLiquidity } from './cryptoDepth';
import { CRYPTO_FEE_TOPICS } from './cryptoEvents';
import { lacksCryptoBooks, toCryptoPool, toCryptoSwapFee } from './cryptoParams';
import { cryptoPrice, getCryptoDy, type CryptoPool } from './cryptoPool';
import { cryptoQuestions } from './cryptoQuestions';
import { cryptoLogs } from './readCryptoLog';

export const curveCrypto = {
  name: 'curve_crypto',
  hasManyTokens: true,
  isVault: false,
  poolTypes: [POOL_CRYPTO],
  keptTopics: CRYPTO_FEE_TOPICS,
  locksSharesAtZero: false,
  mintsProtocolShares: false,
  feeSplit: null,
  feeChange: {
    topics: CRYPTO_FEE_TOPICS,
    decodeFees: (log) => {
      const fee = cryptoLogs.decodeSwapFee(log);
      return fee === null ? null : [toFeePips(fee), toFeePips(fee)];
    },
  },
  fillState: (state, other) => {
    const filled = lacksCryptoBooks(state) ? { ...other, poolId: state.poolId, doubts: state.doubts } : state;
    return withDoubts(filled, other.doubts);
  },
  restoreState: (state) => {
    const pool = toCryptoPool(state);
    return pool === null ? { ...state, params: [] } : { ...state, swapFee: toCryptoSwapFee(pool.midFee) };
  },
  isFollowed: ({ doubts, params }) => doubts === 0 && params.length > 0,
  spotPrice: (state, i, j, timestamp) => {
    const pool = findPricedPool(state);
    return pool === null ? null : cryptoPrice(pool, i, j, timestamp);
  },
  quote: (state, i, j, amountIn, timestamp) => {
    const pool = findPricedPool(state);
    if (pool === null || amountIn <= 0n) return null;
    return getCryptoDy(pool, i, j, amountIn, timestamp);
  },
  legState,
  ...cryptoLogs,
  ...cryptoQuestions,
} satisfies ManyTokenProtocol;

function findPricedPool(state: Pick<ManyTokenState, 'params' | 'balances' | 'doubts'>): CryptoPool | null {
  return state.doubts > 0 ? null : toCryptoPool(state);
}

function legState(
  state: StoredManyTokenState,
  i: number,
  j: number,
  [decimalsI, decimalsJ]: readonly [number, number],
) {
  const pool = findPricedPool(state);
  const raw = pool === null ? null : cryptoPrice(pool, i, j, state.timestamp);
  if (raw === null || pool === null) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  return {
    price: scalePrice(raw, decimalsI, decimalsJ, true),
    liquidity: cryptoLiquidity(pool, i, j, state.timestamp) / 10 ** ((decimalsI + decimalsJ) / 2),
    reserve0: wholeTokens(pool.balances[i] ?? 0n, decimalsI),
    reserve1: wholeTokens(pool.balances[j] ?? 0n, decimalsJ),
  };
}
