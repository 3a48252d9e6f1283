/** Decoder for Uniswap V3 and forks that did not change its events. */
import type { Protocol } from './protocol';
import { createV3Protocol } from './v3Pool';

export const uniswapV3: Protocol = createV3Protocol('uniswap_v3');
