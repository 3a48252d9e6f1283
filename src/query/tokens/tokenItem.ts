/** Builds token items and details from the pairs and trades of one token. Pure. */
import { formatUnits, plainNumber } from '../../domain/amounts';
import { shapeOf } from '../../domain/pools/poolShape';
import { levelOf, TRUSTED_MIN } from '../../pricing/confidence';
import type { Window } from '../../wire/pairs';
import type { Token } from '../../wire/primitives';
import type { Warning } from '../../wire/risks';
import type { TokenDetail, TokenItem } from '../../wire/tokens';
import type { PairEntry } from '../pairs/pairItem';
import type { TokenTradesRow } from '../pairs/pairRows';
import { countsByWindow, tradeCounts, volumeByWindow } from '../pairs/windowTrades';
import { UNKNOWN_DECIMALS } from '../audit/auditWarnings';
import { changeOfPrice, type TokenPrice, type TokenPrices } from '../prices/priceByHops';
import { tokenPriceReason } from '../pairs/priceReasons';
import { compareKeys, distinctMakers, latestOf } from '../pairs/rankings';
import type { RiskTable } from '../risks/riskTable';
import { meanShare, type LpShares } from '../risks/lpShares';
import { NEW, NO_METADATA, warningsOfShare } from '../risks/tokenRisk';
import {
  circulationOf,
  distributionOf,
  holdersOf,
  supplyOf,
  warningsOfTransfers,
  worthOf,
  type HoldingFacts,
} from './tokenSupply';
import type { TokenWindows } from './tokenWindows';

const DAY_SECONDS = 86_400;

interface TokenFacts extends HoldingFacts {
  /** Trading of the token; null if it had no swap in the last 24 hours. */
  readonly trades: TokenTradesRow | null;
  /** Whether every pool of the factories is listed. Otherwise an older pool of the token may be missing. */
  readonly poolsComplete: boolean;
  /** Time of the newest indexed block, unix seconds. */
  readonly headTime: number;
  /** The risks of all tokens; null if the caller did not read them. */
  readonly risks: RiskTable | null;
}

/** One token as of a head. The item is built on first use. */
export class TokenEntry {
  readonly price: TokenPrice;
  private cachedLiquidityUsd: number | null = null;
  private builtItem: TokenItem | null = null;

  /** `pairs` is sorted by address and has at least one pair. */
  constructor(
    readonly address: string,
    readonly pairs: readonly PairEntry[],
    readonly prices: TokenPrices,
    readonly facts: TokenFacts,
  ) {
    this.price = prices.now(address);
  }

  /** USD value of the token in its pools, and of anchors in the same pools. */
  get liquidityUsd(): number {
    this.cachedLiquidityUsd ??= liquidityOf(this.address, this.pairs);
    return this.cachedLiquidityUsd;
  }

  get token(): Token {
    return tokenIn(this.pairs, this.address);
  }

  get volume24hUsd(): number {
    return this.facts.trades?.volume ?? 0;
  }

  get swaps24h(): number {
    const { trades } = this.facts;
    return trades === null ? 0 : trades.buys + trades.sells;
  }

  /** Change of the price over a window in percent; null if the current or the earlier price is missing. */
  priceChange(window: Window): number | null {
    return changeOfPrice(this.price, this.prices.before(this.address, window));
  }

  /** Creation time of the token's first pool; null if it is unknown. */
  get createdAt(): number | null {
    return this.facts.poolsComplete ? firstCreation(this.pairs) : null;
  }

  /** Block of the first stored event of the token's first pool. */
  get firstSeenBlock(): number {
    return this.pairs.reduce((firstBlock, { pool }) => Math.min(firstBlock, pool.first_block), Infinity);
  }

  /**
   * Value of the supply without burnt tokens and without LP tokens that their own pool holds. Null if the supply or the
   * price is unknown.
   */
  get fdvUsd(): number | null {
    const supply = supplyOf(this.facts);
    const ownShares = this.pairs.find(({ pool }) => pool.address === this.address)?.ownShares ?? 0n;
    return supply === null ? null : this.worthOf(supply.total - supply.burned - ownShares);
  }

  /** Value of the circulating supply; null if the supply or the price is unknown. */
  get marketCapUsd(): number | null {
    const circulation = circulationOf(this.facts, this.address);
    return circulation === null ? null : this.worthOf(circulation.circulating);
  }

  get holders(): number | null {
    return holdersOf(this.facts);
  }

  private worthOf(rawAmount: bigint): number | null {
    return worthOf(rawAmount, this.token.decimals ?? 0, this.price);
  }

  /** The list item, built on first use. */
  get item(): TokenItem {
    this.builtItem ??= toTokenItem(this);
    return this.builtItem;
  }
}

/** Warnings about a token's price. A missing price has the same reason as in `price_reason`. */
function warningsOfPrice(price: TokenPrice, { decimals, price_reason: reason }: TokenItem): Warning[] {
  if (reason !== null)
    return [
      ...(decimals === null ? [UNKNOWN_DECIMALS] : []),
      { code: 'no_route', message: reason.text, severity: 'warning' },
    ];
  if (price.confidence >= TRUSTED_MIN) return [];
  return [
    {
      code: 'low_liquidity',
      message: 'This price has little liquidity, so volume and liquidity leave out values by this price',
      severity: 'warning',
    },
  ];
}

/** USD value, by trusted prices only, of the token in its pools and of anchors in the same pools. */
function liquidityOf(address: string, pairs: readonly PairEntry[]): number {
  let liquidityUsd = 0;
  for (const pair of pairs) liquidityUsd = pair.addCounted(liquidityUsd, address);
  return liquidityUsd;
}

function toTokenItem(entry: TokenEntry): TokenItem {
  const { address, token, pairs, prices, price, facts } = entry;
  const dayCounts = tradeCounts(facts.trades);
  const swapCount = entry.swaps24h;
  const { createdAt } = entry;
  const supply = supplyOf(facts);
  const decimals = token.decimals ?? 0;
  return {
    ...token,
    logo_url: facts.risks?.logoOf(address) ?? null,
    price_usd: plainOrNull(price.usd),
    price_reason: price.usd === null ? tokenPriceReason(token, pairs, facts.headTime) : null,
    price_native: plainOrNull(prices.nativeOf(address)),
    price_confidence: levelOf(price.confidence),
    price_change_5m: entry.priceChange('m5'),
    price_change_1h: entry.priceChange('h1'),
    price_change_6h: entry.priceChange('h6'),
    price_change_24h: entry.priceChange('h24'),
    volume_24h_usd: entry.volume24hUsd,
    liquidity_usd: entry.liquidityUsd,
    tx_24h: swapCount,
    buys_24h: dayCounts.buys,
    sells_24h: dayCounts.sells,
    traders_24h: distinctMakers(facts.trades?.traders ?? 0, swapCount),
    pool_count: pairs.length,
    total_supply: supply === null ? null : formatUnits(supply.total, decimals),
    fdv_usd: entry.fdvUsd,
    market_cap_usd: entry.marketCapUsd,
    holders: entry.holders,
    created_at: createdAt,
    last_trade_at: pairs.reduce<number | null>(
      (latestAt, pair) => latestOf(latestAt, pair.facts.lastTradeAt),
      null,
    ),
    flags: warningsOfEntry(entry, createdAt).map(({ code }) => code),
  };
}

function plainOrNull(value: number | null): string | null {
  return value === null || value === 0 ? null : plainNumber(value);
}

/**
 * The detail of a token. `explorer` is the address of an explorer page, or null. `lpPair` is the pool at the address of
 * the token.
 */
export function toTokenDetail(
  entry: TokenEntry,
  windows: TokenWindows,
  explorer: string | null,
  lpPair?: PairEntry,
): TokenDetail {
  const { item, facts, price, pairs, address } = entry;
  const { trades } = facts;
  const burnedRaw = supplyOf(facts)?.burned ?? null;
  return {
    ...item,
    volume: { ...volumeByWindow(windows.trades, trades), d7: windows.volumeWeek },
    transactions: countsByWindow(windows.trades, trades),
    price_high_24h: plainOrNull(trades?.high ?? null),
    price_low_24h: plainOrNull(trades?.low ?? null),
    price_ath: plainOrNull(windows.highest?.usd ?? null),
    price_ath_at: windows.highest?.timestamp ?? null,
    holder_distribution: distributionOf(facts),
    burned_supply: burnedRaw === null ? null : formatUnits(burnedRaw, item.decimals ?? 0),
    ...circulationFields(entry),
    creator: facts.risks?.creatorOf(address) ?? null,
    transfer_tax_pct: facts.risks?.taxOf(address) ?? null,
    lp_locked_pct: meanShare(sharesOf(entry, pairs, 'lockedPercent')),
    lp_held_by_creator_pct: creatorShareOf(entry),
    pools_liquidity_usd: pairs.reduce((sum, { liquidityUsd }) => sum + liquidityUsd, 0),
    lp_pair: lpPairOf(lpPair),
    top_pool_address: topPool(pairs),
    links: { explorer },
    first_seen_block: entry.firstSeenBlock,
    warnings: [...warningsOfPrice(price, item), ...warningsOfEntry(entry, item.created_at)],
  };
}

/** Null for a pool without an LP token. */
function lpPairOf(lpPair: PairEntry | undefined): TokenDetail['lp_pair'] {
  if (lpPair === undefined || !shapeOf(lpPair.pool.pool_type).hasLpToken) return null;
  return { address: lpPair.pool.address, name: lpPair.tokens.name };
}

function circulationFields({
  address,
  facts,
  token,
}: TokenEntry): Pick<TokenDetail, 'circulating_supply' | 'circulating_supply_excludes'> {
  const circulation = circulationOf(facts, address);
  if (circulation === null) return { circulating_supply: null, circulating_supply_excludes: [] };
  const toWholeText = (raw: bigint): string => formatUnits(raw, token.decimals ?? 0);
  return {
    circulating_supply: toWholeText(circulation.circulating),
    circulating_supply_excludes: circulation.excludes.map((exclusion) => ({
      ...exclusion,
      amount: toWholeText(exclusion.amount),
    })),
  };
}

function sharesOf({ facts }: TokenEntry, pairs: readonly PairEntry[], shareKind: keyof LpShares) {
  return pairs.map((pair) => ({
    percent: facts.risks?.sharesOf(pair)[shareKind] ?? null,
    liquidityUsd: pair.liquidityUsd,
  }));
}

/** The creator's part of the LP tokens, over the pools in which the token is the base token. */
function creatorShareOf(entry: TokenEntry): number | null {
  if ((entry.facts.risks?.creatorOf(entry.address) ?? null) === null) return null;
  const basePairs = entry.pairs.filter(({ tokens }) => tokens.base.address === entry.address);
  return meanShare(sharesOf(entry, basePairs, 'creatorPercent'));
}

/** The pool with the most liquidity; ties by daily swaps, then by address. */
function topPool(pairs: readonly PairEntry[]): string | null {
  const [deepestPair] = [...pairs].sort(
    (a, b) =>
      compareKeys(a.liquidityUsd, b.liquidityUsd, 'desc') ||
      compareKeys(a.swaps24h, b.swaps24h, 'desc') ||
      compareKeys(a.pool.address, b.pool.address, 'asc'),
  );
  return deepestPair?.pool.address ?? null;
}

function tokenIn(pairs: readonly PairEntry[], address: string): Token {
  for (const { tokens } of pairs) {
    const token = tokens.all.find((candidate) => candidate.address === address);
    if (token !== undefined) return token;
  }
  return { address, symbol: null, name: null, decimals: null };
}

/** Creation time of the token's first pool; null if the creation of one of its pools is unknown. */
function firstCreation(pairs: readonly PairEntry[]): number | null {
  let firstCreatedAt: number | null = null;
  for (const { creation } of pairs) {
    if (creation.created_at === null) return null;
    firstCreatedAt =
      firstCreatedAt === null ? creation.created_at : Math.min(firstCreatedAt, creation.created_at);
  }
  return firstCreatedAt;
}

/** Warnings whose codes are also the flags of the token. */
function warningsOfEntry(entry: TokenEntry, createdAt: number | null): Warning[] {
  const { token, facts } = entry;
  const warnings: Warning[] = [];
  if (token.symbol === null && token.name === null && token.decimals === null) warnings.push(NO_METADATA);
  if (createdAt !== null && createdAt > facts.headTime - DAY_SECONDS) warnings.push(NEW);
  warnings.push(...warningsOfTransfers(facts));
  if (facts.risks === null) return warnings;
  return [...warnings, ...facts.risks.warningsOf(token), ...warningsOfShare(creatorShareOf(entry))];
}
