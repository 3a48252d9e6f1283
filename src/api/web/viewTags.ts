/**
 * Tags of the views of the page. The figures come from tables of the head that all requests share, so a link to an unknown
 * address costs no query of its own.
 */
import type { HeadSnapshot } from '../../query/head/headSnapshot';
import { shapeOf } from '../../domain/pools/poolShape';
import type { MarketTables } from '../../query/marketTables';
import type { PairItem } from '../../wire/pairs';
import type { TokenItem } from '../../wire/tokens';
import { changeFigure, priceFigure, shortHex, symbolFigure, usdFigure } from './figures';
import { GENERAL_TAGS, type PageTags, type Site } from './pageTags';

/**
 * The API requests with which a view of the page begins, here the market page without parameters. The HTML names them, so
 * that the browser sends them before the modules of the page have loaded. Each must equal the page's own request, or the
 * browser sends both.
 */
export const MARKET_REQUESTS: readonly string[] = [
  '/api/v1/overview',
  '/api/v1/dexes?limit=100',
  '/api/v1/tokens?sort=volume_24h_usd&order=desc&page=1&limit=25&min_liquidity_usd=1000',
  '/api/v1/dexes?limit=12',
];

/** `address` is a valid address in lower case. */
const pairRequests = (address: string): readonly string[] => [`/api/v1/pairs/${address}`];

/** `address` is a valid address in lower case. */
const tokenRequests = (address: string): readonly string[] => [
  `/api/v1/tokens/${address}/audit`,
  `/api/v1/tokens/${address}`,
];

export interface ViewTables extends Pick<MarketTables, 'pairs' | 'tokens' | 'dexes' | 'poolNames'>, Site {}

/** Figures of an earlier head are good enough for this time, in ms. */
const TABLE_AGE_MAX_MS = 10_000;
/** The page does not wait longer than this for the tables of a new head. Then it has the figures of an earlier head. */
const TABLE_WAIT_MS = 400;

/** Views without a parameter, with title and description. */
const PLAIN_VIEWS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  tokens: ['Tokens', 'All tokens with price, changes, volume, liquidity and holders'],
  pairs: ['Pairs', 'All pairs with price, changes, volume, liquidity, fees and APR'],
  watchlist: ['Watchlist', 'The tokens and pairs that you watch'],
  dexes: ['DEXes', 'DEXes with market share, volume, liquidity and fees'],
  alerts: ['Alerts', 'Alerts about prices, large swaps and new pairs'],
  search: ['Search', 'Search over tokens, pairs, contracts, blocks, transactions and source code'],
  logs: ['Logs', 'Decoded logs by contract, event, address and block'],
  portfolio: ['Portfolio', 'Tokens, LP shares and V3 positions of a wallet, with values'],
  contract: ['Contracts', 'Contracts with logs, reads, source code and ABI'],
};

/** The tags of a view without a parameter; '' is the market page. */
export function plainTags(view: string): PageTags {
  const [title, description] = PLAIN_VIEWS[view] ?? [];
  return title === undefined || description === undefined
    ? { ...GENERAL_TAGS, path: `/${view}` }
    : { ...GENERAL_TAGS, title: withSiteName(title), description, path: `/${view}` };
}

/** A page on another chain than the market's has the parameter `chainId`. */
interface AskedView {
  readonly view: string;
  /** The parameter in the path, such as an address. */
  readonly pathParam: string;
  /** The parameter `chainId`; null for the chain of the market. */
  readonly chain: string | null;
}

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const BLOCK_MAX = 4_294_967_295;

/** The tags of a view with a parameter. Null if what it names does not exist. General tags if that is not known yet. */
export async function findViewTags(
  tables: ViewTables | null,
  head: HeadSnapshot | null,
  asked: AskedView,
): Promise<PageTags | null> {
  const { view, chain } = asked;
  const lowerText = asked.pathParam.toLowerCase();
  if (view === 'tx') return HASH.test(lowerText) ? hexTags('tx', 'Transaction', lowerText, chain) : null;
  if (view === 'block') return isBlock(lowerText) ? hexTags('block', 'Block', lowerText, chain) : null;
  if (view === 'dex')
    return tables === null || head === null ? GENERAL_TAGS : dexTags(tables, head, lowerText);
  if (!ADDRESS.test(lowerText) && !(view === 'pair' && HASH.test(lowerText))) return null;
  if (view === 'portfolio') return hexTags('portfolio', 'Portfolio', lowerText, null);
  if (view === 'contract') return hexTags('contract', 'Contract', lowerText, chain);
  if (view === 'address' && chain !== null) return hexTags('address', 'Address', lowerText, chain);
  const tags = tables === null || head === null ? undefined : await namedTags(tables, head, view, lowerText);
  if (view === 'address') return tags ?? hexTags('address', 'Address', lowerText, null);
  return tags === undefined ? GENERAL_TAGS : tags;
}

function isBlock(text: string): boolean {
  return HASH.test(text) || (/^\d{1,10}$/.test(text) && Number(text) <= BLOCK_MAX);
}

/** An entry of a table: null if there is none, undefined if the table is not ready in time. */
type LookedUp<T> = T | null | undefined;

/** Like `marketTags`, for the address of a pool or its id. */
async function namedTags(
  tables: ViewTables,
  head: HeadSnapshot,
  view: string,
  name: string,
): Promise<LookedUp<PageTags>> {
  const names = await tables.poolNames.at(head).catch(() => null);
  if (names === null) return undefined;
  return names.show(await marketTags(tables, head, view, names.resolve(name)));
}

/** Tags of a pair or token. Null if there is none at the address. */
async function marketTags(
  tables: ViewTables,
  head: HeadSnapshot,
  view: string,
  address: string,
): Promise<LookedUp<PageTags>> {
  const findPair = (): Promise<LookedUp<PairItem>> =>
    lookUp(tables.pairs, head, ({ byAddress }) => byAddress.get(address)?.item);
  const findToken = (): Promise<LookedUp<TokenItem>> =>
    lookUp(tables.tokens, head, ({ byAddress }) => byAddress.get(address)?.item);
  if (view !== 'token') {
    const pair = await findPair();
    if (pair != null) return pairTags(pair);
    if (view === 'pair') return pair;
  }
  const token = await findToken();
  if (token != null) return tokenTags(token);
  const pool = view === 'token' ? await findPair() : null;
  if (pool == null) return pool === null ? token : undefined;
  return lpTags(pool);
}

interface TableReader<T> {
  at(head: HeadSnapshot): Promise<T>;
  latest(maxAgeMs?: number): T | null;
}

/**
 * Finds an item in a recent table, or else in the table of the head, or in the last finished one if that is not ready in
 * time or fails. Null if the table of the head does not have the item.
 */
async function lookUp<T, Item>(
  tables: TableReader<T>,
  head: HeadSnapshot,
  find: (table: T) => Item | undefined,
): Promise<LookedUp<Item>> {
  const recentTable = tables.latest(TABLE_AGE_MAX_MS);
  const recentItem = recentTable === null ? undefined : find(recentTable);
  if (recentItem !== undefined) return recentItem;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), TABLE_WAIT_MS);
  });
  const newestTable = await Promise.race([tables.at(head).catch(() => null), timeout]);
  clearTimeout(timer);
  if (newestTable !== null) return find(newestTable) ?? null;
  const lastTable = tables.latest();
  return lastTable === null ? undefined : find(lastTable);
}

function hexTags(view: string, name: string, text: string, chain: string | null): PageTags {
  const suffix = chain === null ? '' : `?chainId=${encodeURIComponent(chain)}`;
  return {
    ...GENERAL_TAGS,
    title: withSiteName(`${name} ${shortHex(text)}`),
    description: `${name} ${text}`,
    path: `/${view}/${text}${suffix}`,
  };
}

async function dexTags(tables: ViewTables, head: HeadSnapshot, name: string): Promise<PageTags | null> {
  const dex = await lookUp(tables.dexes, head, ({ items }) =>
    items.find(({ dex_name }) => dex_name.toLowerCase() === name),
  );
  if (dex == null) return dex === null ? null : GENERAL_TAGS;
  const poolCountText = dex.pool_count === 1 ? '1 pool' : `${dex.pool_count} pools`;
  return {
    ...GENERAL_TAGS,
    title: withSiteName(dex.display_name),
    description: `Volume in 24 h ${usdFigure(dex.volume_24h_usd)}, liquidity ${usdFigure(dex.tvl_usd)}, ${poolCountText}`,
    path: `/dex/${encodeURIComponent(dex.dex_name)}`,
  };
}

/** The page of an LP token, which names its pair. */
function lpTags(item: PairItem): PageTags | null {
  if (!shapeOf(item.pool_type).hasLpToken) return null;
  const title = `LP token of ${pairName(item)}`;
  return { ...GENERAL_TAGS, title: withSiteName(title), description: title, path: `/token/${item.address}` };
}

const withSiteName = (text: string): string => `${text} · Candlehouse`;

const pairName = ({ base_token, quote_token }: PairItem): string =>
  `${symbolFigure(base_token)} / ${symbolFigure(quote_token)}`;

function pairTags(item: PairItem): PageTags {
  const requests = pairRequests(item.address);
  return {
    ...figureTags(pairName(item), item, `on ${item.dex_name}`),
    ...linksOf('pair', item.address),
    requests,
  };
}

function tokenTags(item: TokenItem): PageTags {
  const poolCountText = item.pool_count === 1 ? 'in 1 pool' : `in ${item.pool_count} pools`;
  const requests = tokenRequests(item.address);
  return {
    ...figureTags(symbolFigure(item), item, poolCountText),
    ...linksOf('token', item.address),
    requests,
  };
}

function linksOf(view: 'pair' | 'token', address: string): Pick<PageTags, 'path' | 'picture'> {
  return { path: `/${view}/${address}`, picture: `/preview/${view}/${address}.png` };
}

function figureTags(
  name: string,
  item: Pick<PairItem, 'price_usd' | 'price_change_24h' | 'liquidity_usd' | 'volume_24h_usd'>,
  /** Where the item trades: `on <DEX>` or `in <n> pools`. Ends the description. */
  venueText: string,
): Pick<PageTags, 'title' | 'description'> {
  const price = priceFigure(item.price_usd);
  const change = changeFigure(item.price_change_24h);
  const title = price === null ? name : `${name} $${price}`;
  const figureTexts = [
    ['Price', price === null ? null : `$${price}`],
    ['change in 24 h', change],
    ['liquidity', usdFigure(item.liquidity_usd)],
    ['volume in 24 h', usdFigure(item.volume_24h_usd)],
  ].map(([label, figure]) => `${label} ${figure ?? 'unknown'}`);
  return {
    title: withSiteName(change === null ? title : `${title} (${change})`),
    description: `${figureTexts.join(', ')}, ${venueText}`,
  };
}
