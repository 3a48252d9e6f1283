/** Sets ETag and Cache-Control on complete bodies, and answers 304 if the client already has the body. */
import type Koa from 'koa';

import { etagOf, findEtag } from '../etag';
import type { RequestState } from '../route';

/** Clients may store answers but must revalidate: a new block may have changed them, and a 304 is cheap. */
const CACHE_CONTROL = 'public, max-age=0, must-revalidate';

export function conditional(): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const body: unknown = ctx.body;
    if (ctx.headerSent || !(typeof body === 'string' || Buffer.isBuffer(body))) return;
    if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', CACHE_CONTROL);
    if (!ctx.response.get('ETag')) ctx.set('ETag', etagOf(body));
    const knownEtag = findEtag(ctx.get('If-None-Match'), ctx.response.get('ETag'));
    if (ctx.status === 200 && knownEtag !== null) {
      ctx.set('ETag', knownEtag);
      ctx.status = 304;
      ctx.body = null;
      ctx.status = 304;
    }
  };
}
