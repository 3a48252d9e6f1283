/**
 * Makes the routes of endpoints that answer JSON from one block. An endpoint declares its parameters, its answer shape
 * and how to read the answer. Its scope decides which chain and which block the answer describes.
 */
import type { z } from 'zod';

import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { AppError } from '../errors';
import type { PoolNames } from '../query/pairs/poolNames';
import { answering, type Question, type Refusal } from './answering';
import type { ByteCache } from './byteCache';
import { FORMAT_PARAMS, TABLE_TYPES } from './formats/formats';
import { findListTable } from './formats/listTable';
import { parseParams, parsePath, type Params, type ParsedOf } from './params';
import type { Route, RouteContext, RouteDoc } from './route';

/** What the endpoints of one kind share. `Deps` are their dependencies, `ScopeParams` the parameters of the scope itself. */
export interface Scope<Deps, ScopeParams extends Params, Moment> {
  readonly tag: RouteDoc['tag'];
  /** Query parameters that every endpoint of the scope has. */
  params(deps: Deps): ScopeParams;
  /** Changes the query string before it is parsed. */
  spell?(querystring: string): string;
  /**
   * Prepares the answer to a request. `requestKey` names the endpoint and its parameters, for the cache key. `read`
   * reads the answer as of a moment. Throws unavailable.
   */
  ask<Answer>(
    deps: Deps,
    ctx: RouteContext,
    params: ParsedOf<ScopeParams>,
    requestKey: string,
    read: (moment: Moment) => Promise<Answer>,
  ): Question<Answer>;
  /** Translates an error into the format of a dialect. Null leaves the error to the app. */
  refuse?(error: AppError): Refusal | null;
  /** The names of the pools of a moment. Absent if the endpoints name no pool. */
  names?(deps: Deps, moment: Moment): Promise<Partial<PoolNames>>;
  /** A database that writes answers as Parquet or Arrow. Any will do, because the query reads no table. */
  findRunner(deps: Deps): QueryRunner | null;
}

interface Endpoint<
  Deps,
  ScopeParams extends Params,
  Moment,
  PathParams extends Params,
  QueryParams extends Params,
  Answer,
> {
  readonly scope: Scope<Deps, ScopeParams, Moment>;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly pathParams?: PathParams;
  readonly query: QueryParams;
  readonly answer: z.ZodType<Answer>;
  readonly errors: readonly (400 | 404 | 503)[];
  /** Checks rules that involve several parameters. Throws bad_request. */
  check?(params: ParsedOf<PathParams> & ParsedOf<QueryParams>): void;
  /** Longest time in ms for which the cache keeps the answer, in place of the scope's. */
  keepMs?(answer: Answer): number | null;
  /** Reads the answer. The same parameters and head version give the same answer. */
  read(params: ParsedOf<PathParams> & ParsedOf<QueryParams>, moment: Moment): Promise<Answer>;
}

export function route<
  Deps extends { readonly cache: ByteCache },
  ScopeParams extends Params,
  Moment,
  PathParams extends Params,
  QueryParams extends Params,
  Answer,
>(deps: Deps, endpoint: Endpoint<Deps, ScopeParams, Moment, PathParams, QueryParams, Answer>): Route {
  const { scope, path, summary, description, pathParams, query, answer, errors, keepMs } = endpoint;
  const scopeParamTypes = scope.params(deps);
  const listTable = findListTable(answer);
  const doc: RouteDoc = {
    summary,
    tag: scope.tag,
    query: { ...query, ...scopeParamTypes, ...(listTable === null ? {} : FORMAT_PARAMS) },
    answer,
    errors,
    ...(description === undefined ? {} : { description }),
    ...(listTable === null ? {} : { otherTypes: TABLE_TYPES }),
    ...(pathParams === undefined ? {} : { path: pathParams }),
  };
  const ask = (ctx: RouteContext): Question<Answer> => {
    if (scope.spell !== undefined) ctx.querystring = scope.spell(ctx.querystring);
    const ownParams = parseParams(query, ctx, Object.keys(scopeParamTypes));
    const params = { ...parsePath(pathParams, ctx.params), ...ownParams };
    endpoint.check?.(params);
    const scopeValues = parseParams(scopeParamTypes, ctx, Object.keys(query));
    const requestKey = `${path} ${JSON.stringify(params)}`;
    const question = scope.ask(deps, ctx, scopeValues, requestKey, async (moment) => {
      const names = await scope.names?.(deps, moment);
      try {
        const answered = await endpoint.read(names?.resolve?.(params) ?? params, moment);
        return names?.show?.(answered) ?? answered;
      } catch (error) {
        throw names?.showError?.(error, params) ?? error;
      }
    });
    const runner = listTable === null ? null : scope.findRunner(deps);
    return {
      ...question,
      ...(keepMs === undefined ? {} : { keepMs }),
      ...(listTable === null || runner === null ? {} : { asTable: { runner, toTable: listTable } }),
    };
  };
  return { path, doc, handle: answering(deps.cache, ask, scope.refuse) };
}
