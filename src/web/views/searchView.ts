/** The search page: results of the explorer's search, or else of tokens and pairs, and matching source lines. */
import type { PairItem } from '../../wire/pairs';
import type { TokenItem } from '../../wire/tokens';
import { ApiFailure, getAnswer } from '../core/api.ts';
import {
  blockPath,
  contractPath,
  dexPath,
  pairPath,
  tokenPath,
  transactionPath,
  walletPath,
  type View,
} from '../core/app.ts';
import { listedPairLiquidity, listedTokenLiquidity } from '../core/countedLiquidity.ts';
import { h } from '../core/dom.ts';
import type { ListAnswer, SearchHit } from '../core/explorerAnswers.ts';
import { formatUsdPrice, symbolOf } from '../core/format.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { badge } from '../core/pieces.ts';
import { sourceHits } from './sourceSearch.ts';

/** One search result. */
export interface SearchResult {
  readonly kind: string;
  readonly title: string;
  readonly subtitle: string | Node;
  readonly path: string;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** A block number as the page shows it. */
const GROUPED_NUMBER = /^\d{1,3}(,\d{3})+$/;
/** Longest text of a search, and of a search in the lists of tokens and pairs. */
export const SEARCH_TEXT_MAX = 128;
const LIST_SEARCH_TEXT_MAX = 64;

/** Finds the objects that an address or text may name, the most likely first. */
export async function findAnything(
  text: string,
  limit: number,
  signal: AbortSignal,
): Promise<SearchResult[]> {
  const searchText = GROUPED_NUMBER.test(text) ? text.replaceAll(',', '') : text;
  if (ADDRESS.test(searchText)) return findByAddress(searchText, signal);
  try {
    const { data } = await getAnswer<ListAnswer<SearchHit>>('/search', { q: searchText, limit }, signal);
    const hits = data.map(fromHit).filter((hit): hit is SearchResult => hit !== null);
    if (hits.length > 0) return hits;
  } catch (error) {
    // Without an explorer, search the market's lists.
    if (signal.aborted || !(error instanceof ApiFailure)) throw error;
  }
  if (searchText.length > LIST_SEARCH_TEXT_MAX) return [];
  const [tokens, pairs] = await Promise.all([
    getAnswer<{ data: readonly TokenItem[] }>('/tokens', { q: searchText, limit }, signal),
    getAnswer<{ data: readonly PairItem[] }>('/pairs', { q: searchText, limit }, signal),
  ]);
  return [...tokens.data.map(fromToken), ...pairs.data.map(fromPair)].slice(0, limit * 2);
}

/** Asks the API whether the address is a token, a pair or a contract. It is always a wallet too. */
async function findByAddress(address: string, signal: AbortSignal): Promise<SearchResult[]> {
  const checkedAddress =
    address.toLowerCase() === address || address.toUpperCase() === address ? address.toLowerCase() : address;
  const askApi = async <T>(path: string, toResult: (data: T) => SearchResult): Promise<SearchResult[]> => {
    try {
      return [toResult((await getAnswer<{ data: T }>(path, {}, signal)).data)];
    } catch (error) {
      if (signal.aborted) throw error;
      // A wrong checksum is shown to the user. Any other failure means that this part of the API does not
      // know the address.
      if (error instanceof ApiFailure && error.status === 400) throw error;
      return [];
    }
  };
  const lowerCase = checkedAddress.toLowerCase();
  const parts = await Promise.all([
    askApi<TokenItem>(`/tokens/${checkedAddress}`, fromToken),
    askApi<PairItem>(`/pairs/${checkedAddress}`, fromPair),
    askApi<{ name: string | null; type: string }>(`/contracts/${checkedAddress}`, ({ name, type }) => ({
      kind: 'contract',
      title: name ?? lowerCase,
      subtitle: type,
      path: contractPath(lowerCase),
    })),
  ]);
  return [
    ...parts.flat(),
    { kind: 'wallet', title: lowerCase, subtitle: 'Portfolio of this address', path: walletPath(lowerCase) },
  ];
}

function fromToken(token: TokenItem): SearchResult {
  const facts = `${token.name ?? ''} · ${formatUsdPrice(token.price_usd)} · liquidity `;
  const subtitle = h('span', {}, facts, listedTokenLiquidity(token));
  return { kind: 'token', title: symbolOf(token), subtitle, path: tokenPath(token.address) };
}

function fromPair(pair: PairItem): SearchResult {
  const title = `${symbolOf(pair.base_token)}/${symbolOf(pair.quote_token)}`;
  return {
    kind: 'pair',
    title,
    subtitle: h('span', {}, `${pair.dex_name} · liquidity `, listedPairLiquidity(pair)),
    path: pairPath(pair.address),
  };
}

function fromHit(hit: SearchHit): SearchResult | null {
  const id = hit.address ?? hit.hash ?? String(hit.number ?? '');
  const page = pageOf(hit);
  return page === null
    ? null
    : { kind: hit.type, title: hit.title ?? id, subtitle: hit.subtitle ?? '', path: page };
}

/** The page of a hit; null for a function, which has none. */
function pageOf({ type, ...hit }: SearchHit): string | null {
  // The subtitle of a DEX is its short name.
  if (type === 'dex') return dexPath(hit.subtitle ?? '');
  if (type === 'block' && typeof hit.number === 'number') return blockPath(hit.number);
  if (typeof hit.hash === 'string') {
    if (type === 'tx') return transactionPath(hit.hash);
    return type === 'event' ? `/logs?topic0=${hit.hash}` : null;
  }
  if (typeof hit.address !== 'string') return null;
  const pathOf = Object.hasOwn(ADDRESS_PAGES, type) ? ADDRESS_PAGES[type] : contractPath;
  return pathOf?.(hit.address) ?? null;
}

const ADDRESS_PAGES: Readonly<Record<string, (address: string) => string>> = {
  token: tokenPath,
  pair: pairPath,
  address: walletPath,
};

const RESULTS_MAX = 25;

export const searchView: View = (app, place, main, signal) => {
  const searchText = (place.query.get('q') ?? '').trim();
  app.setTitle(searchText === '' ? 'Search' : `${searchText} · search`);
  if (searchText === '') {
    main.replaceChildren(
      h('h1', {}, 'Search'),
      emptyNotice('Search for a symbol, a name, an address or a line of source code.'),
    );
    return;
  }
  const sources = h(
    'section',
    { class: 'card source-card' },
    h('div', { class: 'card-bar' }, h('h2', {}, 'Source code')),
    sourceHits(searchText, 'text', null, signal),
  );
  const resultBox = loadingPanel({
    load: async (loadSignal) => {
      try {
        return await findAnything(searchText.slice(0, SEARCH_TEXT_MAX), RESULTS_MAX, loadSignal);
      } finally {
        // Source results are placed below the list once the list has its final height, so that the list does not move.
        if (!loadSignal.aborted) main.append(sources);
      }
    },
    render: (results) =>
      results.length === 0
        ? emptyNotice(`No results for “${searchText}”`)
        : h('ul', { class: 'found-list' }, ...results.map(foundItem)),
    skeleton: () => skeleton(300, 7),
    signal,
  });
  main.replaceChildren(
    h('h1', {}, 'Search: ', h('span', { class: 'quote' }, searchText)),
    h('section', { class: 'card' }, resultBox.element),
  );
};

function foundItem(result: SearchResult): HTMLElement {
  return h(
    'li',
    {},
    h(
      'a',
      { href: result.path },
      badge(result.kind),
      h('strong', {}, result.title),
      h('span', { class: 'muted' }, result.subtitle),
    ),
  );
}
