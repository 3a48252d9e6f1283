/**
 * Makes the routes of endpoints that answer JSON from one block. An endpoint declares its parameters, its answer shape
 * and how to read the answer. Its scope decides which chain and which block the answer describes.
 */
import type { z } from 'zod';

import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { AppError } from '../errors';
import { answering, type Question, type Refusal } from './answering';
import type { ByteCache } from './byteCache';
import { FORMAT_PARAMS, TABLE_TYPES } from './formats/formats';
import { findListTable } from './formats/listTable';
import { parseParams, parsePath, type Params, type ParsedOf } from './params';
import type { Route, RouteContext, RouteDoc } from './route';

/** What the endpoints of one kind share. `Deps` are their dependencies, `S` the parameters of the scope itself. */
export interface Scope<Deps, S extends Params, At> {
  readonly tag: RouteDoc['tag'];
  /** Query parameters that every endpoint of the scope has. */
  params(deps: Deps): S;
  /** Changes the query string before it is parsed. */
  spell?(querystring: string): string;
  /**
   * Prepares the answer to a request. `what` names the endpoint and its parameters, for the cache key. `read` reads
   * the answer from what it gets. Throws unavailable.
   */
  ask<Answer>(
    deps: Deps,
    ctx: RouteContext,
    params: ParsedOf<S>,
    what: string,
    read: (at: At) => Promise<Answer>,
  ): Question<Answer>;
  /** Translates an error into the format of a dialect. Null leaves the error to the app. */
  refuse?(error: AppError): Refusal | null;
  /** A database that writes answers as Parquet or Arrow. Any will do, because the query reads no table. */
  findRunner(deps: Deps): QueryRunner | null;
}

interface Endpoint<Deps, S extends Params, At, P extends Params, Q extends Params, Answer> {
  readonly scope: Scope<Deps, S, At>;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly pathParams?: P;
  readonly query: Q;
  readonly answer: z.ZodType<Answer>;
  readonly errors: readonly (400 | 404 | 503)[];
  /** Checks rules that involve several parameters. Throws bad_request. */
  check?(params: ParsedOf<P> & ParsedOf<Q>): void;
  /** Longest time in ms for which the cache keeps the answer, in place of the scope's. */
  keepMs?(answer: Answer): number | null;
  /** Reads the answer. The same parameters and head version give the same answer. */
  read(params: ParsedOf<P> & ParsedOf<Q>, at: At): Promise<Answer>;
}

export function route<
  Deps extends { readonly cache: ByteCache },
  S extends Params,
  At,
  P extends Params,
  Q extends Params,
  Answer,
>(deps: Deps, endpoint: Endpoint<Deps, S, At, P, Q, Answer>): Route {
  const { scope, path, summary, description, pathParams, query, answer, errors, keepMs } = endpoint;
  const scopeQueryParams = scope.params(deps);
  const listTable = findListTable(answer);
  const doc: RouteDoc = {
    summary,
    tag: scope.tag,
    query: { ...query, ...scopeQueryParams, ...(listTable === null ? {} : FORMAT_PARAMS) },
    answer,
    errors,
    ...(description === undefined ? {} : { description }),
    ...(listTable === null ? {} : { otherTypes: TABLE_TYPES }),
    ...(pathParams === undefined ? {} : { path: pathParams }),
  };
  const ask = (ctx: RouteContext): Question<Answer> => {
    if (scope.spell !== undefined) ctx.querystring = scope.spell(ctx.querystring);
    const ownParams = parseParams(query, ctx, Object.keys(scopeQueryParams));
    const params = { ...parsePath(pathParams, ctx.params), ...ownParams };
    endpoint.check?.(params);
    const scopeParams = parseParams(scopeQueryParams, ctx, Object.keys(query));
    const requestKey = `${path} ${JSON.stringify(params)}`;
    const question = scope.ask(deps, ctx, scopeParams, requestKey, (at) => endpoint.read(params, at));
    const runner = listTable === null ? null : scope.findRunner(deps);
    return {
      ...question,
      ...(keepMs === undefined ? {} : { keepMs }),
      ...(listTable === null || runner === null ? {} : { asTable: { runner, of: listTable } }),
    };
  };
  return { path, doc, handle: answering(deps.cache, ask, scope.refuse) };
}
