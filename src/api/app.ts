/**
 * The Koa application: the middleware around the list of routes. The application starts before the database is up;
 * until then, endpoints that need the database answer 503.
 */
import cors from '@koa/cors';
import Router from '@koa/router';
import Koa from 'koa';

import { AppError, errorText } from '../errors';
import type { Logger } from '../log';
import { takesForms } from './etherscan/mounts';
import { answerErrors } from './middleware/answerErrors';
import { answerInDialect, answerLikeSourcify } from './middleware/answerInDialect';
import { findClient } from './middleware/clientAddress';
import { createFailureLog } from './middleware/failureLog';
import { compressAnswers } from './middleware/compressAnswers';
import { conditional } from './middleware/conditional';
import { limitLoad, NO_LIMITS, type LoadLimits } from './middleware/limitLoad';
import { limitRate } from './middleware/limitRate';
import { allowedMethods, ALLOWED_METHODS, checkRequest, FORM_METHODS } from './middleware/checkRequest';
import { chooseChain, splitChainPath } from './middleware/chooseChain';
import { setHeaders } from './middleware/setHeaders';
import type { RequestState, Route, ServedChain } from './route';
import { suggestPath } from './suggestPath';
import { takesVerifications } from './sourcify/paths';

/** The options of the first chain have its endpoints. */
export interface AppOptions extends Pick<ServedChain, 'routes' | 'head' | 'onReader'> {
  /** All chains that paths may name now. Default: none. */
  readonly chains?: () => readonly ServedChain[];
  readonly log: Logger;
  /** Value of Access-Control-Allow-Origin: `*` or one origin. */
  readonly corsOrigin: string;
  /** Allowed requests per client address and minute; 0 means no limit. */
  readonly rateLimitPerMinute: number;
  /**
   * Limits on the requests in flight and on the data read, per client, and on event loop delay. Default: no
   * limits.
   */
  readonly load?: LoadLimits;
  /** Networks of the proxies whose X-Forwarded-For header names the client. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Called for each answered request. `route` is the path of the matching route, or `none`. */
  readonly observe?: (route: string, method: string, status: number, seconds: number) => void;
}

const EXPOSED_HEADERS = [
  'ETag',
  'Link',
  'Retry-After',
  'Server-Timing',
  'X-Indexed-Block',
  'X-Indexed-Block-Hash',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

/** Codes of errors that mean that the client closed the connection, which is no fault. */
const CLIENT_LEFT_CODES: ReadonlySet<unknown> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** An error shows at most this many characters of a path. */
const PATH_SHOWN_MAX = 200;

/** Creates the application; pass `callback()` to an HTTP server. */
export function createApp(options: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>();
  // Errors outside the middleware, such as a socket that closes during an answer, go to the log.
  app.on('error', (error: unknown) => {
    const hasClientLeft =
      typeof error === 'object' && error !== null && 'code' in error && CLIENT_LEFT_CODES.has(error.code);
    if (hasClientLeft)
      options.log.debug({ error: errorText(error) }, 'the client left before an answer was complete');
    else options.log.warn({ err: error }, 'an answer could not be sent completely');
  });
  const isUnlimited = matchPaths(
    options.routes.filter((route) => route.limited === false).map(({ path }) => path),
  );
  const listChains = options.chains ?? (() => []);
  app.use(findClient(options.trustedProxies ?? []));
  app.use(chooseChain(options, listChains));
  app.use(async (ctx, next) => {
    if (!isUnlimited(ctx.path)) await ctx.state.chain.onReader?.();
    await next();
  });
  app.use(setHeaders(options.observe));
  app.use(allowOrigins(options.corsOrigin));
  app.use(compressAnswers());
  app.use(conditional());
  app.use(answerLikeSourcify());
  const failures = createFailureLog(options.log);
  app.use(answerErrors(failures));
  app.use(answerInDialect(failures));
  app.use(checkRequest());
  app.use(limitLoad(options.load ?? NO_LIMITS, isUnlimited, options.log));
  if (options.rateLimitPerMinute > 0) app.use(limitRate(options.rateLimitPerMinute, isUnlimited));
  app.use(createRouter(options.routes).routes());
  app.use((ctx) => {
    if (ctx.method !== 'OPTIONS') throw missingEndpoint(ctx, options.routes, listChains());
    ctx.set('Allow', allowedMethods(ctx.path).join(', '));
    ctx.status = 204;
  });
  return app;
}

/** The router of the first chain's paths. All chains have the same paths; the handler is the one of the asked chain. */
function createRouter(routes: readonly Route[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  for (const route of routes) {
    const { path, method } = route;
    const methods = route.takesForms === true ? ['get', 'post'] : [method ?? 'get'];
    router.register(path, methods, async (ctx) => {
      ctx.state.route = path;
      const { chain } = ctx.state;
      const ofChain =
        chain.routes === routes
          ? route
          : chain.routes.find((each) => each.path === path && each.method === method);
      await ofChain?.handle(ctx);
    });
  }
  return router;
}

/** The error of a path without an endpoint. It lists the chains if the path names an unknown one. */
function missingEndpoint(
  ctx: Koa.ParameterizedContext<RequestState>,
  routes: readonly Route[],
  chains: readonly ServedChain[],
): AppError {
  const paths = routes.map(({ path }) => path);
  const [path = ''] = ctx.originalUrl.split('?');
  const askedPath =
    chains.length === 0 || ctx.state.chainPrefix !== undefined ? null : splitChainPath(ctx.path);
  if (askedPath !== null && (/^\d+$/.test(askedPath.word) || matchPaths(paths)(askedPath.path))) {
    const chainNames = chains.map(({ chainId, slug }) =>
      slug === '' ? `${chainId}` : `${chainId} (${slug})`,
    );
    const word = askedPath.word.slice(0, PATH_SHOWN_MAX);
    return new AppError(
      'not_found',
      `there is no chain ${word} here; known chains: ${chainNames.join(', ')}`,
    );
  }
  const { chainPrefix = '' } = ctx.state;
  const suggestedPath = suggestPath(ctx.path, paths)?.replace(/^(\/api\/v1)?/, (base) => base + chainPrefix);
  const hint = suggestedPath === undefined ? '' : `; did you mean ${suggestedPath.slice(0, PATH_SHOWN_MAX)}?`;
  return new AppError('not_found', `there is no endpoint at ${path.slice(0, PATH_SHOWN_MAX)}${hint}`);
}

function allowOrigins(origin: string): Koa.Middleware<RequestState> {
  const corsFor = (allowMethods: string[]): Koa.Middleware =>
    cors({ origin, allowMethods, exposeHeaders: EXPOSED_HEADERS });
  const corsForReads = corsFor(ALLOWED_METHODS);
  const corsForForms = corsFor(FORM_METHODS);
  return (ctx, next) =>
    takesForms(ctx.path) || takesVerifications(ctx.path) ? corsForForms(ctx, next) : corsForReads(ctx, next);
}

/** Returns a function that tells whether a path matches one of the patterns. Each parameter is one segment. */
function matchPaths(patterns: readonly string[]): (path: string) => boolean {
  const plainPaths = new Set(patterns.filter((pattern) => !pattern.includes(':')));
  const patternsWithParams = patterns
    .filter((pattern) => pattern.includes(':'))
    .map((pattern) => pattern.split('/'));
  return (path) => {
    if (plainPaths.has(path)) return true;
    const segments = path.split('/');
    return patternsWithParams.some(
      (patternSegments) =>
        patternSegments.length === segments.length &&
        patternSegments.every((patternSegment, index) =>
          patternSegment.startsWith(':') ? segments[index] !== '' : patternSegment === segments[index],
        ),
    );
  };
}
