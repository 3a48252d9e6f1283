/** Searches and sorts tokens. Pure. */
import type { Token } from '../../wire/primitives';
import type { TokenItem } from '../../wire/tokens';
import { Rankings, compareKeys, type Order } from '../pairs/rankings';
import type { TokenEntry } from './tokenItem';

export const TOKEN_SORTS = [
  'volume_24h_usd',
  'liquidity_usd',
  'price_usd',
  'price_change_5m',
  'price_change_1h',
  'price_change_6h',
  'price_change_24h',
  'market_cap_usd',
  'fdv_usd',
  'tx_24h',
  'holders',
  'created_at',
  'symbol',
] as const satisfies readonly (keyof TokenItem)[];
type TokenSort = (typeof TOKEN_SORTS)[number];

const DEFAULT_SORT: TokenSort = 'volume_24h_usd';

/** Ranks of a search match, best first. */
const MATCH_RANKS = { exactSymbol: 0, symbolPrefix: 1, symbolPart: 2, namePart: 3 } as const;

export interface TokenSearch {
  /** Search text: an address, or part of a symbol or name; null lists all tokens. */
  readonly q: string | null;
  /** Sort order; null means the best match first, or by volume without a search. */
  readonly sort: TokenSort | null;
  readonly order: Order;
  /** Smallest `liquidity_usd`; null or absent lists all tokens. */
  readonly minLiquidityUsd?: number | null;
}

/** The matching tokens in a total order: ties by address ascending, nulls last in both orders. */
export function listTokenEntries(entries: readonly TokenEntry[], search: TokenSearch): readonly TokenEntry[] {
  const matchingEntries = findTokenEntries(entries, search);
  const minLiquidityUsd = search.minLiquidityUsd ?? null;
  return minLiquidityUsd === null
    ? matchingEntries
    : matchingEntries.filter(({ liquidityUsd }) => liquidityUsd >= minLiquidityUsd);
}

function findTokenEntries(entries: readonly TokenEntry[], search: TokenSearch): readonly TokenEntry[] {
  const { q, sort, order } = search;
  const sortEntries = (): readonly TokenEntry[] => rankings.sorted(entries, sort ?? DEFAULT_SORT, order);
  if (q === null) return sortEntries();
  const searchText = q.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(searchText)) return entries.filter(({ address }) => address === searchText);
  if (sort !== null) return sortEntries().filter(({ token }) => rankOf(token, searchText) !== null);
  return entries
    .flatMap((entry) => {
      const rank = rankOf(entry.token, searchText);
      return rank === null ? [] : [{ entry, rank }];
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        compareKeys(a.entry.liquidityUsd, b.entry.liquidityUsd, 'desc') ||
        compareKeys(a.entry.address, b.entry.address, 'asc'),
    )
    .map(({ entry }) => entry);
}

const rankings = new Rankings<TokenEntry, TokenSort>((entry) => entry, keyOf);

/** No sort key needs a list item, because making all items takes a second for a market of 100,000 pairs. */
function keyOf(entry: TokenEntry, sort: TokenSort): number | string | null {
  switch (sort) {
    case 'volume_24h_usd':
      return entry.volume24hUsd;
    case 'liquidity_usd':
      return entry.liquidityUsd;
    case 'price_usd':
      return entry.price.usd;
    case 'price_change_5m':
      return entry.priceChange('m5');
    case 'price_change_1h':
      return entry.priceChange('h1');
    case 'price_change_6h':
      return entry.priceChange('h6');
    case 'price_change_24h':
      return entry.priceChange('h24');
    case 'market_cap_usd':
      return entry.marketCapUsd;
    case 'fdv_usd':
      return entry.fdvUsd;
    case 'tx_24h':
      return entry.swaps24h;
    case 'holders':
      return entry.holders;
    case 'created_at':
      return entry.createdAt;
    case 'symbol':
      return entry.token.symbol?.toLowerCase() ?? null;
  }
}

function rankOf(item: Token, searchText: string): number | null {
  const symbol = item.symbol?.toLowerCase() ?? '';
  if (symbol === searchText) return MATCH_RANKS.exactSymbol;
  if (symbol.startsWith(searchText)) return MATCH_RANKS.symbolPrefix;
  if (symbol.includes(searchText)) return MATCH_RANKS.symbolPart;
  return (item.name?.toLowerCase() ?? '').includes(searchText) ? MATCH_RANKS.namePart : null;
}
