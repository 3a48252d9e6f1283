/** Starts the API on a free loopback port, for tests that speak HTTP. */
import { request } from 'node:http';

import { createByteCache } from '../../../src/api/byteCache';
import type { ChainFacts, MarketDeps } from '../../../src/api/marketScope';
import type { Route } from '../../../src/api/route';
import { listRoutes } from '../../../src/api/routes';
import type { QueryRunner } from '../../../src/clickhouse/client/namedQueries';
import type { AccountState } from '../../../src/domain/accountState';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { createBalanceSeeds } from '../../../src/query/holders/balanceSeeds';
import { createMarketTables } from '../../../src/query/marketTables';
import { serveRoutes, type ServeOptions } from './serveRoutes';
import { CHAIN_ID, hexOf } from '../worlds/world';

/** Facts about the test chain. The first token is the wrapped native token, the second an anchor. */
export const CHAIN: ChainFacts = {
  chainId: CHAIN_ID,
  nativeSymbol: 'PLS',
  wrappedNative: hexOf('aa', 0, 40),
  anchors: [{ address: hexOf('aa', 1, 40), symbol: 'USDC', priceUsd: 1.0025 }],
  majors: [],
  burn: {
    token: hexOf('aa', 5, 40),
    addresses: [hexOf('00', 0, 40), '0x000000000000000000000000000000000000dead'],
  },
  dexes: [
    { name: 'pulsex_v1', displayName: 'PulseX V1', protocol: 'uniswap_v2', factory: hexOf('fa', 0, 40) },
    {
      name: 'pulsex_v2',
      displayName: 'PulseX V2',
      protocol: 'uniswap_v2',
      factory: hexOf('fa', 9, 40),
      protocolFeeShare: 0.24,
    },
    { name: 'nine_v3', displayName: '9mm V3', protocol: 'pancake_v3', factory: hexOf('fa', 2, 40) },
    { name: 'empty_dex', displayName: 'Empty', protocol: 'balancer_v2', factory: hexOf('fa', 8, 40) },
  ],
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly bytes: Buffer;
  /** The parsed body; undefined if the body is empty. */
  readonly json: Json;
}

/** Any JSON value. Tests read fields without a check of the shape. */
export type Json = { readonly [key: string]: Json } & readonly Json[];

export interface ApiServer {
  readonly market: MarketDeps;
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface ApiOptions extends ServeOptions {
  /** Routes that the API has in addition to the market's routes. */
  readonly routes?: readonly Route[];
  readonly node?: AccountState;
  readonly chain?: ChainFacts;
}

export async function startApi(
  runner: QueryRunner,
  head: () => HeadSnapshot | null,
  { routes = [], node, chain = CHAIN, ...options }: ApiOptions = {},
): Promise<ApiServer> {
  const market: MarketDeps = {
    ...createMarketTables(runner, chain),
    head,
    cache: createByteCache(),
    wallets: { node: node ?? null, seeds: createBalanceSeeds() },
    chain,
  };
  const { port, close } = await serveRoutes(listRoutes(market, routes), { ...options, head });
  return { market, get: (path, headers = {}, method = 'GET') => send(port, path, headers, method), close };
}

/** Uses plain node:http, which sends paths and headers exactly as given. */
function send(port: number, path: string, headers: Record<string, string>, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString();
        const headerTexts = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        const json = text.startsWith('{') ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: headerTexts, text, bytes, json });
      });
    });
    call.on('error', reject);
    call.end();
  });
}
