/**
 * What the market's endpoints have in common: parse, take the snapshot, answer out of the byte cache. An endpoint says
 * only which parameters it has, what its answer looks like and how to make it.
 */
import type { z } from 'zod';

import type { Burn } from '../domain/chainDescription';
import { AppError } from '../errors';
import type { Hex } from '../domain/hex';
import type { HeadSnapshot } from '../query/headSnapshot';
import type { Market, MarketChain } from '../query/market';
import type { WalletNode } from '../query/walletState';
import type { ByteCache, CachedAnswer } from './byteCache';
import { chooseTable, linkNext, TABLE_FORMATS, TABLE_TYPES, type Table } from './formats';
import { parseParams, parsePath, type Params, type ParsedOf } from './params';
import type { Route, RouteContext, RouteDoc } from './route';

/** What the endpoints need to know of the chain description. */
export interface ChainFacts extends MarketChain {
  readonly nativeSymbol: string;
  readonly burn: Burn | null;
  readonly majors: readonly Hex[];
}

export interface MarketDeps extends Market {
  /** The block that answers are as of; null while the database is away or nothing is indexed. */
  head(): HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly wallets: WalletNode;
  readonly chain: ChainFacts;
}

export interface MarketEndpoint<P extends Params, Q extends Params, Answer> {
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Default `market`. */
  readonly tag?: RouteDoc['tag'];
  readonly pathParams?: P;
  readonly query: Q;
  readonly answer: z.ZodType<Answer>;
  readonly errors: readonly (400 | 404 | 503)[];
  /** Refuses what only several parameters together show. Throws bad_request. */
  check?(params: ParsedOf<P> & ParsedOf<Q>): void;
  /** How long an answer may be given again, ms; null, and by default: until the head changes. */
  keepMs?(answer: Answer): number | null;
  /** The answer as a table, for those who accept one. */
  table?(answer: Answer): Table;
  /** Makes the answer as of a snapshot. The same parameters and the same head version give the same answer. */
  read(params: ParsedOf<P> & ParsedOf<Q>, head: HeadSnapshot): Promise<Answer>;
}

function send(ctx: RouteContext, type: string, { body, etag }: CachedAnswer): void {
  ctx.type = type;
  ctx.set('ETag', etag);
  ctx.body = body;
}

/** A route that answers JSON as of the head of the moment. */
export function marketRoute<P extends Params, Q extends Params, Answer>(
  deps: MarketDeps,
  endpoint: MarketEndpoint<P, Q, Answer>,
): Route {
  const { path, pathParams, query, answer } = endpoint;
  return {
    path,
    doc: {
      summary: endpoint.summary,
      tag: endpoint.tag ?? 'market',
      ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
      query,
      answer,
      errors: endpoint.errors,
      ...(endpoint.table === undefined ? {} : { otherTypes: TABLE_TYPES }),
      ...(pathParams === undefined ? {} : { path: pathParams }),
    },
    async handle(ctx): Promise<void> {
      const inPath = parsePath<Params>(pathParams ?? {}, ctx.params);
      const inQuery = parseParams<Params>(query, ctx);
      // The declarations of P and Q made these values.
      const params = { ...inPath, ...inQuery } as ParsedOf<P> & ParsedOf<Q>;
      endpoint.check?.(params);
      const head = ctx.state.head;
      if (head === null)
        throw new AppError('unavailable', 'no block is indexed yet, or the database is away');
      const key = `${head.version} ${path} ${JSON.stringify(params)}`;
      const json = await deps.cache.get(key, () => endpoint.read(params, head), endpoint.keepMs);
      const type = endpoint.table === undefined ? null : chooseTable(ctx);
      if (type === null || endpoint.table === undefined) return send(ctx, 'application/json', json);
      // Out of the JSON answer, so that both say the same.
      const table = endpoint.table(answer.parse(JSON.parse(json.body.toString())));
      const format = TABLE_FORMATS[type];
      const made = await deps.cache.get(`${key} ${format}`, () =>
        deps.runner.write(table.query, table.columns, format),
      );
      linkNext(ctx, table.next);
      send(ctx, type, made);
    },
  };
}
