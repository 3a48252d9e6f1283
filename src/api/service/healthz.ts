/** GET /healthz: the process is up. Says nothing of the database or the chain; that is /readyz. */
import { z } from 'zod';

import type { Route } from '../route';

const BODY = JSON.stringify({ status: 'ok' });

export function healthz(): Route {
  return {
    path: '/healthz',
    limited: false,
    doc: {
      summary: 'Whether the process is up',
      tag: 'service',
      answer: z.object({ status: z.literal('ok') }),
    },
    handle(ctx): void {
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = BODY;
    },
  };
}
