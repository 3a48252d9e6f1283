/**
 * Writes errors on the paths of the Etherscan dialect in its format, with status 200. This includes errors
 * raised before the handler runs.
 */
import type Koa from 'koa';

import { AppError } from '../../errors';
import type { Logger } from '../../log';
import { refusalOf } from '../etherscan/answers';
import { isEtherscanPath } from '../etherscan/mounts';
import type { RequestState } from '../route';

export function answerInDialect(log: Logger): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    if (!isEtherscanPath(ctx.path)) return next();
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null || ctx.headerSent) throw error;
      const known = error instanceof AppError && (error.status < 500 || error.retryable);
      const facts = { requestId: ctx.state.requestId, path: ctx.path, err: error };
      if (!known) log.error(facts, 'a request failed');
      else if (error.status >= 500)
        log.warn(facts, 'a request failed: the database or the node is unavailable');
      ctx.status = 200;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.remove('ETag');
      ctx.body = Buffer.from(JSON.stringify(refusal));
    }
  };
}
