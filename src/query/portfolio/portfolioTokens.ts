/** Values a wallet's tokens and native coin, and lists tokens that a wallet is likely to hold. Pure. */
import { formatUnits, plainNumber } from '../../domain/amounts';
import { isTrusted, levelOf } from '../../pricing/confidence';
import type { PortfolioNative, PortfolioToken } from '../../wire/portfolio';
import type { PairTable } from '../pairs/pairTable';
import type { TokenPrices } from '../prices/priceByHops';
import { changePercent, compareKeys } from '../pairs/ranking';
import { worthOf } from '../tokens/tokenSupply';
import { tokenOf } from '../tokens/tokens';

/** Every EVM chain counts its coin in wei. */
const NATIVE_DECIMALS = 18;
/** Number of tokens and LP tokens to check if the history begins late. */
const DEEPEST_MAX = 250;

/** The native coin of the chain description. */
export interface NativeCoin {
  readonly symbol: string;
  /** The wrapped native token; if null, native prices do not exist. */
  readonly wrapped: string | null;
}

/** A holding, and whether its value counts. The percentage of the total is computed later. */
export interface ValuedToken {
  readonly token: PortfolioToken;
  readonly trusted: boolean;
}

export interface ValuedNative {
  readonly native: PortfolioNative;
  readonly trusted: boolean;
}

type Holding = Omit<PortfolioNative, 'symbol' | 'decimals'>;

/** `priced` is the token whose price applies, or null. */
function toHolding(raw: bigint, decimals: number, priced: string | null, prices: TokenPrices): Holding {
  const price = priced === null ? null : prices.now(priced);
  const usd = price?.usd ?? null;
  const before = priced === null ? null : prices.before(priced, 'h24');
  return {
    balance: formatUnits(raw, decimals),
    balance_raw: raw.toString(),
    price_usd: usd === null ? null : plainNumber(usd),
    value_usd: price === null ? null : worthOf(raw, decimals, price),
    price_confidence: levelOf(price?.confidence ?? 0),
    price_change_24h: changePercent(usd, before),
  };
}

export function toToken(
  address: string,
  balance: bigint,
  { tokens, prices }: PairTable,
  flags: string[],
): ValuedToken {
  const { symbol, name, decimals } = tokenOf(tokens, address);
  const holding = toHolding(balance, decimals ?? 0, address, prices);
  return {
    trusted: isTrusted(prices.now(address)),
    token: { address, symbol, name, decimals, ...holding, portfolio_pct: 0, flags },
  };
}

export function toNative(wei: bigint, { symbol, wrapped }: NativeCoin, prices: TokenPrices): ValuedNative {
  const holding = toHolding(wei, NATIVE_DECIMALS, wrapped, prices);
  return {
    trusted: wrapped !== null && isTrusted(prices.now(wrapped)),
    native: { symbol, decimals: NATIVE_DECIMALS, ...holding },
  };
}

const deepest = new WeakMap<PairTable, readonly string[]>();

/** The tokens and LP tokens with the most USD liquidity, computed once per table. */
export function listDeepest(pairs: PairTable): readonly string[] {
  const known = deepest.get(pairs);
  if (known !== undefined) return known;
  const depths = new Map<string, number>();
  for (const { tokens, pool, liquidityUsd } of pairs.entries) {
    // A concentrated pool has no LP token.
    const names = pool.pool_type === 3 ? [] : [pool.address];
    for (const address of [...names, ...tokens.all.map((token) => token.address)])
      depths.set(address, (depths.get(address) ?? 0) + liquidityUsd);
  }
  const listed = [...depths]
    .sort(([a, one], [b, other]) => compareKeys(one, other, 'desc') || compareKeys(a, b, 'asc'))
    .slice(0, DEEPEST_MAX)
    .map(([address]) => address);
  deepest.set(pairs, listed);
  return listed;
}
