/**
 * What every endpoint does that answers as of a block: read what is asked, answer it out of the byte cache, and say a refusal
 * in the words of its dialect. An endpoint says only which parameters it has, what its answer looks like and how it is made.
 */
import type { z } from 'zod';

import { AppError } from '../errors';
import type { ByteCache } from './byteCache';
import { chooseTable, linkNext, TABLE_FORMATS, TABLE_TYPES, type Table } from './formats';
import { toJsonBody } from './jsonBody';
import { parseParams, parsePath, type Params, type ParsedOf } from './params';
import type { QueryRunner } from '../clickhouse/client/namedQueries';
import type { Route, RouteContext, RouteDoc } from './route';

/** The part of an endpoint that its documentation is made of. */
export interface Endpoint<P extends Params, Q extends Params, Answer> {
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly pathParams?: P;
  readonly query: Q;
  readonly answer: z.ZodType<Answer>;
  readonly errors: readonly (400 | 404 | 503)[];
  /** Refuses what only several parameters together show. Throws bad_request. */
  check?(params: ParsedOf<P> & ParsedOf<Q>): void;
}

/** What a caller asks for. */
export interface Question<Answer> {
  /** Names the answer in the cache: the question, and the head version that it is as of. Null: too long to be kept. */
  readonly key: string | null;
  /** The same key gives the same answer. Throws AppError or Refusal. */
  read(): Promise<Answer>;
  /** How long the answer may be given again, ms; null, and by default: as long as there is room. */
  keepMs?(answer: Answer): number | null;
  /** The answer as a table, for callers who accept one. */
  readonly asTable?: { readonly runner: QueryRunner; of(answer: Answer): Table };
}

/** A refusal in a dialect's own words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super(`refused with status ${status}`);
  }
}

/** A handler. `refuse`: the dialect's words for an error; null, and by default: the app's own. */
export function answering<Answer>(
  cache: ByteCache,
  ask: (ctx: RouteContext) => Question<Answer> | Promise<Question<Answer>>,
  refuse: (error: AppError) => Refusal | null = () => null,
): Route['handle'] {
  return async (ctx) => {
    try {
      await answer(cache, ctx, await ask(ctx));
    } catch (error) {
      const refusal = error instanceof AppError ? refuse(error) : error;
      if (!(refusal instanceof Refusal)) throw error;
      ctx.status = refusal.status;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = Buffer.from(JSON.stringify(refusal.body));
    }
  };
}

async function answer<Answer>(
  cache: ByteCache,
  ctx: RouteContext,
  { key, read, keepMs, asTable }: Question<Answer>,
): Promise<void> {
  const type = asTable === undefined ? null : chooseTable(ctx);
  if (asTable !== undefined && type !== null) {
    const table = asTable.of(await read());
    ctx.body = await asTable.runner.write(table.query, table.columns, TABLE_FORMATS[type]);
    ctx.type = type;
    return linkNext(ctx, table.next);
  }
  const { body, etag } = key === null ? await toJsonBody(await read()) : await cache.get(key, read, keepMs);
  ctx.type = 'application/json';
  ctx.set('ETag', etag);
  ctx.body = body;
}

/** The values of an endpoint's parameters. Throws bad_request. */
export function readParams<P extends Params, Q extends Params>(
  endpoint: Pick<Endpoint<P, Q, unknown>, 'pathParams' | 'query' | 'check'>,
  ctx: RouteContext,
): ParsedOf<P> & ParsedOf<Q> {
  const inPath = parsePath<Params>(endpoint.pathParams ?? {}, ctx.params);
  // The declarations of P and Q made these values.
  const params = { ...inPath, ...parseParams<Params>(endpoint.query, ctx) } as ParsedOf<P> & ParsedOf<Q>;
  endpoint.check?.(params);
  return params;
}

export function docOf<P extends Params, Q extends Params, Answer>(
  { summary, description, pathParams, query, answer, errors }: Endpoint<P, Q, Answer>,
  tag: RouteDoc['tag'],
  hasTables = false,
): RouteDoc {
  return {
    summary,
    tag,
    ...(description === undefined ? {} : { description }),
    query,
    answer,
    errors,
    ...(hasTables ? { otherTypes: TABLE_TYPES } : {}),
    ...(pathParams === undefined ? {} : { path: pathParams }),
  };
}
