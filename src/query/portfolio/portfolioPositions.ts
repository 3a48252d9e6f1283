/** Values a wallet's LP tokens, V3 positions and shares of bins at the current states of the pools. Pure. */
import { isTrusted } from '../../pricing/confidence';
import { formatUnits } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { permissionsOf } from '../../protocols/hooks';
import { getProtocol } from '../../protocols/registry';
import type { Collected } from '../../protocols/ticks/positionManager';
import { amountsOfLiquidity } from '../../protocols/ticks/tickMath';
import type { PortfolioAmount, PortfolioPosition } from '../../wire/portfolio';
import { pendingProtocolLp, shareOfPool, sharePercent, type Reserves } from './lpShare';
import type { CountHolding } from './holdingCaps';
import type { PairEntry } from '../pairs/pairItem';
import { weightsOfPool } from '../pairs/pools';
import type { TokenPrices } from '../prices/priceByHops';
import { worthOf } from '../tokens/tokenSupply';
import { CAPPED_FLAG } from './portfolioTokens';

export interface OwnedPosition {
  readonly manager: Hex;
  readonly position_id: string;
  readonly pair: string;
  readonly tick_lower: number;
  readonly tick_upper: number;
  readonly liquidity: bigint;
  /** Shares of the bin `tick_lower`, of which `position_id` is the number. 0 for an NFT. */
  readonly shares: bigint;
}

/** What one owner has in a bin. */
export interface OwnedBin {
  readonly id: number;
  readonly shares: bigint;
  /** Reserves, and shares of all owners; null if unknown. */
  readonly whole: { readonly amount0: bigint; readonly amount1: bigint; readonly supply: bigint } | null;
}

interface OwnedLp {
  readonly balance: bigint;
  /** Supply of the LP token; null if unknown. */
  readonly supply: bigint | null;
  /** Reserves after the newest mint or burn. If null (unknown), no protocol fee is subtracted. */
  readonly lastReserves: Reserves | null;
}

/** A position, and whether its value is part of the total. Its percentage of the total is computed later. */
export interface ValuedPosition {
  readonly position: PortfolioPosition;
  readonly trusted: boolean;
}

/** The position for LP tokens of a V2, weighted or stable pool. */
export function toLpPosition(
  entry: PairEntry,
  ownedLp: OwnedLp,
  prices: TokenPrices,
  countHolding: CountHolding,
): ValuedPosition {
  const { shareToken } = entry;
  const poolBalances = balancesOf(entry);
  const supply = effectiveSupply(entry, ownedLp, poolBalances);
  const amounts = poolBalances.map((balance) =>
    balance === null || supply === null ? null : shareOfPool(balance, ownedLp.balance, supply),
  );
  return toPosition(entry, prices, amounts, countHolding, {
    id: shareToken,
    lp_balance_raw: ownedLp.balance.toString(),
    share_pct: supply === null ? null : sharePercent(ownedLp.balance, supply),
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
  { supply, lastReserves }: OwnedLp,
  poolBalances: readonly (bigint | null)[],
): bigint | null {
  if (supply === null) return null;
  if (!getProtocol(pool.protocol).mintsProtocolShares) {
    const ownIndex = item.tokens.findIndex(({ address }) => address === pool.address);
    return supply - (poolBalances[ownIndex] ?? 0n);
  }
  const [reserve0, reserve1] = poolBalances;
  if (lastReserves === null || reserve0 === undefined || reserve1 === undefined) return supply;
  if (reserve0 === null || reserve1 === null) return supply;
  return supply + pendingProtocolLp(supply, { reserve0, reserve1 }, lastReserves, facts.protocolShare);
}

/**
 * The position for an NFT of a position manager. `owed` is what the owner would be paid beside the liquidity. No log shows
 * this amount; null if it is unknown.
 */
export function toConcentratedPosition(
  entry: PairEntry,
  ownedPosition: OwnedPosition,
  prices: TokenPrices,
  owed: Collected | null,
  countHolding: CountHolding,
): ValuedPosition {
  const { state } = entry.facts;
  const { tick_lower, tick_upper, liquidity } = ownedPosition;
  const sqrtPriceX96 = state?.sqrt_price_x96 ?? 0n;
  const takesPart = hookTakesPart(entry);
  const isPriceKnown = state !== null && sqrtPriceX96 > 0n;
  const amounts =
    isPriceKnown && !takesPart ? amountsOfLiquidity(sqrtPriceX96, tick_lower, tick_upper, liquidity) : null;
  const inRange = isPriceKnown ? state.tick >= tick_lower && state.tick < tick_upper : null;
  const activeLiquidity = state?.liquidity ?? 0n;
  const { capped, ...unclaimed } = unclaimedOf(entry, prices, takesPart ? null : owed, countHolding);
  const ownFields = {
    id: `${ownedPosition.manager}-${ownedPosition.position_id}`,
    lp_balance_raw: liquidity.toString(),
    share_pct: inRange === null ? null : inRange ? sharePercent(liquidity, activeLiquidity) : 0,
    position_id: ownedPosition.position_id,
    tick_lower,
    tick_upper,
    in_range: inRange,
    ...unclaimed,
  };
  const heldAmounts = [amounts?.amount0 ?? null, amounts?.amount1 ?? null];
  return toPosition(entry, prices, heldAmounts, countHolding, ownFields, capped);
}

/** A hook with this permission takes a part of what the owner is paid, and no event tells the part. */
function hookTakesPart({ pool: { hooks, hook_bits: hookBits } }: PairEntry): boolean {
  return permissionsOf({ hooks, hookBits }).includes('after_remove_liquidity_returns_delta');
}

/** The position for all shares of an owner in the bins of a pool. A bin pays out a part of its reserves, with its fees. */
export function toBinPosition(
  entry: PairEntry,
  owner: Hex,
  bins: readonly OwnedBin[],
  prices: TokenPrices,
  countHolding: CountHolding,
): ValuedPosition {
  const { state } = entry.facts;
  const active = bins.find(({ id }) => id === state?.tick);
  const takesPart = hookTakesPart(entry);
  const paid = (side: 'amount0' | 'amount1'): bigint | null => {
    const parts = bins.map(({ shares, whole }) =>
      takesPart || whole === null ? null : shareOfPool(whole[side], shares, whole.supply),
    );
    return parts.reduce((sum, part) => (sum === null || part === null ? null : sum + part), 0n);
  };
  const ids = bins.map(({ id }) => id);
  const activeShare = active === undefined ? 0 : sharePercent(active.shares, active.whole?.supply ?? 0n);
  return toPosition(entry, prices, [paid('amount0'), paid('amount1')], countHolding, {
    id: `${entry.item.address}-${owner}`,
    lp_balance_raw: bins.reduce((sum, { shares }) => sum + shares, 0n).toString(),
    share_pct: state === null ? null : activeShare,
    tick_lower: Math.min(...ids),
    tick_upper: Math.max(...ids),
    in_range: state === null ? null : active !== undefined,
  });
}

function unclaimedOf(
  { item }: PairEntry,
  prices: TokenPrices,
  owed: Collected | null,
  countHolding: CountHolding,
): Pick<PortfolioPosition, 'unclaimed' | 'unclaimed_usd'> & { readonly capped: boolean } {
  if (owed === null) return { unclaimed: null, unclaimed_usd: null, capped: false };
  const rawOwed = [owed.amount0, owed.amount1];
  const { amounts: unclaimed, capped } = toAmounts(
    item.tokens.map((token, i) => ({ token, raw: rawOwed[i] ?? null, poolValue: 1 })),
    prices,
    countHolding,
  );
  return { unclaimed, unclaimed_usd: sumOf(unclaimed), capped };
}

interface HeldAmount {
  readonly token: PairEntry['item']['tokens'][number];
  /** The raw amount; null if unknown. */
  readonly raw: bigint | null;
  /** See HeldValue. */
  readonly poolValue: number;
}

function toAmounts(
  heldAmounts: readonly HeldAmount[],
  prices: TokenPrices,
  countHolding: CountHolding,
): { readonly amounts: PortfolioAmount[]; readonly capped: boolean } {
  const { usd, capped } = countHolding(
    heldAmounts.map(({ token: { address, decimals }, raw, poolValue }) => {
      const price = prices.now(address);
      return {
        token: address,
        price,
        usd: raw === null ? null : worthOf(raw, decimals ?? 0, price),
        poolValue,
      };
    }),
  );
  const amounts = heldAmounts.map(({ token: { address, symbol, decimals }, raw }, i) => ({
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

type OwnFields = Pick<PortfolioPosition, 'id' | 'lp_balance_raw' | 'share_pct'> &
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
  countHolding: CountHolding,
  ownFields: OwnFields,
  unclaimedCapped = false,
): ValuedPosition {
  const weights = weightsOfPool(pool);
  // LP tokens that the pool itself holds have no owner.
  const heldAmounts = item.tokens.flatMap((token, i) =>
    token.address === pool.address ? [] : [{ token, raw: amounts[i] ?? null, poolValue: weights[i] ?? 1 }],
  );
  const trusted = heldAmounts.every(({ token }) => isTrusted(prices.now(token.address)));
  const { amounts: tokens, capped } = toAmounts(heldAmounts, prices, countHolding);
  const { id, lp_balance_raw, share_pct, ...concentratedFields } = ownFields;
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
    ...concentratedFields,
  };
  return { position, trusted };
}
