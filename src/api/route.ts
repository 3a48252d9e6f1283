/**
 * What an endpoint is to the app: a path, how it is documented and a handler. Endpoints are functions that take what
 * they need and give a Route; `routes.ts` lists them all.
 */
import type Koa from 'koa';
import type { z } from 'zod';

import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { Params } from './params';

/** What the app lays down for the handlers of a request. */
export interface RequestState {
  requestId: string;
  /** The block that this answer is as of, the same for its headers and its body. */
  head: HeadSnapshot | null;
  /** Path of the route that matched, for logs and metrics. */
  route?: string;
}

/** A Koa context whose path parameters are known. */
export type RouteContext = Koa.ParameterizedContext<RequestState> & {
  readonly params: Readonly<Record<string, string>>;
};

/** What the OpenAPI document says about a route. */
export interface RouteDoc {
  readonly summary: string;
  readonly tag: 'market' | 'stream' | 'service' | 'udf' | 'dexscreener' | 'explorer' | 'etherscan';
  readonly description?: string;
  /** Path parameters by name, in the order of the path. */
  readonly path?: Params;
  /** Query parameters by name. */
  readonly query?: Params;
  /** Shape of the 200 answer; absent where it is not JSON. */
  readonly answer?: z.ZodType;
  /** Media type of the 200 answer, default application/json. */
  readonly mediaType?: string;
  /** Media types that the same answer is given in to those who accept them. */
  readonly otherTypes?: readonly string[];
  /** Error statuses beside 405, 429 and 500, which every route may give. */
  readonly errors?: readonly (400 | 404 | 503)[];
}

export interface Route {
  /** In the words of @koa/router: `/api/v1/pairs/:address/ticks`. */
  readonly path: string;
  readonly doc: RouteDoc;
  /** Whether it takes POST beside GET and HEAD, as clients of the Etherscan dialect send it; default false. */
  readonly takesForms?: boolean;
  /** Whether calls count towards the rate limit; default true. */
  readonly limited?: boolean;
  /**
   * Answers a GET (or HEAD): sets `ctx.body` and, where it differs from 200, `ctx.status`. Throws AppError for what
   * the caller did wrong. Whatever Buffer or string stands in `ctx.body` gets its ETag and 304 from the app.
   */
  handle(ctx: RouteContext): Promise<void> | void;
}
