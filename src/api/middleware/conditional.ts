/** ETag and Cache-Control on every body that is whole, and 304 for clients that have it already. */
import type Koa from 'koa';

import { etagOf, matchesEtag } from '../etag';
import type { RequestState } from '../route';

/** Keep it, but ask each time: a new block may have changed it, and a 304 is cheap. */
const CACHE_CONTROL = 'public, max-age=0, must-revalidate';

export function conditional(): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    const body: unknown = ctx.body;
    if (ctx.headerSent || !(typeof body === 'string' || Buffer.isBuffer(body))) return;
    if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', CACHE_CONTROL);
    if (!ctx.response.get('ETag')) ctx.set('ETag', etagOf(body));
    const condition = ctx.get('If-None-Match');
    if (ctx.status === 200 && condition !== '' && matchesEtag(condition, ctx.response.get('ETag'))) {
      ctx.status = 304;
      ctx.body = null;
      ctx.status = 304;
    }
  };
}
