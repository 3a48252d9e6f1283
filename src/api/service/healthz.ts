/** GET /healthz: reports that the process is up. /readyz checks the database and the chain. */
import { z } from 'zod';

import type { Route } from '../route';

const BODY = JSON.stringify({ status: 'ok' });

export function healthz(): Route {
  return {
    path: '/healthz',
    limited: false,
    doc: {
      summary: 'Whether the process runs',
      description:
        'Answers 200 as long as the process serves requests, also while the database is away. Use it for restarts.',
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
