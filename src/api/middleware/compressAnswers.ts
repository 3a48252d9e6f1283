/**
 * Compresses JSON, CSV and other texts by Accept-Encoding: zstd (where Node has it), br or gzip. Streams write to their
 * socket themselves and never get here. Files of the web page and Parquet are compressed already.
 */
import { constants } from 'node:zlib';

import type Koa from 'koa';
import compress from 'koa-compress';

import { weaken } from '../etag';
import type { RequestState } from '../route';

/** Smaller answers fit in one packet, so compression saves nothing. */
const BYTES_MIN = 1_024;
/** docs/measurements.md compares the levels: higher ones cost more time than they save. */
const BROTLI_QUALITY = 4;
/** Logarithm of brotli's window in bytes. The default of 4 MB costs much memory for each answer under way. */
const BROTLI_WINDOW = 18;
const GZIP_LEVEL = 5;

const TEXT = /^(text\/(?!event-stream)|application\/(json|[\w.]+\+json|javascript)|image\/svg)/;

const noMiddleware = (): Promise<void> => Promise.resolve();

export function compressAnswers(): Koa.Middleware<RequestState> {
  const compressBody = compress({
    filter: (type) => TEXT.test(type),
    threshold: BYTES_MIN,
    br: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
      },
    },
    gzip: { level: GZIP_LEVEL },
    deflate: false,
  });
  return async (ctx, next) => {
    await next();
    if (ctx.headerSent || ctx.respond === false) return;
    const encodingBefore = ctx.response.get('Content-Encoding');
    // The middleware ignores HEAD, but the answer to HEAD must have the headers of the answer to GET.
    const { method } = ctx;
    if (method === 'HEAD') ctx.method = 'GET';
    try {
      await compressBody(ctx as unknown as Koa.Context, noMiddleware);
    } finally {
      ctx.method = method;
    }
    const etag = ctx.response.get('ETag');
    if (ctx.response.get('Content-Encoding') !== encodingBefore && etag !== '') ctx.set('ETag', weaken(etag));
  };
}
