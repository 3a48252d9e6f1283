/**
 * Curve's CryptoSwap pools of two and three tokens: those of NG (twocrypto-ng, tricrypto-ng), which are their own LP tokens, and
 * those before NG (tricrypto2, the factory of 2021).
 */
import { POOL_CRYPTO } from '../../domain/pools/poolShape';
import { curveTraits } from '../curve/curveFamily';
import type { ManyTokenProtocol } from '../manyTokenProtocol';
import { cryptoLiquidity } from './cryptoDepth';
import { CRYPTO_FEE_TOPICS } from './cryptoEvents';
import { cryptoShareOf, lacksCryptoBooks, toCryptoPool } from './cryptoParams';
import { cryptoPrice, getCryptoDy } from './cryptoPool';
import { cryptoQuestions } from './cryptoQuestions';
import { cryptoLogs, decodeCryptoFee } from './readCryptoLog';

export const curveCrypto = {
  name: 'curve_crypto',
  ...curveTraits({
    poolType: POOL_CRYPTO,
    feeTopics: CRYPTO_FEE_TOPICS,
    toPool: toCryptoPool,
    feeOf: ({ midFee }) => midFee,
    lacksBooks: lacksCryptoBooks,
    decodeSwapFee: decodeCryptoFee,
    priceOf: cryptoPrice,
    getDy: getCryptoDy,
    liquidityOf: cryptoLiquidity,
  }),
  shareToken: cryptoShareOf,
  ...cryptoLogs,
  ...cryptoQuestions,
} satisfies ManyTokenProtocol;
