/** Filters and sorts pairs. Pure. */
import type { Hex } from '../../domain/hex';
import type { PairItem } from '../../wire/pairs';
import type { PairEntry } from './pairItem';
import { tokensOfPool } from './pools';
import type { Order } from './ranking';
import { Rankings } from './rankings';

export const PAIR_SORTS = [
  'volume_24h_usd',
  'liquidity_usd',
  'tx_24h',
  'price_change_24h',
  'fees_24h_usd',
  'apr_24h',
  'created_at',
] as const satisfies readonly (keyof PairItem)[];
type PairSort = (typeof PAIR_SORTS)[number];

interface PairFilter {
  /** Part of a symbol or name, or an address; null: no filter. */
  readonly q: string | null;
  /** Short name of the DEX in lower case; null means no filter. */
  readonly dex: string | null;
  readonly token: Hex | null;
}

/** The value by which each sort order sorts. It needs no list item. */
const KEYS: Readonly<Record<PairSort, (entry: PairEntry) => number | null>> = {
  volume_24h_usd: (entry) => entry.volume24hUsd,
  liquidity_usd: (entry) => entry.liquidityUsd,
  tx_24h: (entry) => entry.swaps24h,
  price_change_24h: (entry) => entry.priceChange('h24'),
  fees_24h_usd: (entry) => entry.fees24hUsd,
  apr_24h: (entry) => entry.apr24h,
  created_at: ({ creation }) => creation.created_at,
};

const rankings = new Rankings<PairEntry, PairSort>(
  ({ pool }) => pool,
  (entry, sort) => KEYS[sort](entry),
);

/** The filtered and sorted pairs. Ties by address ascending; nulls last in both orders. */
export function listPairs(
  entries: readonly PairEntry[],
  filter: PairFilter,
  sort: PairSort,
  order: Order,
): readonly PairEntry[] {
  const words = filter.q?.toLowerCase() ?? null;
  const sorted = rankings.sorted(entries, sort, order);
  const isAll = words === null && filter.dex === null && filter.token === null;
  return isAll ? sorted : sorted.filter((entry) => passes(entry, filter, words));
}

function passes({ tokens, pool }: PairEntry, filter: PairFilter, words: string | null): boolean {
  if (filter.dex !== null && pool.dex.toLowerCase() !== filter.dex) return false;
  const held = tokensOfPool(pool);
  if (filter.token !== null && !held.includes(filter.token)) return false;
  if (words === null) return true;
  if (words.startsWith('0x') && [pool.address, ...held].some((address) => address.startsWith(words)))
    return true;
  const names = [tokens.name, ...tokens.all.flatMap((token) => [token.symbol, token.name])];
  return names.some((name) => name !== null && name.toLowerCase().includes(words));
}
