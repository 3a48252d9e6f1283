/**
 * Routes of the web page: its views, `/docs` and the assets. They are not in the OpenAPI document. The rate limit does not
 * apply: the files come from memory, and a page without its style sheet is useless.
 */
import { join } from 'node:path';

import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import type { MarketDeps } from '../marketRoute';
import type { Route, RouteContext } from '../route';
import { MARKET_REQUESTS } from './firstRequests';
import { GENERAL_TAGS, writeTags, type PageTags } from './pageTags';
import { findViewTags, type ViewTables } from './viewTags';
import { loadWebFiles, withText, type WebFile, type WebFiles } from './webFiles';

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

/** The views of the page, which all have the same file. The page reads its location and shows the view. */
const VIEWS = [
  '/',
  '/tokens',
  '/pairs',
  '/watchlist',
  '/dexes',
  '/alerts',
  '/search',
  '/logs',
  '/pair/:address',
  '/token/:address',
  '/tx/:hash',
  '/block/:block',
  '/address/:address',
  '/portfolio',
  '/portfolio/:address',
  '/contract',
  '/contract/:address',
];

/** Views with a chart. Their file is the same, but also names the modules of the chart. */
const CHART_VIEWS = ['pair', 'token'];

/** Views whose titles and previews name what they show. */
const TAGGED = ['pair', 'token', 'address', 'tx', 'block'];

/** Folder into which the web page is built. */
export function webFolder(): string {
  return join(findPackageRoot(), 'dist', 'web');
}

/** `tables` give the figures in the tags of pairs, tokens and addresses. Without them, every view has the general tags. */
export function webRoutes(folder: string, tables?: ViewTables & Pick<MarketDeps, 'head'>): Route[] {
  const files = loadWebFiles(folder);
  const index = files?.pages.get('index.html') ?? null;
  const chart = files?.pages.get('chart.html') ?? index;
  const docs = files?.pages.get('docs.html') ?? null;
  const general = index === null ? null : withText(index, toText(index, GENERAL_TAGS, null));
  const generalChart = chart === null ? null : withText(chart, toText(chart, GENERAL_TAGS, null));
  const market =
    index === null
      ? null
      : withText(index, toText(index, { ...GENERAL_TAGS, requests: MARKET_REQUESTS }, null));
  const views = VIEWS.map((path) => {
    const [, view = '', parameter = ''] = path.split('/');
    const summary = 'A view of the web page';
    const hasChart = CHART_VIEWS.includes(view);
    const [file, untagged] = hasChart ? [chart, generalChart] : [index, general];
    // With parameters, the market page begins with other requests.
    if (path === '/' && market !== null)
      return pageRoute(path, summary, untagged, async (ctx) => {
        if (ctx.querystring === '') send(ctx, market);
        return ctx.querystring === '';
      });
    if (tables === undefined || file === null || !TAGGED.includes(view))
      return pageRoute(path, summary, untagged);
    return pageRoute(path, summary, untagged, async (ctx) => {
      const given = ctx.params[parameter.slice(1)] ?? '';
      const tags = await findViewTags(tables, tables.head(), view, given);
      if (tags === GENERAL_TAGS) return false;
      ctx.type = file.type;
      ctx.body = Buffer.from(toText(file, tags, tables.publicUrl));
      return true;
    });
  });
  const reference = pageRoute('/docs', 'Reference of this API, with examples and a form to try calls', docs);
  return [...views, reference, ...(files === null ? [] : assetRoutes(files))];
}

const toText = ({ plain }: WebFile, tags: PageTags, publicUrl: string | null): string =>
  writeTags(plain.body.toString(), tags, publicUrl);

/** `answer` may write the answer itself, and then returns true. */
function pageRoute(
  path: string,
  summary: string,
  file: WebFile | null,
  answer?: (ctx: RouteContext) => Promise<boolean>,
): Route {
  return {
    path,
    limited: false,
    doc: { summary, tag: 'service', mediaType: 'text/html' },
    async handle(ctx): Promise<void> {
      if (file === null) return sayMissing(ctx);
      ctx.set('Content-Security-Policy', PAGE_POLICY);
      ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
      ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
      if (answer === undefined || !(await answer(ctx))) send(ctx, file);
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
