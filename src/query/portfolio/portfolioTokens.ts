/** Values a wallet's tokens and native coin, and lists tokens that a wallet is likely to hold. Pure. */
import { formatUnits, plainNumber } from '../../domain/amounts';
import { shapeOf } from '../../domain/pools/poolShape';
import { isTrusted, levelOf } from '../../pricing/confidence';
import type { PortfolioNative, PortfolioToken } from '../../wire/portfolio';
import type { PairTable } from '../pairs/pairTable';
import { changeOfPrice, type TokenPrices } from '../prices/priceByHops';
import { compareKeys } from '../pairs/rankings';
import { worthOf } from '../tokens/tokenSupply';
import { tokenOf } from '../tokens/tokens';
import type { CountHolding } from './holdingCaps';

/** Every EVM chain counts its coin in wei. */
const NATIVE_DECIMALS = 18;
/** Number of tokens and LP tokens whose balances are read from the node if the history begins late. */
const DEEPEST_MAX = 250;

/** The native coin of the chain description. */
export interface NativeCoin {
  readonly symbol: string;
  /** The wrapped native token. If it is null, there are no native prices. */
  readonly wrapped: string | null;
}

/** A holding, and whether its value is part of the total. Its percentage of the total is computed later. */
export interface ValuedToken {
  readonly token: PortfolioToken;
  readonly trusted: boolean;
}

/** Flag and warning of a value that the cap of a token limits. */
export const CAPPED_FLAG = 'value_capped';

export interface ValuedNative {
  readonly native: PortfolioNative;
  readonly trusted: boolean;
  readonly capped: boolean;
}

interface Holding {
  readonly fields: Omit<PortfolioNative, 'symbol' | 'decimals'>;
  readonly capped: boolean;
}

/** Makes a holding. `pricedToken` is the address of the token whose price values it; null if it has no price. */
function toHolding(
  raw: bigint,
  decimals: number,
  pricedToken: string | null,
  prices: TokenPrices,
  countHolding: CountHolding,
): Holding {
  const price = pricedToken === null ? null : prices.now(pricedToken);
  const usd = price?.usd ?? null;
  const { usd: countedUsd, capped } =
    price === null || pricedToken === null
      ? { usd: [], capped: false }
      : countHolding([{ token: pricedToken, price, usd: worthOf(raw, decimals, price), poolValue: 1 }]);
  const fields = {
    balance: formatUnits(raw, decimals),
    balance_raw: raw.toString(),
    price_usd: usd === null ? null : plainNumber(usd),
    value_usd: countedUsd[0] ?? null,
    price_confidence: levelOf(price?.confidence ?? 0),
    price_change_24h:
      pricedToken === null || price === null ? null : changeOfPrice(price, prices.before(pricedToken, 'h24')),
  };
  return { fields, capped };
}

export function toToken(
  address: string,
  balance: bigint,
  { tokens, prices }: PairTable,
  flags: string[],
  countHolding: CountHolding,
): ValuedToken {
  const { symbol, name, decimals } = tokenOf(tokens, address);
  const { fields, capped } = toHolding(balance, decimals ?? 0, address, prices, countHolding);
  return {
    trusted: isTrusted(prices.now(address)),
    token: {
      address,
      symbol,
      name,
      decimals,
      ...fields,
      portfolio_pct: 0,
      flags: capped ? [...flags, CAPPED_FLAG] : flags,
    },
  };
}

export function toNative(
  wei: bigint,
  { symbol, wrapped }: NativeCoin,
  prices: TokenPrices,
  countHolding: CountHolding,
): ValuedNative {
  const { fields, capped } = toHolding(wei, NATIVE_DECIMALS, wrapped, prices, countHolding);
  return {
    trusted: wrapped !== null && isTrusted(prices.now(wrapped)),
    native: { symbol, decimals: NATIVE_DECIMALS, ...fields },
    capped,
  };
}

const deepestByTable = new WeakMap<PairTable, readonly string[]>();

/** The tokens and LP tokens with the most USD liquidity, computed once per table. */
export function listDeepest(pairs: PairTable): readonly string[] {
  const cached = deepestByTable.get(pairs);
  if (cached !== undefined) return cached;
  const liquidityByToken = new Map<string, number>();
  for (const { tokens, pool, shareToken, liquidityUsd } of pairs.entries) {
    // A concentrated pool has no LP token.
    const lpTokens = shapeOf(pool.pool_type).hasLpToken ? [shareToken] : [];
    for (const address of [...lpTokens, ...tokens.all.map((token) => token.address)])
      liquidityByToken.set(address, (liquidityByToken.get(address) ?? 0) + liquidityUsd);
  }
  const deepestTokens = [...liquidityByToken]
    .sort(([a, usdA], [b, usdB]) => compareKeys(usdA, usdB, 'desc') || compareKeys(a, b, 'asc'))
    .slice(0, DEEPEST_MAX)
    .map(([address]) => address);
  deepestByTable.set(pairs, deepestTokens);
  return deepestTokens;
}
