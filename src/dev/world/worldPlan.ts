/**
 * The plan of the development chain: tokens with prices, and pools with depths. Prices are plausible for
 * PulseChain. Odd tokens imitate faulty tokens on real chains, each in one shallow pool. The plan is data
 * only; buildWorld.ts builds the world.
 */
import type { Launch, PoolPlan } from './world';

export interface TokenPlan {
  readonly key: string;
  readonly name: string;
  readonly symbol: string;
  /** Decimals in which the token counts its amounts. */
  readonly decimals: number;
  /** USD per whole token. */
  readonly priceUsd: number;
  /** Long-run standard deviation of the logarithm of the price. */
  readonly volatility: number;
  /** Supply of the token in USD at its first price. */
  readonly supplyUsd: number;
  /** Tax on each transfer, as a part of the amount. */
  readonly taxBps?: number;
  /** Answer of decimals(), if it differs from `decimals`. */
  readonly declaredDecimals?: bigint;
  readonly oddity?: Oddity;
}

/**
 * Kinds of odd tokens (tokens with faulty behaviour), as numbers of OddToken.sol. `none` is for a token with
 * only odd texts.
 */
export const ODDITIES = {
  none: 0,
  bytes32Text: 1,
  revertingSymbol: 2,
  revertingDecimals: 3,
  hugeSymbol: 4,
  gasBomb: 5,
  noMetadata: 6,
} as const;
type Oddity = keyof typeof ODDITIES;

export interface WorldPlan {
  readonly tokens: readonly TokenPlan[];
  readonly pools: readonly PoolPlan[];
  readonly launches: readonly Launch[];
  /** Keys of tokens, like `majors` and `burnToken`. */
  readonly anchors: readonly string[];
  readonly majors: readonly string[];
  readonly burnToken: string;
  /** Number of accounts that get tokens, liquidity and V3 positions. */
  readonly holders: number;
}

export const WRAPPED_NATIVE = 'wpls';
export const DEX_V2 = 'devswap_v2';
export const DEX_V2_29 = 'pulsedev_v2';
export const DEX_V3 = 'devswap_v3';

const M = 1_000_000;

function tokenPlan(
  key: string,
  symbol: string,
  decimals: number,
  priceUsd: number,
  volatility: number,
  otherFields: Partial<TokenPlan> = {},
): TokenPlan {
  return {
    key,
    symbol,
    name: `${symbol} Token`,
    decimals,
    priceUsd,
    volatility,
    supplyUsd: 500 * M,
    ...otherFields,
  };
}

/** Arguments: key, symbol, decimals, price in USD, and volatility. */
const CORE_TOKENS: readonly TokenPlan[] = [
  tokenPlan('wpls', 'WPLS', 18, 0.00005, 0.15, { name: 'Wrapped Pulse', supplyUsd: 2_000 * M }),
  tokenPlan('usdc', 'USDC', 6, 1, 0.0004, { name: 'USD Coin', supplyUsd: 2_000 * M }),
  tokenPlan('usdt', 'USDT', 6, 1, 0.0006, { name: 'Tether USD', supplyUsd: 2_000 * M }),
  tokenPlan('dai', 'DAI', 18, 1, 0.0008, { name: 'Dai Stablecoin', supplyUsd: 2_000 * M }),
  tokenPlan('hexd', 'HEXD', 8, 0.006, 0.18, { name: 'Hex Dev' }),
  tokenPlan('weth', 'WETH', 18, 2_500, 0.08, { name: 'Wrapped Ether', supplyUsd: 2_000 * M }),
  tokenPlan('wbtc', 'WBTC', 8, 60_000, 0.07, { name: 'Wrapped BTC', supplyUsd: 1_000 * M }),
  tokenPlan('plsd', 'PLSD', 18, 0.00003, 0.2, { name: 'PulseDev' }),
  tokenPlan('inc', 'INC', 18, 1.2, 0.2, { name: 'Incentive' }),
];

const TAIL_TOKENS: readonly TokenPlan[] = [
  tokenPlan('whole', 'WHOLE', 0, 0.5, 0.1),
  tokenPlan('cent', 'CENT', 2, 12, 0.1),
  tokenPlan('nano', 'NANO', 9, 0.0008, 0.25),
  tokenPlan('yocto', 'YOCTO', 24, 3, 0.15),
  tokenPlan('deep', 'DEEP', 30, 150, 0.15),
  tokenPlan('taxed', 'TAXED', 18, 0.02, 0.25, { taxBps: 200 }),
];

/**
 * A right-to-left override, a NUL, a bell, a zero-width space, markup and SQL. No part of the text may reach
 * a page unescaped.
 */
const HOSTILE_TEXT = '\u202Ekcatta\u0000\u0007\u200B<img src=x onerror=alert(1)>%_\'"\\;';

function oddToken(
  key: string,
  symbol: string,
  oddity: Oddity,
  otherFields: Partial<TokenPlan> = {},
): TokenPlan {
  return tokenPlan(key, symbol, 18, 0.1, 0.1, { oddity, supplyUsd: 50 * M, ...otherFields });
}

const ODD_TOKENS: readonly TokenPlan[] = [
  oddToken('maker', 'MKRD', 'bytes32Text', { name: 'Maker Dev', priceUsd: 1_400 }),
  oddToken('no_symbol', 'NOSYM', 'revertingSymbol'),
  oddToken('no_decimals', 'NODEC', 'revertingDecimals'),
  oddToken('absurd', 'ABSURD', 'none', { declaredDecimals: 2n ** 256n - 1n }),
  oddToken('huge', 'HUGE', 'hugeSymbol'),
  oddToken('bomb', 'BOMB', 'gasBomb'),
  oddToken('empty', '', 'none', { name: '' }),
  oddToken('hostile', HOSTILE_TEXT, 'none', { name: HOSTILE_TEXT.repeat(8) }),
  oddToken('nameless', 'NONE', 'noMetadata'),
];

// prettier-ignore
const MEME_NAMES = [
  'Pepe', 'Floki', 'Turtle', 'Cobra', 'Walrus', 'Piglet', 'Rocket', 'Banana', 'Wizard', 'Goblin', 'Falcon', 'Otter',
  'Lemur', 'Yeti', 'Koala', 'Squid', 'Panda', 'Gecko', 'Moose', 'Llama',
];
const MEMES_LAUNCHED = 6;

const MEME_TOKENS: readonly TokenPlan[] = MEME_NAMES.map((name, index) =>
  tokenPlan(name.toLowerCase(), name.toUpperCase(), 18, 10 ** -(1 + (index % 7)), 0.35, {
    name: `${name} of Pulse`,
    supplyUsd: 20 * M,
  }),
);

function v2Pool(base: string, quote: string, sideUsd: number, popularity: number): PoolPlan {
  return { dex: DEX_V2, base, quote, sideUsd, popularity };
}

function v2Pool29(base: string, quote: string, sideUsd: number, popularity: number): PoolPlan {
  return { dex: DEX_V2_29, base, quote, sideUsd, popularity };
}

function v3Pool(base: string, quote: string, fee: number, sideUsd: number, popularity: number): PoolPlan {
  return { dex: DEX_V3, base, quote, sideUsd, popularity, fee };
}

/** Arguments: base, quote, fee in pips (V3 only), USD on each side, and popularity. */
const CORE_POOLS: readonly PoolPlan[] = [
  v2Pool('wpls', 'usdc', 4 * M, 100),
  v2Pool29('wpls', 'dai', 6 * M, 120),
  v2Pool29('hexd', 'wpls', 5 * M, 90),
  v2Pool29('plsd', 'wpls', 4 * M, 60),
  v2Pool29('inc', 'wpls', 3 * M, 45),
  v3Pool('wpls', 'usdc', 3_000, 2 * M, 40),
  v3Pool('weth', 'usdc', 500, 2 * M, 35),
  v2Pool('weth', 'wpls', 3 * M, 30),
  v2Pool('hexd', 'usdc', 1 * M, 25),
  v3Pool('hexd', 'wpls', 3_000, 1 * M, 20),
  v2Pool('hexd', 'wpls', 1 * M, 18),
  v2Pool29('weth', 'wpls', 2 * M, 16),
  v2Pool29('wpls', 'usdc', 1 * M, 14),
  v2Pool29('wpls', 'usdt', 1 * M, 12),
  v2Pool('plsd', 'wpls', 0.5 * M, 10),
  v3Pool('usdc', 'usdt', 100, 3 * M, 9),
  v2Pool('usdc', 'dai', 2 * M, 8),
  v2Pool('usdc', 'usdt', 1 * M, 6),
  v2Pool29('plsd', 'dai', 0.5 * M, 6),
  v3Pool('wbtc', 'weth', 3_000, 1 * M, 6),
  v2Pool('wbtc', 'weth', 0.5 * M, 4),
  v2Pool('inc', 'wpls', 0.4 * M, 4),
  v3Pool('hexd', 'usdc', 10_000, 0.3 * M, 4),
];

const TAIL_POOLS: readonly PoolPlan[] = [
  v2Pool('whole', 'wpls', 120_000, 2),
  v2Pool('cent', 'wpls', 90_000, 2),
  v2Pool('nano', 'wpls', 150_000, 3),
  v2Pool29('nano', 'inc', 60_000, 1),
  v2Pool29('yocto', 'wpls', 80_000, 2),
  v3Pool('yocto', 'dai', 10_000, 60_000, 1),
  v2Pool29('deep', 'wpls', 100_000, 1),
  v2Pool('taxed', 'wpls', 70_000, 2),
  ...ODD_TOKENS.map(({ key }, index) => v2Pool(key, 'wpls', 4_000 + 1_500 * index, 0.4)),
];

const MEME_POOLS: readonly PoolPlan[] = MEME_TOKENS.map(({ key }, index) =>
  (index % 3 === 0 ? v2Pool : v2Pool29)(key, 'wpls', 2_000 + 1_700 * index, 0.3 + 0.15 * (index % 8)),
);

/** The full development chain: 44 tokens and 60 pools. Six of the pools open during the history. */
export const FULL_PLAN: WorldPlan = {
  tokens: [...CORE_TOKENS, ...TAIL_TOKENS, ...ODD_TOKENS, ...MEME_TOKENS],
  pools: [...CORE_POOLS, ...TAIL_POOLS, ...MEME_POOLS.slice(MEMES_LAUNCHED)],
  launches: MEME_POOLS.slice(0, MEMES_LAUNCHED).map((plan, index) => ({
    atFraction: 0.25 + index * 0.145,
    plan,
  })),
  anchors: ['usdc', 'usdt', 'dai'],
  majors: ['weth', 'wbtc', 'hexd', 'plsd', 'inc'],
  burnToken: 'plsd',
  holders: 8,
};

const SMALL_TOKENS = ['wpls', 'usdc', 'usdt', 'dai', 'hexd', 'weth', 'plsd'];

/** A small plan for tests: seven tokens, three exchanges, seven pools. */
export const SMALL_PLAN: WorldPlan = {
  ...FULL_PLAN,
  tokens: CORE_TOKENS.filter(({ key }) => SMALL_TOKENS.includes(key)),
  pools: [
    v2Pool('wpls', 'usdc', 4 * M, 4),
    v2Pool29('wpls', 'dai', 6 * M, 4),
    v2Pool29('hexd', 'wpls', 5 * M, 3),
    v2Pool('hexd', 'usdc', 1 * M, 2),
    v3Pool('weth', 'usdc', 500, 2 * M, 3),
    v3Pool('hexd', 'wpls', 3_000, 1 * M, 2),
    v2Pool('plsd', 'wpls', 1 * M, 1),
  ],
  launches: [],
  majors: ['weth', 'hexd', 'plsd'],
  holders: 2,
};
