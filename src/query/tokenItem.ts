/** From the pairs of one token and its trading to the token that answers show. Pure. */
import { plainNumber } from '../domain/amounts';
import type { Anchor } from '../domain/chainDescription';
import type { Hex } from '../domain/hex';
import type { TradeCounts, Window } from '../wire/pairs';
import type { Token } from '../wire/primitives';
import type { Confidence, TokenDetail, TokenItem, Warning } from '../wire/tokens';
import type { PairEntry } from './pairItem';
import { compareKeys, distinctMakers, latestOf } from './ranking';

const DAY_SECONDS = 86_400;

/** Confidence of a price that is configured. */
export const ANCHOR_CONFIDENCE = 0.99;

/** What the chain description says about prices. */
export interface PriceSources {
  readonly anchors: readonly Anchor[];
  readonly wrappedNative: Hex | null;
}

/** Trading of one token over all its pools; null sums: no swap has a USD value. */
export type TokenTrades = Readonly<
  Record<`${'buys' | 'sells' | 'buyers' | 'sellers'}_${Window}` | 'traders_h24', number> &
    Record<`volume_${Window}`, number | null>
>;

export interface TokenFacts {
  /** Null: no swap in 24 hours. */
  readonly trades: TokenTrades | null;
  /** Block in which a pool of the token was first seen. */
  readonly firstSeenBlock: number;
  /** Time of the newest indexed block, unix seconds. */
  readonly now: number;
}

export interface TokenEntry {
  readonly item: TokenItem;
  readonly facts: TokenFacts;
  /** Its pairs in the order of their addresses; at least one. */
  readonly pairs: readonly PairEntry[];
}

interface TokenPrice {
  readonly usd: string | null;
  readonly native: string | null;
  readonly confidence: Confidence;
}

/** What is given about a token's price: anchors have a dollar price, the wrapped native token is worth one native. */
export function priceOfToken(address: string, { anchors, wrappedNative }: PriceSources): TokenPrice {
  const anchor = anchors.find((candidate) => candidate.address === address);
  return {
    usd: anchor === undefined ? null : plainNumber(anchor.priceUsd),
    native: address === wrappedNative ? '1' : null,
    confidence: anchor === undefined ? 'none' : 'high',
  };
}

/** What users of a token's price must know. */
export function warningsOfToken(price: TokenPrice): Warning[] {
  if (price.usd !== null) return [];
  return [
    {
      code: 'no_route',
      message: 'No USD price is computed for this token yet: it is no anchor, and no route to one is known',
      severity: 'warning',
    },
  ];
}

/** The list item of a token out of its pairs. */
export function toTokenEntry(
  address: string,
  pairs: readonly PairEntry[],
  sources: PriceSources,
  facts: TokenFacts,
): TokenEntry {
  const token = tokenIn(pairs, address);
  const price = priceOfToken(address, sources);
  const counts = tradeCounts(facts.trades, 'h24');
  const swaps = counts.buys + counts.sells;
  const createdAt = firstCreation(pairs);
  const item: TokenItem = {
    ...token,
    logo_url: null,
    price_usd: price.usd,
    price_native: price.native,
    price_confidence: price.confidence,
    price_change_5m: null,
    price_change_1h: null,
    price_change_6h: null,
    price_change_24h: null,
    volume_24h_usd: facts.trades?.volume_h24 ?? null,
    liquidity_usd: null,
    tx_24h: swaps,
    buys_24h: counts.buys,
    sells_24h: counts.sells,
    traders_24h: distinctMakers(facts.trades?.traders_h24 ?? 0, swaps),
    pool_count: pairs.length,
    total_supply: null,
    fdv_usd: null,
    market_cap_usd: null,
    holders: null,
    created_at: createdAt,
    last_trade_at: pairs.reduce<number | null>((at, pair) => latestOf(at, pair.item.last_trade_at), null),
    flags: flagsOf(token, createdAt, facts.now),
  };
  return { item, facts, pairs };
}

/** The whole record of a token. `explorer`: a page about it, or null. */
export function toTokenDetail({ item, facts, pairs }: TokenEntry, explorer: string | null): TokenDetail {
  const { trades } = facts;
  return {
    ...item,
    volume: {
      m5: trades?.volume_m5 ?? null,
      h1: trades?.volume_h1 ?? null,
      h6: trades?.volume_h6 ?? null,
      h24: trades?.volume_h24 ?? null,
      d7: null,
    },
    transactions: {
      m5: tradeCounts(trades, 'm5'),
      h1: tradeCounts(trades, 'h1'),
      h6: tradeCounts(trades, 'h6'),
      h24: tradeCounts(trades, 'h24'),
    },
    price_high_24h: null,
    price_low_24h: null,
    price_ath: null,
    price_ath_at: null,
    holder_distribution: null,
    burned_supply: null,
    top_pool_address: topPool(pairs),
    links: { explorer },
    first_seen_block: facts.firstSeenBlock,
    warnings: warningsOfToken({
      usd: item.price_usd,
      native: item.price_native,
      confidence: item.price_confidence,
    }),
  };
}

/** The deepest pool; while depths are unknown the one with the most swaps of the day; then by address. */
function topPool(pairs: readonly PairEntry[]): string | null {
  const [top] = pairs
    .map(({ item }) => item)
    .sort(
      (a, b) =>
        compareKeys(a.liquidity_usd, b.liquidity_usd, 'desc') ||
        compareKeys(a.tx_24h, b.tx_24h, 'desc') ||
        compareKeys(a.address, b.address, 'asc'),
    );
  return top?.address ?? null;
}

function tokenIn(pairs: readonly PairEntry[], address: string): Token {
  for (const { item } of pairs) {
    const token = item.tokens.find((candidate) => candidate.address === address);
    if (token !== undefined) return token;
  }
  return { address, symbol: null, name: null, decimals: null };
}

/** When the first pool was created; null when that was before the start block. */
function firstCreation(pairs: readonly PairEntry[]): number | null {
  let first: number | null = null;
  for (const { pool } of pairs) {
    if (pool.created_at === null) return null;
    first = first === null ? pool.created_at : Math.min(first, pool.created_at);
  }
  return first;
}

function flagsOf(token: Token, createdAt: number | null, now: number): string[] {
  const flags: string[] = [];
  if (token.symbol === null && token.name === null && token.decimals === null) flags.push('no_metadata');
  if (createdAt !== null && createdAt > now - DAY_SECONDS) flags.push('new');
  return flags;
}

function tradeCounts(trades: TokenTrades | null, window: Window): TradeCounts {
  if (trades === null) return { buys: 0, sells: 0, buyers: 0, sellers: 0 };
  const buys = trades[`buys_${window}`];
  const sells = trades[`sells_${window}`];
  return {
    buys,
    sells,
    buyers: distinctMakers(trades[`buyers_${window}`], buys),
    sellers: distinctMakers(trades[`sellers_${window}`], sells),
  };
}
