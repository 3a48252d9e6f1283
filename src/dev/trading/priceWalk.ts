/**
 * Fair prices that vary without drifting away: the logarithm of each token's price is an Ornstein-Uhlenbeck
 * process around its first price. A step can have any length, so blocks need not be equally far apart.
 */
import type { Random } from './random';
import { sqrtPriceX96Of } from './priceMath';
import type { WorldPool, WorldToken } from '../world/world';

export interface PriceWalk {
  /** Advances the prices by this many seconds. */
  advance(seconds: number): void;
  /** Price in USD per whole token. */
  priceUsd(token: WorldToken): number;
  /** The fair price of a pool. */
  sqrtPriceX96(pool: Pick<WorldPool, 'token0' | 'token1'>): bigint;
}

/** Time in seconds after which a deviation has shrunk to 1/e. */
const MEMORY_SECONDS = 86_400;
const BOUND_DEVIATIONS = 4;

/** Starts a walk at the tokens' first prices. */
export function createPriceWalk(tokens: readonly WorldToken[], random: Random): PriceWalk {
  const logDeviations = new Map<string, number>(tokens.map(({ key }) => [key, 0]));
  const priceUsd = (token: WorldToken): number =>
    token.priceUsd * Math.exp(logDeviations.get(token.key) ?? 0);
  const withPrice = (token: WorldToken): { decimals: number; priceUsd: number } => ({
    decimals: token.decimals,
    priceUsd: priceUsd(token),
  });
  return {
    advance: (seconds) => {
      const decay = Math.exp(-seconds / MEMORY_SECONDS);
      const spread = Math.sqrt(1 - decay * decay);
      for (const { key, volatility } of tokens) {
        const deviation = (logDeviations.get(key) ?? 0) * decay + volatility * spread * random.normal();
        const bound = volatility * BOUND_DEVIATIONS;
        logDeviations.set(key, Math.max(-bound, Math.min(bound, deviation)));
      }
    },
    priceUsd,
    sqrtPriceX96: ({ token0, token1 }) => sqrtPriceX96Of(withPrice(token0), withPrice(token1)),
  };
}
