/** Checks each request before routing: the method, the URL length and the body size. */
import type Koa from 'koa';

import { AppError } from '../../errors';
import { dialectError, TEXTS } from '../etherscan/answers';
import { VERIFY_BODY_MAX, takesForms } from '../etherscan/mounts';
import type { RequestState } from '../route';
import { takesVerifications } from '../sourcify/paths';
import { drainBody } from './drainBody';

export const ALLOWED_METHODS = ['GET', 'HEAD', 'OPTIONS'];
/** Allowed methods of the paths that accept forms. */
export const FORM_METHODS = [...ALLOWED_METHODS, 'POST'];
/** Allowed methods of Sourcify's verification. */
const VERIFY_METHODS = ['OPTIONS', 'POST'];
const URL_LENGTH_MAX = 4_096;
/** Size limit of a request body in bytes. Only a few paths read a body. */
const BODY_BYTES_MAX = 1_048_576;

export function allowedMethods(path: string): readonly string[] {
  if (takesVerifications(path)) return VERIFY_METHODS;
  return takesForms(path) ? FORM_METHODS : ALLOWED_METHODS;
}

export function checkRequest(): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const bodyBytes = Number(ctx.get('Content-Length') || 0);
    const hasBody = bodyBytes > 0 || ctx.get('Transfer-Encoding') !== '';
    try {
      refuseUnread(ctx, bodyBytes, hasBody);
      await next();
    } finally {
      if (hasBody) await drainBody(ctx.req);
    }
  };
}

/** Throws if no route can accept the request. */
function refuseUnread(
  ctx: Koa.ParameterizedContext<RequestState>,
  bodyBytes: number,
  hasBody: boolean,
): void {
  const methods = allowedMethods(ctx.path);
  const allowed = methods.includes(ctx.method);
  const bytesMax = takesForms(ctx.path) || takesVerifications(ctx.path) ? VERIFY_BODY_MAX : BODY_BYTES_MAX;
  // No handler reads this body, so the connection is closed after the answer.
  if (hasBody && (ctx.method !== 'POST' || !allowed || bodyBytes > bytesMax)) ctx.set('Connection', 'close');
  if (!allowed) {
    ctx.set('Allow', methods.join(', '));
    throw new AppError('method_not_allowed', `${ctx.method} is not allowed; allowed: ${methods.join(', ')}`);
  }
  if (ctx.url.length > URL_LENGTH_MAX) {
    throw new AppError(
      'bad_request',
      `the URL has ${ctx.url.length} characters; allowed: at most ${URL_LENGTH_MAX}`,
    );
  }
  if (bodyBytes > bytesMax) {
    if (takesForms(ctx.path)) throw dialectError(TEXTS.largeBody);
    throw new AppError('bad_request', `the body has ${bodyBytes} bytes; allowed: at most ${bytesMax}`);
  }
}
