/** Converts between USD prices and raw amounts for the development chain, where floats are exact enough. */
import type { WorldToken } from '../world/world';

type PricedToken = Pick<WorldToken, 'decimals' | 'priceUsd'>;

/** Raw units of a token that are worth this many USD. */
export function rawAmount(token: PricedToken, usd: number): bigint {
  return BigInt(Math.round((usd / token.priceUsd) * 10 ** token.decimals));
}

/** sqrtPriceX96 for these USD prices: sqrt(raw token1 per raw token0) · 2^96. */
export function sqrtPriceX96Of(token0: PricedToken, token1: PricedToken): bigint {
  const ratio = (token0.priceUsd / token1.priceUsd) * 10 ** (token1.decimals - token0.decimals);
  return BigInt(Math.floor(Math.sqrt(ratio) * 2 ** 96));
}

/** V3 liquidity whose virtual reserves are worth this many USD on each side. */
export function liquidityOf(token0: PricedToken, token1: PricedToken, usd: number): bigint {
  return BigInt(Math.floor(Math.sqrt(Number(rawAmount(token0, usd)) * Number(rawAmount(token1, usd)))));
}

/** The tick that corresponds to these USD prices. */
export function tickOf(token0: PricedToken, token1: PricedToken): number {
  const ratio = (token0.priceUsd / token1.priceUsd) * 10 ** (token1.decimals - token0.decimals);
  return Math.floor(Math.log(ratio) / Math.log(1.0001));
}
