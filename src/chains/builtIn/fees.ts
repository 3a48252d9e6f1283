/** Parts of the swap fee that go to the protocol, 0 to 1. */

/** PancakeSwap V2: 0.08 of the 0.25 percent (DefiLlama/dimension-adapters dexs/pancakeswap-v2.ts). */
export const PANCAKE_V2_SHARE = 0.32;
/** SushiSwap, QuickSwap and Trader Joe V1: 0.05 of the 0.3 percent (the adapters of the same repository). */
export const SIXTH_SHARE = 1 / 6;
