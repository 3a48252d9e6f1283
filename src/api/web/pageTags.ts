/**
 * Writes title, description and the tags for previews (Open Graph, https://ogp.me, and Twitter cards) into the file of the
 * page. All texts are escaped. Pure.
 */

export interface PageTags {
  readonly title: string;
  readonly description: string;
  /** Path of the view, without parameters that sort or filter. Null if the tags name no address. */
  readonly path: string | null;
  /** Path of the picture; null without one. */
  readonly picture: string | null;
  /** API requests that the browser sends at once. */
  readonly requests: readonly string[];
}

export const PICTURE_WIDTH = 1200;
export const PICTURE_HEIGHT = 630;

export const GENERAL_TAGS: PageTags = {
  title: 'Candlehouse',
  description: 'DEX analytics: tokens, pairs, candles, live trades and audited prices',
  path: null,
  picture: null,
  requests: [],
};

export const DOCS_TAGS: PageTags = {
  title: 'API · Candlehouse',
  description:
    'The Candlehouse API: a quick start, and every endpoint with examples in curl, JavaScript and Python',
  path: '/docs',
  picture: null,
  requests: ['/openapi.json'],
};

/** The part of a page's file that the tags replace. */
const TAGS_PART = /<!-- tags -->[^]*?<!-- end of tags -->/;

/** Where the pages of a chain are. */
export interface Site {
  /** URL of this service, such as https://example.org; null if it is unknown. */
  readonly publicUrl: string | null;
  /** The part of all paths that names the chain, such as `/base`; empty for the first chain. */
  readonly prefix: string;
}

/**
 * Replaces the tags in a page. Without `publicUrl`, the tags have no address of the page, and the address of the picture is
 * a path: the Host header is never used, because clients choose it.
 */
export function writeTags(page: string, tags: PageTags, { publicUrl, prefix }: Site): string {
  const { title, description } = tags;
  const path = tags.path === null ? null : prefix + tags.path;
  const picture = tags.picture === null ? null : prefix + tags.picture;
  const requests = tags.requests.map((request) => request.replace(/^(\/api\/v1)?/, `$1${prefix}`));
  const properties: [kind: 'property' | 'name', name: string, value: string | null][] = [
    ['name', 'description', description],
    ['name', 'chain', prefix === '' ? null : prefix],
    ['property', 'og:site_name', 'Candlehouse'],
    ['property', 'og:type', 'website'],
    ['property', 'og:title', title],
    ['property', 'og:description', description],
    ['property', 'og:url', publicUrl === null || path === null ? null : publicUrl + path],
    ['property', 'og:image', picture === null ? null : (publicUrl ?? '') + picture],
    ['property', 'og:image:type', picture === null ? null : 'image/png'],
    ['property', 'og:image:width', picture === null ? null : String(PICTURE_WIDTH)],
    ['property', 'og:image:height', picture === null ? null : String(PICTURE_HEIGHT)],
    ['property', 'og:image:alt', picture === null ? null : `Candles of ${title}`],
    ['name', 'twitter:card', picture === null ? 'summary' : 'summary_large_image'],
  ];
  const metaLines = properties.flatMap(([kind, name, value]) =>
    value === null ? [] : [`<meta ${kind}="${name}" content="${escapeText(value)}" />`],
  );
  // Without an origin, the path is enough, because browsers and search engines resolve it.
  const canonical =
    path === null ? [] : [`<link rel="canonical" href="${escapeText((publicUrl ?? '') + path)}" />`];
  // `crossorigin` makes the request equal to one of fetch(), so that the page uses its answer.
  const links = requests.map(
    (request) => `<link rel="preload" as="fetch" href="${escapeText(request)}" crossorigin />`,
  );
  const text = [`<title>${escapeText(title)}</title>`, ...metaLines, ...canonical, ...links].join('\n    ');
  // A function, because a text may contain patterns such as `$&`.
  return page.replace(TAGS_PART, () => text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML and XML, in elements and in quoted attributes. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
