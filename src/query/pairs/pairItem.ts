/** Builds pair list items from the rows of one pool as of a head. Pure. */
import { plainNumber, unitsToNumber } from '../../domain/amounts';
import type { Hex } from '../../domain/hex';
import { formatPrice, scalePrice } from '../../domain/prices';
import { shapeOf } from '../../domain/pools/poolShape';
import { WINDOW_SECONDS, type PairItem, type Window } from '../../wire/pairs';
import type { PriceReason } from '../../wire/priceReason';
import type { Token } from '../../wire/primitives';
import type { PoolBirth } from '../olderPools/olderPools';
import type { MeanReservesRow, PastPricesRow, StateRow, TradesRow } from './pairRows';
import { hasEnded, weightsOfPool, type StoredPool } from './pools';
import type { PoolTokens } from './poolTokens';
import { pairDoubts, pairPriceReason } from './priceReasons';
import type { ProtocolSplit } from '../../protocols/protocol';
import { findFeePips } from '../../protocols/hooks';
import { findManyTokenProtocol } from '../../protocols/registry';
import {
  aprPercent,
  countedInVault,
  countedValues,
  tvlOf,
  trustedUsd,
  tvlOfWeighted,
  wholeUnits,
  type PoolSide,
} from './poolValue';
import { isDoubtful, type TokenPrice, type TokenPrices } from '../prices/priceByHops';
import { changePercent, finiteOrNull } from './rankings';
import { tradeCounts } from './windowTrades';

const PIPS_PER_BPS = 100;

/** The rows that other tables have about one pool. A field is null if the table has no row. */
export interface PairFacts {
  readonly state: StateRow | null;
  /** Raw balances of all tokens, for weighted and stable pools only. */
  readonly balances: readonly bigint[] | null;
  /** Numbers of the protocol that the prices of these pools need. */
  readonly params: readonly bigint[] | null;
  /** Reasons why a vault pool backs no price, as bits of DOUBTS. 0 means that there is no reason. */
  readonly doubts: number;
  /** Trading of the last 24 hours. */
  readonly trades: TradesRow | null;
  /** Prices at the starts of the windows. Null unless the pool's state changed in the last 24 hours. */
  readonly pastPrices: PastPricesRow | null;
  /**
   * Mean balances over the last 24 hours, raw. Null unless the pool has more than two tokens and changed in this
   * time.
   */
  readonly meanBalances: readonly number[] | null;
  /** Time of the last swap, unix seconds. */
  readonly lastTradeAt: number | null;
  /** The current fee in pips (1e6 = 100 %). */
  readonly feePips: number;
  /** The creation of a pool that is older than the start block; null if it is unknown, or for other pools. */
  readonly birth: PoolBirth | null;
  /** The protocol's share of the fees by the chain description, 0 to 1. */
  readonly protocolShare: number;
  /** V3 pools: the protocol's parts of the fees by the pool itself; null if unknown, and for other pools. */
  readonly protocolSplit: ProtocolSplit | null;
  /** The protocol's part of the fees of the last 24 hours in USD, by `protocolSplit`; null without it. */
  readonly splitFeesUsd: number | null;
}

/**
 * Values of a pool's state that do not depend on token prices. While the pool does not change, all head versions
 * share one object.
 */
interface StateAmounts {
  readonly amount0: number;
  readonly amount1: number;
  /** Price of the base token in the other token; undefined if not computed yet. */
  price: string | null | undefined;
}

/**
 * One pool as of a head. Sums over all pools use its plain fields. The list item is built on first use,
 * because a chain has hundreds of thousands of pools and a page shows few.
 */
export class PairEntry {
  /** TVL in USD. */
  readonly liquidityUsd: number;
  private readonly price0: TokenPrice;
  private readonly price1: TokenPrice;
  private readonly amounts: StateAmounts;
  private builtItem: PairItem | null = null;

  /** `earlierEntry` is the entry of the same pool at an earlier head. */
  constructor(
    readonly pool: StoredPool,
    readonly tokens: PoolTokens,
    readonly facts: PairFacts,
    readonly prices: TokenPrices,
    /** The reason why a token has no price; null if it has one. */
    readonly reasonOf: (token: Token) => PriceReason | null,
    earlierEntry?: PairEntry,
  ) {
    const { token0, token1 } = tokens;
    this.price0 = prices.now(token0.address);
    this.price1 = prices.now(token1.address);
    this.amounts =
      earlierEntry !== undefined && earlierEntry.facts.state === facts.state && earlierEntry.tokens === tokens
        ? earlierEntry.amounts
        : amountsOf(facts.state, tokens);
    this.liquidityUsd = tvlNow(this, this.sides, pool.all_tokens.length === 0 ? [] : this.holdings);
  }

  get token0(): Token {
    return this.tokens.token0;
  }

  get token1(): Token {
    return this.tokens.token1;
  }

  /** Current amounts of token0 and token1 in the pool. */
  get sides(): readonly [PoolSide, PoolSide] {
    const { amount0, amount1 } = this.amounts;
    return [
      { amount: amount0, price: this.price0 },
      { amount: amount1, price: this.price1 },
    ];
  }

  /** Current amounts of all tokens in the pool. The pool's own share counts 0, because the pool mints it to itself. */
  get holdings(): readonly PoolSide[] {
    if (this.pool.all_tokens.length === 0) return this.sides;
    const { balances } = this.facts;
    return this.tokens.all.map((token, i) => ({
      amount: token.address === this.pool.address ? 0 : wholeTokensOf(balances?.[i], token),
      price: this.prices.now(token.address),
    }));
  }

  /** The token of the pool's shares (LP token), for pools that have one. */
  get shareToken(): Hex {
    const { address, protocol, all_tokens: tokens } = this.pool;
    const params = tokens.length === 0 ? [] : (this.facts.params ?? []);
    return params.length === 0
      ? address
      : (findManyTokenProtocol(protocol)?.shareToken?.({ params }) ?? address);
  }

  /** Raw LP tokens that the pool itself holds. Composable pools mint 2^111 of them, which no provider owns. */
  get ownShares(): bigint {
    const ownIndex = this.pool.all_tokens.indexOf(this.pool.address);
    return this.facts.balances?.[ownIndex] ?? 0n;
  }

  /** The USD that each item of `holdings` contributes to the liquidity. */
  get countedUsd(): readonly number[] {
    const weights = weightsOfPool(this.pool);
    if (this.pool.all_tokens.length === 0) return countedValues(this.holdings, weights);
    return countedInVault(this.holdings, weights, this.facts.doubts);
  }

  /**
   * Adds this pair to `liquidityUsd`, the liquidity of the token `address` in USD: the counted value of the token, and
   * of anchors in the same pair. Runs for every pair of a token, so it must be fast.
   */
  addCounted(liquidityUsd: number, address: string): number {
    const { pool, tokens, price0, price1, amounts } = this;
    const usd0 = trustedUsd(amounts.amount0, price0);
    const usd1 = trustedUsd(amounts.amount1, price1);
    let totalUsd = liquidityUsd;
    if (pool.all_tokens.length === 0 && usd0 <= price0.capUsd && usd1 <= price1.capUsd) {
      if (tokens.token0.address === address || price0.isAnchor) totalUsd += usd0;
      if (tokens.token1.address === address || price1.isAnchor) totalUsd += usd1;
      return totalUsd;
    }
    const { countedUsd } = this;
    this.holdings.forEach(({ price }, i) => {
      if (tokens.all[i]?.address === address || price.isAnchor) totalUsd += countedUsd[i] ?? 0;
    });
    return totalUsd;
  }

  /** Quote tokens per base token as a decimal, or null. */
  get price(): string | null {
    const { amounts, pool, facts, tokens } = this;
    if (amounts.price === undefined)
      amounts.price = priceOf(pool, facts.state, tokens.token0, tokens.token1, pool.base_is_token0);
    return amounts.price;
  }

  /** Creation of the pool. The fields are null if they are unknown. */
  get creation(): Pick<StoredPool, 'created_block' | 'created_at' | 'created_tx'> {
    return this.pool.created_block === null && this.facts.birth !== null ? this.facts.birth : this.pool;
  }

  get volume24hUsd(): number {
    return this.facts.trades?.volume ?? 0;
  }

  get fees24hUsd(): number {
    return this.facts.trades?.fees ?? 0;
  }

  /** The protocol's part of `fees24hUsd`. */
  get protocolFees24hUsd(): number {
    const { splitFeesUsd, protocolShare } = this.facts;
    return splitFeesUsd ?? this.fees24hUsd * protocolShare;
  }

  get swaps24h(): number {
    const { trades } = this.facts;
    return trades === null ? 0 : trades.buys + trades.sells;
  }

  /** Change of the price over a window in percent; null if the current or the earlier price is missing. */
  priceChange(window: Window): number | null {
    return priceChange(this, window);
  }

  /** Annualised yield of liquidity providers from the last 24 hours, in percent; null without TVL. */
  get apr24h(): number | null {
    const lpFeesUsd = this.fees24hUsd - this.protocolFees24hUsd;
    const { pastPrices, meanBalances } = this.facts;
    const meanTvlUsd = meanTvl(this, pastPrices, meanBalances);
    return aprPercent(lpFeesUsd, WINDOW_SECONDS.h24, meanTvlUsd, this.facts.feePips);
  }

  /** The list item, built on first use. */
  get item(): PairItem {
    this.builtItem ??= toPairItem(this);
    return this.builtItem;
  }
}

function amountsOf(state: StateRow | null, { token0, token1 }: PoolTokens): StateAmounts {
  return {
    amount0: wholeTokensOf(state?.reserve0, token0),
    amount1: wholeTokensOf(state?.reserve1, token1),
    price: undefined,
  };
}

function toPairItem(entry: PairEntry): PairItem {
  const { pool, facts, prices, price } = entry;
  const { base, quote, all, name } = entry.tokens;
  const tradeCountsDay = tradeCounts(facts.trades);
  const feePips = findFeePips(facts.feePips, pool.hooks);
  const priceUsd = timesPrice(price, prices.now(quote.address).usd);
  return {
    address: pool.address,
    dex_name: pool.dex,
    pool_type: pool.pool_type,
    fee_bps: feePips === null ? null : feePips / PIPS_PER_BPS,
    name,
    base_token: base,
    quote_token: quote,
    tokens: [...all],
    price_usd: priceUsd,
    price_reason: priceUsd === null ? pairPriceReason(entry, entry.reasonOf(quote)) : null,
    price_native: timesPrice(price, prices.nativeOf(quote.address)),
    price,
    price_change_5m: entry.priceChange('m5'),
    price_change_1h: entry.priceChange('h1'),
    price_change_6h: entry.priceChange('h6'),
    price_change_24h: entry.priceChange('h24'),
    volume_24h_usd: entry.volume24hUsd,
    fees_24h_usd: entry.fees24hUsd,
    liquidity_usd: entry.liquidityUsd,
    tx_24h: tradeCountsDay.buys + tradeCountsDay.sells,
    buys_24h: tradeCountsDay.buys,
    sells_24h: tradeCountsDay.sells,
    buyers_24h: tradeCountsDay.buyers,
    sellers_24h: tradeCountsDay.sellers,
    apr_24h: entry.apr24h,
    created_at: entry.creation.created_at,
    created_block: entry.creation.created_block,
    last_trade_at: facts.lastTradeAt,
    flags: [...pairDoubts(entry), ...(hasEnded(entry) ? ['ended'] : [])],
  };
}

/** A price in quote tokens times the USD or native price of one quote token. Null if either is unknown. */
function timesPrice(price: string | null, quotePrice: number | null): string | null {
  if (price === null || quotePrice === null) return null;
  const product = Number(price) * quotePrice;
  return product > 0 && Number.isFinite(product) ? plainNumber(product) : null;
}

function wholeTokensOf(raw: bigint | undefined, token: Token): number {
  return raw === undefined ? 0 : unitsToNumber(raw, token.decimals ?? 0);
}

function tvlNow(
  { pool, facts }: Pick<PairEntry, 'pool' | 'facts'>,
  sides: readonly [PoolSide, PoolSide],
  holdings: readonly PoolSide[],
): number {
  return pool.all_tokens.length === 0
    ? tvlOf(pool.pool_type, ...sides)
    : tvlOfWeighted(holdings, weightsOfPool(pool), facts.doubts);
}

/**
 * Time-weighted mean TVL of a window. Reserves of two-token pools are valued at the prices of the pool's own swaps.
 * Without swaps, current prices are used. Larger pools use their mean balances at current prices. A pool without
 * means did not change.
 */
export function meanTvl(
  entry: Pick<PairEntry, 'pool' | 'facts' | 'token0' | 'token1' | 'tokens' | 'sides' | 'holdings'>,
  means: MeanReservesRow | null,
  meanBalances: readonly number[] | null,
): number {
  const { token0, token1, tokens, sides, holdings } = entry;
  if (tokens.all.length > 2) {
    const meanHoldings = holdings.map((side, i) => {
      const token = tokens.all[i];
      const rawMean = token?.address === entry.pool.address ? 0 : (meanBalances?.[i] ?? 0);
      return { ...side, amount: wholeUnits(rawMean, token?.decimals ?? 0) };
    });
    return tvlNow(entry, sides, meanBalances === null ? holdings : meanHoldings);
  }
  interface MeanSide {
    readonly rawReserve: number;
    /**
     * Mean value in USD times 10^otherDecimals, because raw prices count raw units of the other token. 0 or null if
     * unknown.
     */
    readonly rawUsd: number | null;
    readonly decimals: number;
    readonly otherDecimals: number;
  }
  const sideOf = (side: PoolSide, { rawReserve, rawUsd, decimals, otherDecimals }: MeanSide): PoolSide => {
    const { usd } = side.price;
    const amount =
      rawUsd !== null && rawUsd > 0 && usd !== null
        ? wholeUnits(rawUsd, otherDecimals) / usd
        : wholeUnits(rawReserve, decimals);
    return { ...side, amount };
  };
  if (means?.mean_reserve0 == null || means.mean_reserve1 === null) return tvlNow(entry, sides, holdings);
  const { mean_reserve0, mean_reserve1, mean_value0, mean_value1 } = means;
  const [decimals0, decimals1] = [token0.decimals ?? 0, token1.decimals ?? 0];
  const mean0 = {
    rawReserve: mean_reserve0,
    rawUsd: mean_value0,
    decimals: decimals0,
    otherDecimals: decimals1,
  };
  const mean1 = {
    rawReserve: mean_reserve1,
    rawUsd: mean_value1,
    decimals: decimals1,
    otherDecimals: decimals0,
  };
  const meanSides = [sideOf(sides[0], mean0), sideOf(sides[1], mean1)] as const;
  return tvlNow(entry, meanSides, meanSides);
}

/** The price of a pool's state as a decimal string: the other token per token0 or token1. */
export function priceOf(
  pool: StoredPool,
  state: StateRow | null,
  token0: Token,
  token1: Token,
  baseIsToken0: boolean,
): string | null {
  if (state === null) return null;
  const { price: source } = shapeOf(pool.pool_type);
  if (source === 'stored') {
    const price = scalePrice(state.price, token0.decimals, token1.decimals, baseIsToken0);
    return price > 0 ? plainNumber(price) : null;
  }
  const { reserve0, reserve1, sqrt_price_x96: sqrtPriceX96 } = state;
  // A state with √price and no price belongs to a pool whose price is not followed.
  if (source === 'sqrt_price' && (sqrtPriceX96 === 0n || state.price === 0)) return null;
  return formatPrice({ reserve0, reserve1, sqrtPriceX96 }, token0.decimals, token1.decimals, baseIsToken0);
}

/**
 * Change over a window in percent. Uses USD prices if both are known, or else prices in the quote token. Null if either
 * price is missing, or if the quote token's earlier USD price had a lower confidence level.
 */
function priceChange({ pool, facts, prices, tokens }: PairEntry, window: Window): number | null {
  const { token0, token1, quote } = tokens;
  const rawPriceNow = facts.state?.price ?? 0;
  const rawPriceThen = facts.pastPrices === null ? rawPriceNow : facts.pastPrices[`price_${window}`];
  const toScaled = (price: number): number =>
    scalePrice(price, token0.decimals, token1.decimals, pool.base_is_token0);
  const [priceNow, priceThen] = [toScaled(rawPriceNow), toScaled(rawPriceThen)];
  if (priceNow === 0 || priceThen === 0) return null;
  const quotePrice = prices.now(quote.address);
  const quotePriceThen = prices.before(quote.address, window);
  if (quotePrice.usd === null || quotePriceThen.usd === null)
    return finiteOrNull(changePercent(priceNow, priceThen));
  if (isDoubtful(quotePriceThen, quotePrice)) return null;
  return finiteOrNull(changePercent(priceNow * quotePrice.usd, priceThen * quotePriceThen.usd));
}
