/** Sets the headers of every answer: request id, duration, block of the chain, and security headers for browsers. */
import { randomUUID } from 'node:crypto';

import type Koa from 'koa';

import type { RequestState } from '../route';

/** If the caller sends a request id of this form, the service keeps it, so that logs of several services can
 * be joined. */
const REQUEST_ID = /^[\w.:-]{1,64}$/;

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
} as const;

export function setHeaders(
  observe?: (route: string, method: string, status: number, seconds: number) => void,
): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const requestedId = ctx.get('X-Request-Id');
    ctx.state.requestId = REQUEST_ID.test(requestedId) ? requestedId : randomUUID();
    ctx.state.head = ctx.state.chain.head();
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set(SECURITY_HEADERS);
    if (ctx.state.head !== null) {
      ctx.set('X-Indexed-Block', String(ctx.state.head.number));
      ctx.set('X-Indexed-Block-Hash', ctx.state.head.hash);
    }
    await next();
    const milliseconds = performance.now() - startedAt;
    if (!ctx.headerSent) ctx.set('Server-Timing', `total;dur=${milliseconds.toFixed(2)}`);
    observe?.(ctx.state.route ?? 'none', ctx.method, ctx.status, milliseconds / 1000);
  };
}
