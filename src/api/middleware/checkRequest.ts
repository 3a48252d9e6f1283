/** What is refused before any route is looked at: other methods than reading, and URLs without end. */
import type Koa from 'koa';

import { AppError } from '../../errors';
import type { RequestState } from '../route';

export const ALLOWED_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const URL_LENGTH_MAX = 4_096;

export function checkRequest(): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    if (!ALLOWED_METHODS.includes(ctx.method)) {
      ctx.set('Allow', ALLOWED_METHODS.join(', '));
      throw new AppError(
        'method_not_allowed',
        `${ctx.method} is not allowed; allowed: ${ALLOWED_METHODS.join(', ')}`,
      );
    }
    if (ctx.url.length > URL_LENGTH_MAX) {
      throw new AppError(
        'bad_request',
        `the URL has ${ctx.url.length} characters; allowed: at most ${URL_LENGTH_MAX}`,
      );
    }
    await next();
  };
}
