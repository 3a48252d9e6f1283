/**
 * The plan of the price tests: three stables, the native token, and tokens with a known true price, since every pool
 * opens at that price. Adds a thin pool, two tokens without a price, and tokens of 0 and 30 decimals.
 */
import { DEX_V2, DEX_V2_29, DEX_V3, FULL_PLAN, type WorldPlan } from '../../../src/dev/world/worldPlan';
import { TEST_WORLD_PLAN } from './testWorldPlan';

const TOKENS = ['wpls', 'usdc', 'usdt', 'dai', 'hexd', 'weth', 'whole', 'deep', 'taxed', 'pepe', 'floki'];

/** Indexes of the pools in `world.pools`. */
export const TRUTH_POOLS = {
  wplsUsdc: 0,
  wplsDai: 1,
  wplsUsdt: 2,
  usdcUsdt: 3,
  usdcDai: 4,
  hexdWpls: 5,
  /** A pool with a depth of a few dollars. */
  hexdDaiThin: 6,
  wholeWpls: 7,
  deepWpls: 8,
  taxedWpls: 9,
  wethUsdcV3: 10,
  /** Two tokens that trade only with each other. */
  pepeFloki: 11,
} as const;

export const TRUTH_WORLD_PLAN: WorldPlan = {
  ...TEST_WORLD_PLAN,
  tokens: FULL_PLAN.tokens.filter(({ key }) => TOKENS.includes(key)),
  pools: [
    { dex: DEX_V2, base: 'wpls', quote: 'usdc', sideUsd: 4_000_000, popularity: 4 },
    { dex: DEX_V2_29, base: 'wpls', quote: 'dai', sideUsd: 6_000_000, popularity: 4 },
    { dex: DEX_V2_29, base: 'wpls', quote: 'usdt', sideUsd: 1_000_000, popularity: 2 },
    { dex: DEX_V2, base: 'usdc', quote: 'usdt', sideUsd: 1_000_000, popularity: 2 },
    { dex: DEX_V2, base: 'usdc', quote: 'dai', sideUsd: 2_000_000, popularity: 2 },
    { dex: DEX_V2_29, base: 'hexd', quote: 'wpls', sideUsd: 5_000_000, popularity: 3 },
    { dex: DEX_V2, base: 'hexd', quote: 'dai', sideUsd: 100, popularity: 1 },
    { dex: DEX_V2, base: 'whole', quote: 'wpls', sideUsd: 200_000, popularity: 1 },
    { dex: DEX_V2, base: 'deep', quote: 'wpls', sideUsd: 100_000, popularity: 1 },
    { dex: DEX_V2, base: 'taxed', quote: 'wpls', sideUsd: 100_000, popularity: 1 },
    { dex: DEX_V3, base: 'weth', quote: 'usdc', sideUsd: 2_000_000, popularity: 3, fee: 500 },
    { dex: DEX_V2, base: 'pepe', quote: 'floki', sideUsd: 1_000_000, popularity: 1 },
  ],
  anchors: ['usdc', 'usdt', 'dai'],
};
