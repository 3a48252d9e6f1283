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
import { emptyNotice, loaded, skeleton } from '../core/panel.ts';
import { badge } from '../core/pieces.ts';
import { sourceHits } from './sourceSearch.ts';

/** One search result. */
export interface Found {
  readonly kind: string;
  readonly title: string;
  readonly subtitle: string | Node;
  readonly path: string;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** A block number as the page shows it. */
const GROUPED = /^\d{1,3}(,\d{3})+$/;
/** Longest text of a search, and of a search in the lists of tokens and pairs. */
export const SEARCHED_MAX = 128;
const LISTED_TEXT_MAX = 64;

/** Finds the meanings of an address or text, the most likely first. */
export async function findAnything(text: string, limit: number, signal: AbortSignal): Promise<Found[]> {
  const q = GROUPED.test(text) ? text.replaceAll(',', '') : text;
  if (ADDRESS.test(q)) return whatIs(q, signal);
  try {
    const { data } = await getAnswer<ListAnswer<SearchHit>>('/search', { q, limit }, signal);
    const hits = data.map(fromHit).filter((hit): hit is Found => hit !== null);
    if (hits.length > 0) return hits;
  } catch (error) {
    // Without an explorer, search the market's lists.
    if (signal.aborted || !(error instanceof ApiFailure)) throw error;
  }
  if (q.length > LISTED_TEXT_MAX) return [];
  const [tokens, pairs] = await Promise.all([
    getAnswer<{ data: readonly TokenItem[] }>('/tokens', { q, limit }, signal),
    getAnswer<{ data: readonly PairItem[] }>('/pairs', { q, limit }, signal),
  ]);
  return [...tokens.data.map(fromToken), ...pairs.data.map(fromPair)].slice(0, limit * 2);
}

/** Asks each part of the API about the address. */
async function whatIs(address: string, signal: AbortSignal): Promise<Found[]> {
  const lowerCase =
    address.toLowerCase() === address || address.toUpperCase() === address ? address.toLowerCase() : address;
  const tryOne = async <T>(path: string, make: (data: T) => Found): Promise<Found[]> => {
    try {
      return [make((await getAnswer<{ data: T }>(path, {}, signal)).data)];
    } catch (error) {
      if (signal.aborted) throw error;
      // A wrong checksum is shown to the user. Any other failure means that this part of the API does not
      // know the address.
      if (error instanceof ApiFailure && error.status === 400) throw error;
      return [];
    }
  };
  const lower = lowerCase.toLowerCase();
  const parts = await Promise.all([
    tryOne<TokenItem>(`/tokens/${lowerCase}`, fromToken),
    tryOne<PairItem>(`/pairs/${lowerCase}`, fromPair),
    tryOne<{ name: string | null; type: string }>(`/contracts/${lowerCase}`, ({ name, type }) => ({
      kind: 'contract',
      title: name ?? lower,
      subtitle: type,
      path: contractPath(lower),
    })),
  ]);
  return [
    ...parts.flat(),
    { kind: 'wallet', title: lower, subtitle: 'Portfolio of this address', path: walletPath(lower) },
  ];
}

function fromToken(token: TokenItem): Found {
  const facts = `${token.name ?? ''} · ${formatUsdPrice(token.price_usd)} · liquidity `;
  const subtitle = h('span', {}, facts, listedTokenLiquidity(token));
  return { kind: 'token', title: symbolOf(token), subtitle, path: tokenPath(token.address) };
}

function fromPair(pair: PairItem): Found {
  const title = `${symbolOf(pair.base_token)}/${symbolOf(pair.quote_token)}`;
  return {
    kind: 'pair',
    title,
    subtitle: h('span', {}, `${pair.dex_name} · liquidity `, listedPairLiquidity(pair)),
    path: pairPath(pair.address),
  };
}

function fromHit(hit: SearchHit): Found | null {
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
  const make = Object.hasOwn(ADDRESS_PAGES, type) ? ADDRESS_PAGES[type] : contractPath;
  return make?.(hit.address) ?? null;
}

const ADDRESS_PAGES: Readonly<Record<string, (address: string) => string>> = {
  token: tokenPath,
  pair: pairPath,
  address: walletPath,
};

const LISTED_MAX = 25;

export const searchView: View = (app, place, main, signal) => {
  const q = (place.query.get('q') ?? '').trim();
  app.setTitle(q === '' ? 'Search' : `${q} · search`);
  if (q === '') {
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
    sourceHits(q, 'text', null, signal),
  );
  const results = loaded({
    load: async (life) => {
      try {
        return await findAnything(q.slice(0, SEARCHED_MAX), LISTED_MAX, life);
      } finally {
        // Source results are placed below the list once the list has its final height, so that the list does not move.
        if (!life.aborted) main.append(sources);
      }
    },
    render: (found) =>
      found.length === 0
        ? emptyNotice(`No results for “${q}”`)
        : h('ul', { class: 'found-list' }, ...found.map(foundItem)),
    skeleton: () => skeleton(300, 7),
    signal,
  });
  main.replaceChildren(
    h('h1', {}, 'Search: ', h('span', { class: 'quote' }, q)),
    h('section', { class: 'card' }, results.element),
  );
};

function foundItem(found: Found): HTMLElement {
  return h(
    'li',
    {},
    h(
      'a',
      { href: found.path },
      badge(found.kind),
      h('strong', {}, found.title),
      h('span', { class: 'muted' }, found.subtitle),
    ),
  );
}
