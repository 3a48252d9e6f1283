/**
 * Routes of the web page: `/`, `/docs` and the assets. They are not in the OpenAPI document. The rate limit does not
 * apply: the files come from memory, and a page without its style sheet is useless.
 */
import { join } from 'node:path';

import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import type { Route, RouteContext } from '../route';
import { loadWebFiles, type WebFile, type WebFiles } from './webFiles';

/** Content-Security-Policy: allows only this origin, and no inline scripts or styles, frames, external forms
 * or HTML from text. */
const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The folder name is a hash of the content, so the file at an asset's URL never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const PAGES: readonly (readonly [path: string, file: string, summary: string])[] = [
  ['/', 'index.html', 'The web page'],
  ['/docs', 'docs.html', 'Reference of this API, with a form to try calls'],
];

/** Folder into which the web page is built. */
export function webFolder(): string {
  return join(findPackageRoot(), 'dist', 'web');
}

export function webRoutes(folder: string): Route[] {
  const files = loadWebFiles(folder);
  const pages = PAGES.map(([path, file, summary]) =>
    pageRoute(path, summary, files?.pages.get(file) ?? null),
  );
  return [...pages, ...(files === null ? [] : assetRoutes(files))];
}

function pageRoute(path: string, summary: string, file: WebFile | null): Route {
  return {
    path,
    limited: false,
    doc: { summary, tag: 'service', mediaType: 'text/html' },
    handle(ctx): void {
      if (file === null) return sayMissing(ctx);
      ctx.set('Content-Security-Policy', PAGE_POLICY);
      ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
      ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
      send(ctx, file);
    },
  };
}

function assetRoutes({ assets, assetsPath }: WebFiles): Route[] {
  return assets.map((file) => ({
    path: `${assetsPath}/${file.name}`,
    limited: false,
    doc: { summary: 'A file of the web page: script, style or image', tag: 'service', mediaType: file.type },
    handle(ctx): void {
      // Logs and metrics use one route name for all assets, which does not contain the hash.
      ctx.state.route = '/assets';
      ctx.set('Cache-Control', FOR_EVER);
      ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
      send(ctx, file);
    },
  }));
}

function send(ctx: RouteContext, file: WebFile): void {
  ctx.vary('Accept-Encoding');
  const zipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (zipped) ctx.set('Content-Encoding', 'gzip');
  const { body, etag } = zipped ? file.gzip : file.plain;
  ctx.set('Content-Type', file.type);
  ctx.set('ETag', etag);
  ctx.body = body;
}

/** Tests, and sources that were not built, have no web page. The API works without it. */
function sayMissing(ctx: RouteContext): void {
  ctx.status = 503;
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body =
    'The web page is not built: run `npm run build`. The API is at /api/v1, described by /openapi.json.\n';
}
