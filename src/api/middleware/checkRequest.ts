/** Checks each request before routing: the method, the URL length and the body size. */
import type { IncomingMessage } from 'node:http';

import type Koa from 'koa';

import { AppError } from '../../errors';
import { dialectError, TEXTS } from '../etherscan/answers';
import { VERIFY_BODY_MAX, takesForms } from '../etherscan/mounts';
import type { RequestState } from '../route';
import { takesVerifications } from '../sourcify/paths';

/** A body longer than this is not read to its end; the connection closes after the answer. */
const DRAIN_BYTES_MAX = 33_554_432;
/** Slowest accepted pace for the remaining bytes of a body. If a client is slower, the connection is closed. */
const PACE_BYTES = 65_536;
const PACE_MS = 100;

/**
 * Reads and discards the remaining bytes of a request, within limits. If the connection closed while the client still
 * sends, the client would see an error instead of the answer.
 */
function drainBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let takenBytes = 0;
    let bytesAtLastCheck = 0;
    const stopDraining = (): void => {
      clearInterval(paceTimer);
      request.off('data', countBytes);
      resolve();
    };
    const countBytes = (chunk: Buffer): void => {
      takenBytes += chunk.length;
      if (takenBytes > DRAIN_BYTES_MAX) stopDraining();
    };
    const paceTimer = setInterval(() => {
      if (takenBytes - bytesAtLastCheck < PACE_BYTES) stopDraining();
      bytesAtLastCheck = takenBytes;
    }, PACE_MS);
    request.on('data', countBytes);
    for (const event of ['end', 'close', 'error']) request.once(event, stopDraining);
    request.resume();
  });
}

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
