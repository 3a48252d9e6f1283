/**
 * Serves API routes over HTTP, by default without a log and a rate limit. Each JSON answer is compared with the OpenAPI
 * document.
 */
import { createApp, type AppOptions } from '../../../src/api/app';
import { createHttpServer, HTTP_LIMITS, type HttpLimits } from '../../../src/api/httpServer';
import type { Route } from '../../../src/api/route';
import { createLog } from '../../../src/log';
import { checkAnswers } from './checkAnswers';
import { listen, type Listening } from './listen';

export interface ServeOptions extends Partial<Omit<AppOptions, 'routes'>> {
  readonly limits?: Partial<HttpLimits>;
}

/** On a busy machine requests and answers may take long, so the server closes no socket because of time. */
const LONG_MS = 600_000;
const LONG_TIMEOUTS: Partial<HttpLimits> = {
  headersTimeoutMs: LONG_MS,
  requestTimeoutMs: LONG_MS,
  idleTimeoutMs: LONG_MS,
  keepAliveMs: LONG_MS,
};

export function serveRoutes(
  routes: readonly Route[],
  { limits, ...options }: ServeOptions = {},
): Promise<Listening> {
  const app = createApp({
    routes,
    head: () => null,
    log: createLog('silent', false),
    corsOrigin: '*',
    rateLimitPerMinute: 0,
    ...options,
  });
  // The check is the outermost middleware, so it sees the answer as it is sent.
  app.middleware.unshift(checkAnswers(routes));
  return listen(createHttpServer(app.callback(), { ...HTTP_LIMITS, ...LONG_TIMEOUTS, ...limits }));
}
