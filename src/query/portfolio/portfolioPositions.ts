/** A wallet's LP tokens and V3 positions as answers show them: what they hold at the pools' present state. Pure. */
import { formatUnits } from '../../domain/amounts';
import type { Collected } from '../../protocols/positionManager';
import { amountsOfLiquidity } from '../../protocols/tickMath';
import type { PortfolioAmount, PortfolioPosition } from '../../wire/portfolio';
import { pendingProtocolLp, shareOfPool, sharePercent, type Reserves } from './lpShare';
import type { PairEntry } from '../pairs/pairItem';
import { isTrusted, type TokenPrices } from '../prices/priceBook';
import { worthOf } from '../tokens/tokenSupply';

const CONSTANT_PRODUCT = 2;

/** One V3 position of its owner's. */
export interface OwnedPosition {
  readonly manager: string;
  readonly position_id: string;
  readonly pair: string;
  readonly tick_lower: number;
  readonly tick_upper: number;
  readonly liquidity: string;
}

/** LP tokens of one pool in one wallet. */
export interface OwnedLp {
  readonly balance: bigint;
  /** Null: not known. */
  readonly supply: bigint | null;
  /** Reserves after the newest mint or burn; null: none is known, nothing is pending. */
  readonly last: Reserves | null;
}

/** A position, and whether its value counts. Its percentage of the total is not known yet. */
export interface ValuedPosition {
  readonly position: PortfolioPosition;
  readonly trusted: boolean;
}

/** The position that LP tokens of a V2, weighted or stable pool are. */
export function toLpPosition(entry: PairEntry, lp: OwnedLp, prices: TokenPrices): ValuedPosition {
  const { pool } = entry;
  const held = balancesOf(entry);
  const supply = effectiveSupply(entry, lp, held);
  const amounts = held.map((balance) =>
    balance === null || supply === null ? null : shareOfPool(balance, lp.balance, supply),
  );
  return toPosition(entry, prices, amounts, {
    id: pool.address,
    lp_balance_raw: lp.balance.toString(),
    share_pct: supply === null ? null : sharePercent(lp.balance, supply),
  });
}

/** Raw balances of the pool's tokens, in the order of `item.tokens`; null where unknown. */
function balancesOf({ pool, item, facts }: PairEntry): (bigint | null)[] {
  if (pool.all_tokens.length > 0)
    return item.tokens.map((_, i) => {
      const balance = facts.balances?.[i];
      return balance === undefined ? null : BigInt(balance);
    });
  const { state } = facts;
  return state === null ? [null, null] : [BigInt(state.reserve0), BigInt(state.reserve1)];
}

/** LP tokens among which the pool is divided: the protocol's pending ones count, those that the pool itself holds do not. */
function effectiveSupply(
  { pool, item, facts }: PairEntry,
  { supply, last }: OwnedLp,
  held: readonly (bigint | null)[],
): bigint | null {
  if (supply === null) return null;
  if (pool.pool_type !== CONSTANT_PRODUCT) {
    const own = item.tokens.findIndex(({ address }) => address === pool.address);
    return supply - (held[own] ?? 0n);
  }
  const [reserve0, reserve1] = held;
  if (last === null || reserve0 === undefined || reserve1 === undefined) return supply;
  if (reserve0 === null || reserve1 === null) return supply;
  return supply + pendingProtocolLp(supply, { reserve0, reserve1 }, last, facts.protocolShare);
}

/**
 * The position that an NFT of a position manager is. `owed`: what a collect would pay out, which is in no log; null: not
 * known.
 */
export function toConcentratedPosition(
  entry: PairEntry,
  owned: OwnedPosition,
  prices: TokenPrices,
  owed: Collected | null,
): ValuedPosition {
  const { state } = entry.facts;
  const { tick_lower, tick_upper } = owned;
  const liquidity = BigInt(owned.liquidity);
  const sqrtPriceX96 = BigInt(state?.sqrt_price_x96 ?? 0);
  const known = state !== null && sqrtPriceX96 > 0n;
  const amounts = known ? amountsOfLiquidity(sqrtPriceX96, tick_lower, tick_upper, liquidity) : null;
  const inRange = known ? state.tick >= tick_lower && state.tick < tick_upper : null;
  const active = BigInt(state?.liquidity ?? 0);
  return toPosition(entry, prices, [amounts?.amount0 ?? null, amounts?.amount1 ?? null], {
    id: `${owned.manager}-${owned.position_id}`,
    lp_balance_raw: owned.liquidity,
    share_pct: inRange === null ? null : inRange ? sharePercent(liquidity, active) : 0,
    position_id: owned.position_id,
    tick_lower,
    tick_upper,
    in_range: inRange,
    ...unclaimedOf(entry, prices, owed),
  });
}

function unclaimedOf(
  { item }: PairEntry,
  prices: TokenPrices,
  owed: Collected | null,
): Pick<PortfolioPosition, 'unclaimed' | 'unclaimed_usd'> {
  if (owed === null) return { unclaimed: null, unclaimed_usd: null };
  const raw = [owed.amount0, owed.amount1];
  const unclaimed = item.tokens.map((token, i) => toAmount(token, raw[i] ?? null, prices));
  return { unclaimed, unclaimed_usd: sumOf(unclaimed) };
}

/** An amount as it is shown; raw units, null where it is not known. */
function toAmount(
  { address, symbol, decimals }: PairEntry['item']['tokens'][number],
  raw: bigint | null,
  prices: TokenPrices,
): PortfolioAmount {
  if (raw === null) return { address, symbol, amount: null, value_usd: null };
  const places = decimals ?? 0;
  const value_usd = worthOf(raw, places, prices.now(address));
  return { address, symbol, amount: formatUnits(raw, places), value_usd };
}

/** USD of all; null unless each has a value. */
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
  own: Own,
): ValuedPosition {
  let trusted = true;
  const tokens: PortfolioAmount[] = [];
  item.tokens.forEach((token, i) => {
    // A pool that holds its own token: what it holds of it is nobody's.
    if (token.address === pool.address) return;
    if (!isTrusted(prices.now(token.address))) trusted = false;
    tokens.push(toAmount(token, amounts[i] ?? null, prices));
  });
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
    ...rest,
  };
  return { position, trusted };
}
