/**
 * Decoder for PancakeSwap V3 and its forks. The events are those of Uniswap V3, but Swap has two more fields:
 * the protocol's share of each token's fee.
 */
import { createV3Protocol } from './v3Pool';

export const pancakeV3 = createV3Protocol('pancake_v3');
