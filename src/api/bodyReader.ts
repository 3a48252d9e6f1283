/** Reads request bodies as bytes, with a limit on their number. */
import type Koa from 'koa';
import bodyParser from 'koa-bodyparser';

import type { RouteContext } from './route';

interface BodyReaderOptions {
  readonly mediaTypes: readonly string[];
  readonly bytesMax: number;
  /** The error for a body that is larger than the limit, or that cannot be read. */
  refuse(isTooLarge: boolean): Error;
}

/**
 * Makes a reader that returns the bytes without parsing them, because the parsers of koa-bodyparser limit only the
 * length of a body, not its depth. A body of another media type reads as empty.
 */
export function bodyReader({
  mediaTypes,
  bytesMax,
  refuse,
}: BodyReaderOptions): (ctx: RouteContext) => Promise<Buffer> {
  const options = {
    enableTypes: ['text'],
    extendTypes: { text: [...mediaTypes] },
    textLimit: `${bytesMax}b`,
    encoding: null,
    onerror(error: Error, ctx: Koa.Context): never {
      // After an error, the rest of the body stays unread, so the connection cannot carry another request.
      ctx.set('Connection', 'close');
      throw refuse('status' in error && error.status === 413);
    },
  };
  const parseBody = bodyParser(options);
  return async (ctx) => {
    await parseBody(ctx, () => Promise.resolve());
    const body: unknown = ctx.request.body;
    return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  };
}
