/** Error handler of the API: turns errors into error bodies, and logs the details that callers must not see. */
import type Koa from 'koa';

import { AppError, type ErrorCode } from '../../errors';
import type { RequestState } from '../route';
import type { FailureLog } from './failureLog';

/** The public error code for each internal error code. */
const PUBLIC_CODES: Readonly<Record<ErrorCode, ErrorCode>> = {
  bad_request: 'bad_request',
  not_found: 'not_found',
  logs_not_kept: 'logs_not_kept',
  method_not_allowed: 'method_not_allowed',
  rate_limited: 'rate_limited',
  internal: 'internal',
  unavailable: 'unavailable',
  node_failed: 'unavailable',
  bad_config: 'internal',
  broken_invariant: 'internal',
  fenced: 'internal',
};

/** Texts that replace messages which may contain table names, hosts or paths. */
const HIDDEN_TEXTS: Partial<Record<ErrorCode, string>> = {
  internal: 'internal error; the X-Request-Id header identifies the log entry',
  unavailable: 'the database or the node does not answer, or no block is indexed yet; retry later',
};

export function answerErrors(failures: FailureLog): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const failure =
        error instanceof AppError ? error : new AppError('internal', 'unexpected', { cause: error });
      const code = PUBLIC_CODES[failure.code];
      const publicError = new AppError(code, HIDDEN_TEXTS[code] ?? failure.message);
      if (code === 'internal' || code === 'unavailable')
        failures.tell({ requestId: ctx.state.requestId, url: ctx.originalUrl }, error);
      if (ctx.headerSent) {
        ctx.res.destroy();
        return;
      }
      ctx.status = publicError.status;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.remove('ETag');
      if (code === 'unavailable') ctx.set('Retry-After', '1');
      ctx.body = Buffer.from(JSON.stringify({ success: false, error: publicError.message, code }));
    }
  };
}
