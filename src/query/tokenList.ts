/** Searching and sorting tokens. Pure. */
import type { TokenItem } from '../wire/tokens';
import { compareKeys, type Order } from './ranking';
import { Rankings } from './rankings';
import type { TokenEntry } from './tokenItem';

export const TOKEN_SORTS = [
  'volume_24h_usd',
  'liquidity_usd',
  'price_usd',
  'price_change_1h',
  'price_change_24h',
  'market_cap_usd',
  'fdv_usd',
  'tx_24h',
  'holders',
  'created_at',
  'symbol',
] as const satisfies readonly (keyof TokenItem)[];
export type TokenSort = (typeof TOKEN_SORTS)[number];

const DEFAULT_SORT: TokenSort = 'volume_24h_usd';

/** How well a token fits a search, best first. */
const RANK = { exactSymbol: 0, symbolPrefix: 1, symbolPart: 2, namePart: 3 } as const;

export interface TokenSearch {
  /** An address, or part of a symbol or name; null: all tokens. */
  readonly q: string | null;
  /** Null: the best fit of a search first, and without one by volume. */
  readonly sort: TokenSort | null;
  readonly order: Order;
}

/** The tokens that fit, in a total order: ties by address ascending, nulls last in both orders. */
export function listTokenItems(entries: readonly TokenEntry[], search: TokenSearch): TokenItem[] {
  const { q, sort, order } = search;
  const sorted = (): TokenItem[] =>
    rankings.sorted(entries, sort ?? DEFAULT_SORT, order).map(({ item }) => item);
  if (q === null) return sorted();
  const words = q.toLowerCase();
  if (/^0x[0-9a-f]{40}$/.test(words))
    return entries.map(({ item }) => item).filter((item) => item.address === words);
  if (sort !== null) return sorted().filter((item) => rankOf(item, words) !== null);
  return entries
    .flatMap(({ item }) => {
      const rank = rankOf(item, words);
      return rank === null ? [] : [{ item, rank }];
    })
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        compareKeys(a.item.liquidity_usd, b.item.liquidity_usd, 'desc') ||
        compareKeys(a.item.address, b.item.address, 'asc'),
    )
    .map(({ item }) => item);
}

const rankings = new Rankings<TokenEntry, TokenSort>(
  ({ item }) => item,
  ({ item }, sort) => keyOf(item, sort),
);

function keyOf(item: TokenItem, sort: TokenSort): number | string | null {
  if (sort === 'symbol') return item.symbol?.toLowerCase() ?? null;
  if (sort === 'price_usd') return item.price_usd === null ? null : Number(item.price_usd);
  return item[sort];
}

function rankOf(item: TokenItem, words: string): number | null {
  const symbol = item.symbol?.toLowerCase() ?? '';
  if (symbol === words) return RANK.exactSymbol;
  if (symbol.startsWith(words)) return RANK.symbolPrefix;
  if (symbol.includes(words)) return RANK.symbolPart;
  return (item.name?.toLowerCase() ?? '').includes(words) ? RANK.namePart : null;
}
