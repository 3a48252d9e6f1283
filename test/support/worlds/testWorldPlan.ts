/** The small test world: tokens with 0, 6, 8, 18 and 30 decimals, a taxed token, three exchanges and eight pools. */
import { DEX_V2, DEX_V2_29, DEX_V3, FULL_PLAN, type WorldPlan } from '../../../src/dev/world/worldPlan';

const TOKENS = ['wpls', 'usdc', 'dai', 'hexd', 'weth', 'whole', 'deep', 'taxed'];

/** Indexes of the pools in `world.pools`. */
export const TEST_POOLS = {
  wplsUsdc: 0,
  wplsDai29: 1,
  hexdWpls29: 2,
  wholeWpls: 3,
  deepWpls: 4,
  taxedWpls: 5,
  wethUsdcV3: 6,
  hexdWplsV3: 7,
} as const;

export const TEST_WORLD_PLAN: WorldPlan = {
  ...FULL_PLAN,
  tokens: FULL_PLAN.tokens.filter(({ key }) => TOKENS.includes(key)),
  pools: [
    { dex: DEX_V2, base: 'wpls', quote: 'usdc', sideUsd: 4_000_000, popularity: 4 },
    { dex: DEX_V2_29, base: 'wpls', quote: 'dai', sideUsd: 6_000_000, popularity: 4 },
    { dex: DEX_V2_29, base: 'hexd', quote: 'wpls', sideUsd: 5_000_000, popularity: 3 },
    { dex: DEX_V2, base: 'whole', quote: 'wpls', sideUsd: 200_000, popularity: 1 },
    { dex: DEX_V2, base: 'deep', quote: 'wpls', sideUsd: 100_000, popularity: 1 },
    { dex: DEX_V2, base: 'taxed', quote: 'wpls', sideUsd: 100_000, popularity: 1 },
    { dex: DEX_V3, base: 'weth', quote: 'usdc', sideUsd: 2_000_000, popularity: 3, fee: 500 },
    { dex: DEX_V3, base: 'hexd', quote: 'wpls', sideUsd: 1_000_000, popularity: 2, fee: 3_000 },
  ],
  launches: [],
  anchors: ['usdc', 'dai'],
  majors: ['weth', 'hexd'],
  burnToken: 'hexd',
  // anvil.ts gives tokens to its users, so this plan needs no holdings.
  holders: 0,
};
