/**
 * Routes of the web page: its views, `/docs` and the assets. They are not in the OpenAPI document. The rate limit does not
 * apply: the files come from memory, and a page without its style sheet is useless.
 */
import { join } from 'node:path';

import { findPackageRoot } from '../../clickhouse/client/packageRoot';
import type { MarketDeps } from '../marketScope';
import type { Route, RouteContext } from '../route';
import { DOCS_TAGS, GENERAL_TAGS, writeTags, type PageTags, type Site } from './pageTags';
import { findViewTags, plainTags, type ViewTables, MARKET_REQUESTS } from './viewTags';
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
const CACHE_FOREVER = 'public, max-age=31536000, immutable';

/** The views of the page, which all have the same file. The page reads its location and shows the view. */
const VIEWS = [
  '/',
  '/tokens',
  '/pairs',
  '/watchlist',
  '/dexes',
  '/dex/:name',
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

const VIEW_SUMMARY = 'A view of the web page';

/** Folder into which the web page is built. */
export function webFolder(): string {
  return join(findPackageRoot(), 'dist', 'web');
}

/** `tables` give the figures in the tags of pairs, tokens, addresses and DEXes. Without them, these have the general tags. */
export function webRoutes(folder: string, tables?: ViewTables & Pick<MarketDeps, 'head'>): Route[] {
  const files = loadWebFiles(folder);
  const indexPage = files?.pages.get('index.html') ?? null;
  const chartPage = files?.pages.get('chart.html') ?? indexPage;
  const docsPage = files?.pages.get('docs.html') ?? null;
  const site = { publicUrl: tables?.publicUrl ?? null, prefix: tables?.prefix ?? '' };
  const views = VIEWS.map((path) => {
    const [, view = '', parameter] = path.split('/');
    const file = CHART_VIEWS.includes(view) ? chartPage : indexPage;
    if (file === null || parameter !== undefined)
      return pageRoute(site, path, VIEW_SUMMARY, file, (page) =>
        taggedView(site, page, tables ?? null, view, parameter ?? ''),
      );
    const plainPage = withText(file, toText(file, plainTags(view), site));
    if (view !== '') return pageRoute(site, path, VIEW_SUMMARY, plainPage);
    const marketPage = withText(file, toText(file, { ...plainTags(view), requests: MARKET_REQUESTS }, site));
    // With parameters, the market page begins with other requests.
    return pageRoute(
      site,
      path,
      VIEW_SUMMARY,
      plainPage,
      () => (ctx) => send(ctx, ctx.querystring === '' ? marketPage : plainPage),
    );
  });
  const docsRoute = pageRoute(
    site,
    '/docs',
    'Reference of this API, with examples and a form to try calls',
    docsPage === null ? null : withText(docsPage, toText(docsPage, DOCS_TAGS, site)),
  );
  return [...views, docsRoute, ...(files === null ? [] : assetRoutes(files))];
}

type Answer = (ctx: RouteContext) => Promise<void> | void;

/** Answers with the page and the tags of the object that the path names; 404 if there is no such object. */
function taggedView(
  site: Site,
  file: WebFile,
  tables: (ViewTables & Pick<MarketDeps, 'head'>) | null,
  view: string,
  parameter: string,
): Answer {
  const generalPage = withText(file, toText(file, GENERAL_TAGS, site));
  return async (ctx) => {
    const value = ctx.params[parameter.slice(1)] ?? '';
    const chain = new URLSearchParams(ctx.querystring).get('chainId');
    const isChain = chain !== null && /^\d{1,15}$/.test(chain);
    const askedView = { view, pathParam: value, chain: isChain ? chain : null };
    const tags = await findViewTags(tables, tables?.head() ?? null, askedView);
    if (tags === null) ctx.status = 404;
    if (tags === null || tags === GENERAL_TAGS) return send(ctx, generalPage);
    ctx.type = file.type;
    ctx.body = Buffer.from(toText(file, tags, site));
  };
}

const toText = ({ plain }: WebFile, tags: PageTags, site: Site): string =>
  writeTags(plain.body.toString(), tags, site);

/** Without `answerOf`, every request gets the file. A chain has one name in the paths of its pages. */
function pageRoute(
  { prefix }: Site,
  path: string,
  summary: string,
  file: WebFile | null,
  answerOf: (file: WebFile) => Answer = (page) => (ctx) => send(ctx, page),
): Route {
  const answer = file === null ? null : answerOf(file);
  return {
    path,
    limited: false,
    doc: { summary, tag: 'service', mediaType: 'text/html' },
    async handle(ctx): Promise<void> {
      if (answer === null) return answerMissing(ctx);
      if ((ctx.state.chainPrefix ?? '') !== prefix) return ctx.redirect(prefix + ctx.url);
      ctx.set('Content-Security-Policy', PAGE_POLICY);
      ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
      ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
      await answer(ctx);
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
      ctx.set('Cache-Control', CACHE_FOREVER);
      ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
      send(ctx, file);
    },
  }));
}

function send(ctx: RouteContext, file: WebFile): void {
  ctx.vary('Accept-Encoding');
  const takesGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (takesGzip) ctx.set('Content-Encoding', 'gzip');
  const { body, etag } = takesGzip ? file.gzip : file.plain;
  ctx.set('Content-Type', file.type);
  ctx.set('ETag', etag);
  ctx.body = body;
}

/** Tests, and sources that were not built, have no web page. The API works without it. */
function answerMissing(ctx: RouteContext): void {
  ctx.status = 503;
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body =
    'The web page is not built: run `npm run build`. The API is at /api/v1, described by /openapi.json.\n';
}
