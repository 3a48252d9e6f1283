/** The explorer's app over HTTP for tests of the Etherscan dialect: any path, method, body and rate limit. */
import { createServer } from 'node:http';

import { createApp } from '../../../src/api/app';
import { explorerRoutes } from '../../../src/api/explorer/explorerRoutes';
import type { ExplorerDeps } from '../../../src/api/explorer/explorerRoute';
import { createLog } from '../../../src/log';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';

export interface DialectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Null where the body is not JSON. */
  readonly json: { status?: unknown; message?: unknown; result?: unknown; [key: string]: unknown } | null;
}

export interface DialectServer {
  readonly port: number;
  ask(path: string, init?: RequestInit): Promise<DialectAnswer>;
  close(): Promise<void>;
}

export async function startDialect(
  deps: ExplorerDeps,
  head: () => HeadSnapshot | null,
  rateLimitPerMinute = 0,
): Promise<DialectServer> {
  const log = createLog('silent', false);
  const app = createApp({ routes: explorerRoutes(deps), head, log, corsOrigin: '*', rateLimitPerMinute });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    async ask(path, init) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') === true;
      const json = isJson ? JSON.parse(text) : null;
      return { status: answer.status, headers: answer.headers, text, json };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
