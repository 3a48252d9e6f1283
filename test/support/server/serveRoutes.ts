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

/** Answers may take long on a busy machine, so idle sockets stay open for five minutes. */
const IDLE_TIMEOUT_MS = 300_000;

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
  return listen(
    createHttpServer(app.callback(), { ...HTTP_LIMITS, idleTimeoutMs: IDLE_TIMEOUT_MS, ...limits }),
  );
}
