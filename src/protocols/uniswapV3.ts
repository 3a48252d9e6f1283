/** Uniswap V3 and its plain forks. */
import type { Protocol } from './protocol';
import { createV3Protocol } from './v3Pool';

export const uniswapV3: Protocol = createV3Protocol('uniswap_v3');
