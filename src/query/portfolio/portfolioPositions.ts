/** Values a wallet's LP tokens and V3 positions at the current states of the pools. Pure. */
import { isTrusted } from '../../pricing/confidence';
import { formatUnits } from '../../domain/amounts';
import { POOL_V2 } from '../../domain/pool';
import type { Collected } from '../../protocols/positionManager';
import { amountsOfLiquidity } from '../../protocols/tickMath';
import type { PortfolioAmount, PortfolioPosition } from '../../wire/portfolio';
import { pendingProtocolLp, shareOfPool, sharePercent, type Reserves } from './lpShare';
import type { CountHolding } from './holdingCaps';
import type { PairEntry } from '../pairs/pairItem';
import { weightsOfPool } from '../pairs/pools';
import type { TokenPrices } from '../prices/priceByHops';
import { worthOf } from '../tokens/tokenSupply';
import { CAPPED_FLAG } from './portfolioTokens';

export interface OwnedPosition {
  readonly manager: string;
  readonly position_id: string;
  readonly pair: string;
  readonly tick_lower: number;
  readonly tick_upper: number;
  readonly liquidity: bigint;
}

interface OwnedLp {
  readonly balance: bigint;
  /** Supply of the LP token; null if unknown. */
  readonly supply: bigint | null;
  /** Reserves after the newest mint or burn. If null (unknown), no protocol fee is subtracted. */
  readonly last: Reserves | null;
}

/** A position, and whether its value is part of the total. Its percentage of the total is computed later. */
export interface ValuedPosition {
  readonly position: PortfolioPosition;
  readonly trusted: boolean;
}

/** The position for LP tokens of a V2, weighted or stable pool. */
export function toLpPosition(
  entry: PairEntry,
  lp: OwnedLp,
  prices: TokenPrices,
  count: CountHolding,
): ValuedPosition {
  const { pool } = entry;
  const held = balancesOf(entry);
  const supply = effectiveSupply(entry, lp, held);
  const amounts = held.map((balance) =>
    balance === null || supply === null ? null : shareOfPool(balance, lp.balance, supply),
  );
  return toPosition(entry, prices, amounts, count, {
    id: pool.address,
    lp_balance_raw: lp.balance.toString(),
    share_pct: supply === null ? null : sharePercent(lp.balance, supply),
  });
}

/** Raw balances of the pool's tokens, in the order of `item.tokens`; null if unknown. */
function balancesOf({ pool, item, facts }: PairEntry): (bigint | null)[] {
  if (pool.all_tokens.length > 0) return item.tokens.map((_, i) => facts.balances?.[i] ?? null);
  const { state } = facts;
  return state === null ? [null, null] : [state.reserve0, state.reserve1];
}

/**
 * The LP supply among which the pool is divided. It includes LP tokens that the pool still owes the protocol. It
 * leaves out LP tokens that the pool itself holds.
 */
function effectiveSupply(
  { pool, item, facts }: PairEntry,
  { supply, last }: OwnedLp,
  held: readonly (bigint | null)[],
): bigint | null {
  if (supply === null) return null;
  if (pool.pool_type !== POOL_V2) {
    const own = item.tokens.findIndex(({ address }) => address === pool.address);
    return supply - (held[own] ?? 0n);
  }
  const [reserve0, reserve1] = held;
  if (last === null || reserve0 === undefined || reserve1 === undefined) return supply;
  if (reserve0 === null || reserve1 === null) return supply;
  return supply + pendingProtocolLp(supply, { reserve0, reserve1 }, last, facts.protocolShare);
}

/**
 * The position for an NFT of a position manager. `owed` is the amount that collect() would pay. No log shows this
 * amount; null if it is unknown.
 */
export function toConcentratedPosition(
  entry: PairEntry,
  owned: OwnedPosition,
  prices: TokenPrices,
  owed: Collected | null,
  count: CountHolding,
): ValuedPosition {
  const { state } = entry.facts;
  const { tick_lower, tick_upper, liquidity } = owned;
  const sqrtPriceX96 = state?.sqrt_price_x96 ?? 0n;
  const known = state !== null && sqrtPriceX96 > 0n;
  const amounts = known ? amountsOfLiquidity(sqrtPriceX96, tick_lower, tick_upper, liquidity) : null;
  const inRange = known ? state.tick >= tick_lower && state.tick < tick_upper : null;
  const active = state?.liquidity ?? 0n;
  const { capped, ...unclaimed } = unclaimedOf(entry, prices, owed, count);
  const own = {
    id: `${owned.manager}-${owned.position_id}`,
    lp_balance_raw: liquidity.toString(),
    share_pct: inRange === null ? null : inRange ? sharePercent(liquidity, active) : 0,
    position_id: owned.position_id,
    tick_lower,
    tick_upper,
    in_range: inRange,
    ...unclaimed,
  };
  const held = [amounts?.amount0 ?? null, amounts?.amount1 ?? null];
  return toPosition(entry, prices, held, count, own, capped);
}

function unclaimedOf(
  { item }: PairEntry,
  prices: TokenPrices,
  owed: Collected | null,
  count: CountHolding,
): Pick<PortfolioPosition, 'unclaimed' | 'unclaimed_usd'> & { readonly capped: boolean } {
  if (owed === null) return { unclaimed: null, unclaimed_usd: null, capped: false };
  const raw = [owed.amount0, owed.amount1];
  const { amounts: unclaimed, capped } = toAmounts(
    item.tokens.map((token, i) => ({ token, raw: raw[i] ?? null, part: 1 })),
    prices,
    count,
  );
  return { unclaimed, unclaimed_usd: sumOf(unclaimed), capped };
}

interface HeldAmount {
  readonly token: PairEntry['item']['tokens'][number];
  /** The raw amount; null if unknown. */
  readonly raw: bigint | null;
  /** See HeldValue. */
  readonly part: number;
}

function toAmounts(
  held: readonly HeldAmount[],
  prices: TokenPrices,
  count: CountHolding,
): { readonly amounts: PortfolioAmount[]; readonly capped: boolean } {
  const { usd, capped } = count(
    held.map(({ token: { address, decimals }, raw, part }) => {
      const price = prices.now(address);
      return { token: address, price, usd: raw === null ? null : worthOf(raw, decimals ?? 0, price), part };
    }),
  );
  const amounts = held.map(({ token: { address, symbol, decimals }, raw }, i) => ({
    address,
    symbol,
    amount: raw === null ? null : formatUnits(raw, decimals ?? 0),
    value_usd: usd[i] ?? null,
  }));
  return { amounts, capped };
}

/** Sum in USD; null if an amount has no value. */
function sumOf(amounts: readonly PortfolioAmount[]): number | null {
  return amounts.reduce<number | null>(
    (sum, { value_usd }) => (sum === null || value_usd === null ? null : sum + value_usd),
    0,
  );
}

type Own = Pick<PortfolioPosition, 'id' | 'lp_balance_raw' | 'share_pct'> &
  Partial<
    Pick<
      PortfolioPosition,
      'position_id' | 'tick_lower' | 'tick_upper' | 'in_range' | 'unclaimed' | 'unclaimed_usd'
    >
  >;

function toPosition(
  { item, pool }: PairEntry,
  prices: TokenPrices,
  amounts: readonly (bigint | null)[],
  count: CountHolding,
  own: Own,
  unclaimedCapped = false,
): ValuedPosition {
  const weights = weightsOfPool(pool);
  // LP tokens that the pool itself holds have no owner.
  const held = item.tokens.flatMap((token, i) =>
    token.address === pool.address ? [] : [{ token, raw: amounts[i] ?? null, part: weights[i] ?? 1 }],
  );
  const trusted = held.every(({ token }) => isTrusted(prices.now(token.address)));
  const { amounts: tokens, capped } = toAmounts(held, prices, count);
  const { id, lp_balance_raw, share_pct, ...rest } = own;
  const position: PortfolioPosition = {
    id,
    pair_address: item.address,
    dex_name: item.dex_name,
    pool_type: item.pool_type,
    lp_balance_raw,
    share_pct,
    tokens,
    value_usd: sumOf(tokens),
    portfolio_pct: 0,
    apr_24h: item.apr_24h,
    flags: capped || unclaimedCapped ? [CAPPED_FLAG] : [],
    ...rest,
  };
  return { position, trusted };
}
