/**
 * Examples for the OpenAPI document, from real data. The handlers answer calls that are built from a stored
 * pair, its token and a wallet. Routes that are not in this list are called with their default parameters.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import Koa from 'koa';

import { ALL_ACTIVITY, listNewestEvents } from '../query/activity/activity';
import type { HeadSnapshot } from '../query/head/headSnapshot';
import { isDecoded } from '../wire/activity';
import type { MarketDeps } from './marketScope';
import type { RequestState, Route } from './route';

/** The stored values that example calls use as parameters. */
interface ExampleFacts {
  readonly pair: string;
  readonly token: string;
  readonly dex: string;
  readonly wallet: string;
  readonly block: string;
}

export interface Example {
  /** The path of the example call, with its query string. */
  readonly call: string;
  /** The parameters of the example call, as texts by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly answer: unknown;
}

/** Examples by path of the route. */
export type Examples = ReadonlyMap<string, Example>;

/** Parameters by path of the route. Parameters that are not listed keep their defaults. */
const CALLS: Readonly<Record<string, (facts: ExampleFacts) => Readonly<Record<string, string>>>> = {
  '/api/v1/tokens/:address': ({ token }) => ({ address: token }),
  '/api/v1/tokens/:address/pools': ({ token }) => ({ address: token, limit: '2' }),
  '/api/v1/tokens/:address/holders': ({ token }) => ({ address: token, limit: '2' }),
  '/api/v1/tokens/:address/audit': ({ token }) => ({ address: token }),
  '/api/v1/tokens/:address/ticks': ({ token }) => ({ address: token, timeframe: '1m', limit: '2' }),
  '/api/v1/pairs/:address': ({ pair }) => ({ address: pair }),
  '/api/v1/pairs/:address/ticks': ({ pair }) => ({
    address: pair,
    timeframe: '1m',
    currency: 'quote',
    limit: '2',
  }),
  '/api/v1/dexes/:dex_name': ({ dex }) => ({ dex_name: dex, days: '2' }),
  '/api/v1/portfolio/:address': ({ wallet }) => ({ address: wallet }),
  '/udf/symbols': ({ pair }) => ({ symbol: pair }),
  '/udf/history': ({ pair }) => ({ symbol: pair, resolution: '1', countback: '2' }),
  '/udf/quotes': ({ pair }) => ({ symbols: pair }),
  '/dexscreener/asset': ({ token }) => ({ id: token }),
  '/dexscreener/pair': ({ pair }) => ({ id: pair }),
  '/dexscreener/events': ({ block }) => ({ fromBlock: block, toBlock: block }),
  '/api/v1/contracts/:address': ({ token }) => ({ address: token }),
  '/api/v1/contracts/:address/events': ({ token }) => ({ address: token, limit: '2' }),
  '/api/v1/search': ({ token }) => ({ q: token, limit: '2' }),
  '/api': ({ pair }) => ({ module: 'logs', action: 'getLogs', address: pair, offset: '2' }),
  '/api/v1/source-search': () => ({ q: 'transfer', limit: '2' }),
};

export interface ExampleSource {
  /** The examples at one head. A route that cannot answer yet has no example. */
  at(head: HeadSnapshot): Promise<Examples>;
}

/**
 * Builds the examples once per head version until every route has answered, then keeps them. A route that fails at a head
 * keeps its example of an earlier head.
 */
export function createExamples(market: MarketDeps): (routes: readonly Route[]) => ExampleSource {
  return (routes) => {
    let newestRead: { readonly version: string; readonly examples: Promise<Examples> } | null = null;
    let lastExamples: Examples = new Map();
    const routesWithExample = routes.filter(hasExample);
    const callRoutes = async (head: HeadSnapshot): Promise<Examples> => {
      const facts = await findFacts(market, head).catch(() => null);
      if (facts === null) return lastExamples;
      const examples = new Map(lastExamples);
      for (const route of routesWithExample) {
        const example = await callRoute(route, paramsOf(route, facts), head).catch(() => null);
        if (example !== null) examples.set(route.path, example);
      }
      lastExamples = examples;
      return examples;
    };
    return {
      async at(head) {
        if (lastExamples.size === routesWithExample.length) return lastExamples;
        if (newestRead?.version !== head.version)
          newestRead = { version: head.version, examples: callRoutes(head) };
        return newestRead.examples;
      },
    };
  };
}

/** The deepest pair; pairs with trades in the last 24 hours come first. Null if there is no pair. */
async function findFacts(market: MarketDeps, head: HeadSnapshot): Promise<ExampleFacts | null> {
  const { entries } = await market.pairs.at(head);
  const [deepestPair] = [...entries].sort(
    (a, b) =>
      Number(b.item.tx_24h > 0) - Number(a.item.tx_24h > 0) || b.item.liquidity_usd - a.item.liquidity_usd,
  );
  if (deepestPair === undefined) return null;
  const page = { beforeOrd: null, skip: 0, limit: 1 };
  const [event] = await listNewestEvents(market.runner, head, ALL_ACTIVITY, page);
  const maker = event !== undefined && isDecoded(event.item) ? event.item.maker : null;
  return {
    pair: deepestPair.item.address,
    token: deepestPair.item.base_token.address,
    dex: deepestPair.item.dex_name,
    wallet: maker ?? deepestPair.item.address,
    block: String(event?.item.block_number ?? head.number),
  };
}

/**
 * Whether a route can answer an example call. A route with parameters in its path needs an entry in CALLS,
 * because such parameters have no defaults.
 */
function hasExample({ path, method, doc }: Route): boolean {
  if (doc.answer === undefined || doc.hasExample === false) return false;
  return method !== 'post' && (CALLS[path] !== undefined || !path.includes(':'));
}

function paramsOf({ path, doc }: Route, facts: ExampleFacts): Readonly<Record<string, string>> {
  const paramsOfRoute = CALLS[path];
  if (paramsOfRoute !== undefined) return paramsOfRoute(facts);
  return doc.query !== undefined && 'limit' in doc.query ? { limit: '2' } : {};
}

/** Calls the route's handler with these parameters. Returns null if the answer is not JSON with status
 * 200. */
async function callRoute(
  route: Route,
  params: Readonly<Record<string, string>>,
  head: HeadSnapshot,
): Promise<Example | null> {
  const pathParamNames = Object.keys(route.doc.path ?? {});
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const query = new URLSearchParams(
    Object.entries(params).filter(([name]) => !pathParamNames.includes(name)),
  ).toString();
  const request = new IncomingMessage(new Socket());
  request.method = 'GET';
  request.url = query === '' ? path : `${path}?${query}`;
  const context = new Koa<RequestState>().createContext(request, new ServerResponse(request));
  Object.assign(context.state, { requestId: 'example', head });
  await route.handle(Object.assign(context, { params }));
  const body: unknown = context.body;
  if (context.status !== 200 || !(Buffer.isBuffer(body) || typeof body === 'string')) return null;
  return { call: request.url, params, answer: JSON.parse(body.toString()) };
}
