/** Serves the explorer's app over HTTP for tests of the Etherscan dialect: any path, method, body and rate limit. */

import { explorerRoutes } from '../../../../src/api/explorerRoutes';
import type { ExplorerDeps } from '../../../../src/api/explorerRoute';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { serveRoutes } from '../../../support/server/serveRoutes';

export interface DialectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** null if the body is not JSON. */
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
  const { port, url, close } = await serveRoutes(explorerRoutes(deps), { head, rateLimitPerMinute });
  return {
    port,
    async ask(path, init) {
      const answer = await fetch(`${url}${path}`, init);
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') === true;
      const json = isJson ? JSON.parse(text) : null;
      return { status: answer.status, headers: answer.headers, text, json };
    },
    close,
  };
}
