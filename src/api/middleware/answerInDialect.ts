/**
 * Writes errors on the paths of the Etherscan dialect in its format, with status 200. This includes errors
 * raised before the handler runs.
 */
import type Koa from 'koa';

import { AppError } from '../../errors';
import { refusalOf } from '../etherscan/answers';
import { isEtherscanPath } from '../etherscan/mounts';
import type { RequestState } from '../route';
import type { FailureLog } from './failureLog';

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
