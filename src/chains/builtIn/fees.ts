/** Parts of the swap fee that go to the protocol, 0 to 1, from DefiLlama's adapters. */

/** PancakeSwap V2: 0.08 of the 0.25 percent. */
export const PANCAKE_V2_SHARE = 0.32;
/** SushiSwap, QuickSwap and Trader Joe V1: 0.05 of the 0.3 percent. */
export const SIXTH_SHARE = 1 / 6;
