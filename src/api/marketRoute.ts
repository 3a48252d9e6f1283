/**
 * What the market's endpoints have in common: parse, take the snapshot, answer out of the byte cache. An endpoint says
 * only which parameters it has, what its answer looks like and how to make it.
 */
import type { z } from 'zod';

import type { QueryRunner } from '../clickhouse/namedQueries';
import type { Burn } from '../domain/chainDescription';
import { AppError } from '../errors';
import type { ActivityCounter } from '../query/activity';
import type { Hex } from '../domain/hex';
import type { DexFacts } from '../query/dexItem';
import type { DexTables } from '../query/dexTable';
import type { HeadSnapshot } from '../query/headSnapshot';
import type { HolderTables } from '../query/holders';
import type { PairTables } from '../query/pairTable';
import type { PoolDirectory } from '../query/poolDirectory';
import type { PriceSources } from '../query/tokenPrices';
import type { AuditTables } from '../query/auditTables';
import type { TokenTables } from '../query/tokenTable';
import type { ByteCache } from './byteCache';
import { parseParams, parsePath, type Params, type ParsedOf } from './params';
import type { Route } from './route';

/** What the endpoints need to know of the chain description. */
export interface ChainFacts extends PriceSources {
  readonly chainId: number;
  readonly burn: Burn | null;
  readonly majors: readonly Hex[];
  readonly dexes: readonly DexFacts[];
}

export interface MarketDeps {
  readonly runner: QueryRunner;
  /** The block that answers are as of; null while the database is away or nothing is indexed. */
  head(): HeadSnapshot | null;
  readonly cache: ByteCache;
  readonly directory: PoolDirectory;
  readonly pairs: PairTables;
  readonly tokens: TokenTables;
  readonly audits: AuditTables;
  readonly dexes: DexTables;
  readonly holders: HolderTables;
  readonly activityCounter: ActivityCounter;
  readonly chain: ChainFacts;
}

interface MarketEndpoint<P extends Params, Q extends Params, Answer> {
  readonly path: string;
  readonly summary: string;
  readonly pathParams?: P;
  readonly query: Q;
  readonly answer: z.ZodType<Answer>;
  readonly errors: readonly (400 | 404 | 503)[];
  /** Refuses what only several parameters together show. Throws bad_request. */
  check?(params: ParsedOf<P> & ParsedOf<Q>): void;
  /** Makes the answer as of a snapshot. The same parameters and the same head version give the same answer. */
  read(params: ParsedOf<P> & ParsedOf<Q>, head: HeadSnapshot): Promise<Answer>;
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
      tag: 'market',
      query,
      answer,
      errors: endpoint.errors,
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
      const { body, etag } = await deps.cache.get(key, () => endpoint.read(params, head));
      ctx.type = 'application/json';
      ctx.set('ETag', etag);
      ctx.body = body;
    },
  };
}
