/**
 * The interface between an endpoint and the app: a path, documentation and a handler. An endpoint is a function that
 * takes its dependencies and returns a Route. `routes.ts` lists them all.
 */
import type Koa from 'koa';
import type { z } from 'zod';

import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { Params } from './params';

/** State that the app sets up for each request. */
export interface RequestState {
  requestId: string;
  /** The block that this answer is as of, for the headers and the body. */
  head: HeadSnapshot | null;
  /** Path of the matching route, for logs and metrics. */
  route?: string;
}

/** A Koa context with typed path parameters. */
export type RouteContext = Koa.ParameterizedContext<RequestState> & {
  readonly params: Readonly<Record<string, string>>;
};

/** The OpenAPI documentation of a route. */
export interface RouteDoc {
  readonly summary: string;
  readonly tag: 'market' | 'stream' | 'service' | 'udf' | 'dexscreener' | 'explorer' | 'etherscan';
  readonly description?: string;
  /** Path parameters by name, in the order of the path. */
  readonly path?: Params;
  /** Query parameters by name. */
  readonly query?: Params;
  /** Shape of the 200 answer; absent if the answer is not JSON. */
  readonly answer?: z.ZodType;
  /** Media type of the 200 answer, default application/json. */
  readonly mediaType?: string;
  /** Other media types of the same answer, chosen by the Accept header. */
  readonly otherTypes?: readonly string[];
  /** Error statuses besides 405, 429 and 500, which every route can return. */
  readonly errors?: readonly (400 | 404 | 503)[];
}

export interface Route {
  /** Path in the syntax of @koa/router: `/api/v1/pairs/:address/ticks`. */
  readonly path: string;
  readonly doc: RouteDoc;
  /** Whether the route takes POST besides GET and HEAD, as clients of the Etherscan dialect send. Default false. */
  readonly takesForms?: boolean;
  /** Whether requests count towards the rate limit. Default true. */
  readonly limited?: boolean;
  /**
   * Answers a GET or HEAD: sets `ctx.body`, and `ctx.status` if it is not 200. Throws AppError for a caller's mistake.
   * The app adds the ETag and the 304 to a Buffer or string in `ctx.body`.
   */
  handle(ctx: RouteContext): Promise<void> | void;
}
