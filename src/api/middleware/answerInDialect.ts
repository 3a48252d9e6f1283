/**
 * Writes errors on the paths of the Etherscan dialect in its format, with status 200. This includes errors
 * raised before the handler runs.
 */
import type Koa from 'koa';
import { z } from 'zod';

import { AppError } from '../../errors';
import { refusalOf } from '../etherscan/answers';
import { isEtherscanPath } from '../etherscan/mounts';
import type { RequestState } from '../route';
import type { FailureLog } from './failureLog';
import { isSourcifyPath } from '../sourcify/paths';

export function answerInDialect(failures: FailureLog): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    if (!isEtherscanPath(ctx.path)) return next();
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null || ctx.headerSent) throw error;
      if (!(error instanceof AppError) || error.status >= 500)
        failures.tell({ requestId: ctx.state.requestId, path: ctx.path }, error);
      ctx.status = 200;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.remove('ETag');
      ctx.body = Buffer.from(JSON.stringify(refusal));
    }
  };
}

const errorShape = z.object({ success: z.literal(false), error: z.string(), code: z.string() });

/** Sourcify's codes of the errors of this service. Other errors are internal ones. */
const SOURCIFY_CODES: ReadonlyMap<string, string> = new Map([
  ['bad_request', 'invalid_parameter'],
  ['not_found', 'route_not_found'],
  ['method_not_allowed', 'method_not_allowed'],
  ['rate_limited', 'too_many_requests'],
]);

/** Rewrites errors on the paths of Sourcify's verification and list into Sourcify's format. */
export function answerLikeSourcify(): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    if (ctx.status < 400 || !isSourcifyPath(ctx.path) || !Buffer.isBuffer(ctx.body)) return;
    const parsed = errorShape.safeParse(JSON.parse(ctx.body.toString()));
    if (!parsed.success) return;
    const { status } = ctx;
    const { error: message, code } = parsed.data;
    const customCode = SOURCIFY_CODES.get(code) ?? 'internal_error';
    ctx.body = Buffer.from(JSON.stringify({ customCode, message, errorId: ctx.state.requestId }));
    ctx.type = 'application/json';
    ctx.status = status;
  };
}
