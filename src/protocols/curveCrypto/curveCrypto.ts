/** Curve's CryptoSwap-NG pools of two and three tokens (twocrypto-ng, tricrypto-ng). Each pool is its own LP token. */
import { POOL_CRYPTO } from '../../domain/pools/poolShape';
import { curveTraits } from '../curve/curveFamily';
import type { ManyTokenProtocol } from '../manyTokenProtocol';
import { cryptoLiquidity } from './cryptoDepth';
import { CRYPTO_FEE_TOPICS } from './cryptoEvents';
import { lacksCryptoBooks, toCryptoPool } from './cryptoParams';
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
  ...cryptoLogs,
  ...cryptoQuestions,
} satisfies ManyTokenProtocol;
