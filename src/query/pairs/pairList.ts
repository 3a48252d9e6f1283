/** Filters and sorts pairs. Pure. */
import type { Hex } from '../../domain/hex';
import { HOOK_PERMISSIONS, permissionsOf } from '../../protocols/hooks';
import type { PairItem } from '../../wire/pairs';
import { matchQualityOfWords, splitPairWords } from '../search/matchQuality';
import type { PairEntry } from './pairItem';
import { tokensOfPool, type StoredPool } from './pools';
import { Rankings, type Order } from './rankings';

export const PAIR_SORTS = [
  'volume_24h_usd',
  'liquidity_usd',
  'tx_24h',
  'price_change_5m',
  'price_change_1h',
  'price_change_6h',
  'price_change_24h',
  'fees_24h_usd',
  'apr_24h',
  'created_at',
] as const satisfies readonly (keyof PairItem)[];
type PairSort = (typeof PAIR_SORTS)[number];

export const HOOK_FILTERS = ['none', 'any', ...HOOK_PERMISSIONS] as const;
type HookFilter = (typeof HOOK_FILTERS)[number];

interface PairFilter {
  /** Part of a symbol or name, or an address; null: no filter. */
  readonly searchText: string | null;
  /** Short name of the DEX in lower case; null means no filter. */
  readonly dex: string | null;
  /** Only pools of this token; null means no filter. */
  readonly token: Hex | null;
  /** Only pools without a hook, with any hook, or with a hook that has this permission; null or absent means no filter. */
  readonly hooks?: HookFilter | null;
  /** Smallest `liquidity_usd`; null or absent means no filter. */
  readonly minLiquidityUsd?: number | null;
}

/** The value by which each sort order sorts. It needs no list item. */
const SORT_KEYS: Readonly<Record<PairSort, (entry: PairEntry) => number | null>> = {
  volume_24h_usd: (entry) => entry.volume24hUsd,
  liquidity_usd: (entry) => entry.liquidityUsd,
  tx_24h: (entry) => entry.swaps24h,
  price_change_5m: (entry) => entry.priceChange('m5'),
  price_change_1h: (entry) => entry.priceChange('h1'),
  price_change_6h: (entry) => entry.priceChange('h6'),
  price_change_24h: (entry) => entry.priceChange('h24'),
  fees_24h_usd: (entry) => entry.fees24hUsd,
  apr_24h: (entry) => entry.apr24h,
  created_at: ({ creation }) => creation.created_at,
};

const rankings = new Rankings<PairEntry, PairSort>(
  // Ties: by the name that the API shows, which is the pool id if the pool has one.
  ({ pool }) => ({ address: pool.pool_id ?? pool.address }),
  (entry, sort) => SORT_KEYS[sort](entry),
);

/** The filtered and sorted pairs. Ties by address ascending; nulls last in both orders. */
export function listPairs(
  entries: readonly PairEntry[],
  filter: PairFilter,
  sort: PairSort,
  order: Order,
): readonly PairEntry[] {
  const search = filter.searchText === null ? null : readPairSearch(filter.searchText);
  const sortedEntries = rankings.sorted(entries, sort, order);
  const isAll =
    search === null &&
    filter.dex === null &&
    filter.token === null &&
    (filter.hooks ?? null) === null &&
    (filter.minLiquidityUsd ?? null) === null;
  return isAll ? sortedEntries : sortedEntries.filter((entry) => passesFilter(entry, filter, search));
}

interface PairSearch {
  /** The search text in lower case. */
  readonly text: string;
  /** The words of the text, if they may be the symbols of a pair in any order. */
  readonly words: readonly string[];
}

export function readPairSearch(q: string): PairSearch {
  const text = q.toLowerCase();
  return { text, words: splitPairWords(text) };
}

function passesFilter(entry: PairEntry, filter: PairFilter, search: PairSearch | null): boolean {
  const { pool, tokens } = entry;
  if (filter.dex !== null && pool.dex.toLowerCase() !== filter.dex) return false;
  if (filter.token !== null && !tokensOfPool(pool).includes(filter.token)) return false;
  if (filter.hooks != null && !fitsHooks(pool, filter.hooks)) return false;
  if (entry.liquidityUsd < (filter.minLiquidityUsd ?? 0)) return false;
  return search === null || fitsPair(entry, search, tokens.name);
}

function fitsHooks({ hooks, hook_bits: hookBits }: StoredPool, filter: HookFilter): boolean {
  if (filter === 'none' || filter === 'any') return (hooks === null) === (filter === 'none');
  return permissionsOf({ hooks, hookBits }).includes(filter);
}

/** Whether a text finds a pair: by `name`, by an address, or by the names or symbols of its tokens. */
export function fitsPair({ pool, tokens }: PairEntry, { text, words }: PairSearch, name: string): boolean {
  const addresses = [pool.address, ...tokensOfPool(pool)];
  if (text.startsWith('0x') && addresses.some((address) => address.startsWith(text))) return true;
  const names = [name, tokens.name, ...tokens.all.flatMap((token) => [token.symbol, token.name])];
  if (names.some((tokenName) => tokenName !== null && tokenName.toLowerCase().includes(text))) return true;
  if (words.length === 0) return false;
  const symbols = tokens.all.flatMap(({ symbol }) => symbol?.toLowerCase() ?? []);
  return matchQualityOfWords(symbols, words) > 0;
}
