/** PancakeSwap V3 and its forks: Uniswap V3 with two more fields in Swap, the protocol's share of each token's fee. */
import type { Protocol } from './protocol';
import { createV3Protocol } from './v3Pool';

export const pancakeV3: Protocol = createV3Protocol('pancake_v3');
