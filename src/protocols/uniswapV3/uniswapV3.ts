/** Decoder for Uniswap V3 and forks that did not change its events. */
import { createV3Protocol } from './v3Pool';

export const uniswapV3 = createV3Protocol('uniswap_v3');
