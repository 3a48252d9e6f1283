/**
 * The interface between an endpoint and the app: a path, documentation and a handler. An endpoint is a function that
 * takes its dependencies and returns a Route. `routes.ts` lists them all.
 */
import type Koa from 'koa';
import type { z } from 'zod';

import type { HeadSnapshot } from '../query/head/headSnapshot';
import type { Params } from './params';
import type { ActionDoc } from '../wire/dialects/etherscan';

/** Values that the app sets for each request. */
export interface RequestState {
  requestId: string;
  /** The chain whose endpoints answer. */
  chain: Pick<ServedChain, 'routes' | 'head' | 'onReader'>;
  /** The part of the path that names the chain, such as `/8453`. Absent if the path names none. */
  chainPrefix?: string;
  /** The newest block that this answer includes, for the headers and the body. */
  head: HeadSnapshot | null;
  /** Path of the route that matched, for logs and metrics. */
  route?: string;
}

/** A Koa context whose path parameters have types. */
export type RouteContext = Koa.ParameterizedContext<RequestState> & {
  readonly params: Readonly<Record<string, string>>;
};

/** The OpenAPI documentation of a route. */
export interface RouteDoc {
  readonly summary: string;
  readonly tag: 'market' | 'stream' | 'service' | 'udf' | 'dexscreener' | 'explorer' | 'etherscan';
  readonly description?: string;
  /** Path parameters by name, in the order in which they appear in the path. */
  readonly path?: Params;
  /** Query parameters by name. */
  readonly query?: Params;
  /** Shape of the 200 answer; absent if the answer is not JSON. */
  readonly answer?: z.ZodType;
  /** Media type of the 200 answer, default application/json. */
  readonly mediaType?: string;
  /** Other media types of the same answer. The Accept header chooses one. */
  readonly otherTypes?: readonly string[];
  /** Statuses of errors besides 405, 429 and 500. Every route can return those three. */
  readonly errors?: readonly (400 | 404 | 409 | 503)[];
  /** Shapes of errors in the format of a dialect, by status. Other errors have the shape Error. */
  readonly dialectErrors?: Readonly<Record<number, z.ZodType>>;
  /** Whether the document shows an example call, which must answer 200 for any stored data. Default true. */
  readonly hasExample?: boolean;
  /** Status of a success, default 200. */
  readonly status?: 200 | 202;
  /** Shape of the JSON body of a POST. */
  readonly body?: z.ZodType;
  /** The actions of the route, in the extension `x-actions` of the document. */
  readonly actions?: readonly ActionDoc[];
  /** The path with the same answers that describes them, in the extension `x-alias-of` of the document. */
  readonly aliasOf?: string;
}

export interface Route {
  /** Path of the route in the syntax of @koa/router: `/api/v1/pairs/:address/ticks`. */
  readonly path: string;
  readonly doc: RouteDoc;
  /** Whether the route accepts POST besides GET and HEAD, for clients of the Etherscan dialect. Default
   * false. */
  readonly takesForms?: boolean;
  /** `post` if the route accepts POST only. Default `get`. */
  readonly method?: 'get' | 'post';
  /** Whether requests count towards the rate limit. Default true. */
  readonly limited?: boolean;
  /**
   * Answers a GET or HEAD: sets `ctx.body`, and `ctx.status` if it is not 200. Throws AppError for a caller's mistake.
   * The app adds the ETag and the 304 to a Buffer or string in `ctx.body`.
   */
  handle(ctx: RouteContext): Promise<void> | void;
}

/** A chain whose endpoints have paths. */
export interface ServedChain {
  readonly chainId: number;
  /** Name in paths besides the id. */
  readonly slug: string;
  /** Endpoints by their paths without a chain. */
  readonly routes: readonly Route[];
  /** The newest block, up to which answers are complete; null until the first block is known. */
  head(): HeadSnapshot | null;
  /** Called before each request that may read the head. The request waits until the promise resolves. */
  onReader?(): Promise<void>;
}
