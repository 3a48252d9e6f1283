/** Tests the tags of the page: hostile symbols, addresses in the tags, and links to nothing. */
import { symbolFigure } from '../../../../src/api/web/figures';
import { GENERAL_TAGS, writeTags } from '../../../../src/api/web/pageTags';
import { findViewTags, type ViewTables } from '../../../../src/api/web/viewTags';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';

const PAGE = '<head>\n    <!-- tags -->\n<title>x</title>\n<!-- end of tags -->\n<meta name="last" /></head>';
const SITE = { publicUrl: null, prefix: '' };
const ADDRESS = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;

test.each([
  ['markup', '"><script>alert(1)</script>'],
  ['an attribute', "' onload=alert(1) x='"],
  ['the end of the head', '</title></head><body>'],
  ['control characters and marks of direction', '\u202eA\u0000\u0007\u200b\u2066B\r\n'],
  ['patterns of a replacement', '$& $` $1 $$'],
  ['a long text', 'W'.repeat(10_000)],
])('a symbol with %s stays a short text in the tags', (_, symbol) => {
  const title = symbolFigure({ symbol, address: ADDRESS });
  const page = writeTags(
    PAGE,
    { ...GENERAL_TAGS, title, description: `of ${title}`, path: '/pair/0x', picture: '/preview/x.png' },
    SITE,
  );
  const tags = [...page.matchAll(/<(\/?[a-z]+)/g)].map(([, tag]) => tag);
  expect(new Set(tags)).toEqual(new Set(['head', 'title', '/title', 'meta', 'link', '/head']));
  for (const [line] of page.matchAll(/^ *<meta .*$/gm))
    expect(line).toMatch(/^ *<meta (name|property)="[\w:]+"( content="[^"<>']*")? \/>(<\/head>)?$/);
  // eslint-disable-next-line no-control-regex
  expect(page).not.toMatch(/[\u0000-\u0008\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(page.length).toBeLessThan(2_000);
  expect(page.endsWith('<meta name="last" /></head>')).toBe(true);
});

test('addresses in the tags begin with the configured origin, and without it they have paths', () => {
  const tags = { ...GENERAL_TAGS, path: '/pair/0x12', picture: '/preview/pair/0x12.png' };
  const own = writeTags(PAGE, tags, { ...SITE, publicUrl: 'https://example.org' });
  expect(own).toContain('property="og:url" content="https://example.org/pair/0x12"');
  expect(own).toContain('<link rel="canonical" href="https://example.org/pair/0x12" />');
  expect(own).toContain('property="og:image" content="https://example.org/preview/pair/0x12.png"');
  const without = writeTags(PAGE, tags, SITE);
  expect(without).not.toContain('og:url');
  expect(without).toContain('<link rel="canonical" href="/pair/0x12" />');
  expect(without).toContain('property="og:image" content="/preview/pair/0x12.png"');
  expect(writeTags(PAGE, GENERAL_TAGS, { ...SITE, publicUrl: 'https://example.org' })).not.toMatch(
    /og:image|og:url|https?:/,
  );
});

test('the first requests are links that fetch() can use, and their text is escaped', () => {
  const page = writeTags(PAGE, { ...GENERAL_TAGS, requests: ['/api/v1/tokens?sort=a&page="1'] }, SITE);
  expect(page).toContain(
    '<link rel="preload" as="fetch" href="/api/v1/tokens?sort=a&amp;page=&quot;1" crossorigin />',
  );
  expect(writeTags(PAGE, GENERAL_TAGS, SITE)).not.toContain('<link');
});

test('all addresses in the tags of a further chain name the chain', () => {
  const tags = {
    ...GENERAL_TAGS,
    path: '/pair/0x12',
    picture: '/preview/x.png',
    requests: ['/api/v1/overview'],
  };
  const page = writeTags(PAGE, tags, { publicUrl: 'https://example.org', prefix: '/base' });
  expect(page).toContain('<meta name="chain" content="/base" />');
  expect(page).toContain('<link rel="canonical" href="https://example.org/base/pair/0x12" />');
  expect(page).toContain('content="https://example.org/base/preview/x.png"');
  expect(page).toContain('href="/api/v1/base/overview"');
});

const NO_HEAD: HeadSnapshot | null = null;
const failing = { at: () => Promise.reject(new Error('away')), ready: () => null, latest: () => null };
const TABLES: ViewTables = { pairs: failing, tokens: failing, dexes: failing, poolNames: failing, ...SITE };

const tagsOf = (head: HeadSnapshot | null, view: string, given: string, chain: string | null = null) =>
  findViewTags(TABLES, head, { view, pathParam: given, chain });

test('what needs no table is named without the database, in lower case, and with the chain in its address', async () => {
  const pathOf = async (view: string, given: string, chain: string | null = null): Promise<unknown> => {
    const tags = await tagsOf(NO_HEAD, view, given, chain);
    return [tags?.title, tags?.path];
  };
  const transaction = ['Transaction 0xcdcd…cdcd · Candlehouse', `/tx/${HASH}`];
  expect(await pathOf('tx', HASH)).toEqual(transaction);
  expect(await pathOf('tx', HASH.toUpperCase().replace('0X', '0x'))).toEqual(transaction);
  expect(await pathOf('tx', HASH, '943')).toEqual([transaction[0], `/tx/${HASH}?chainId=943`]);
  expect(await pathOf('block', '123')).toEqual(['Block 123 · Candlehouse', '/block/123']);
  expect(await pathOf('block', '4294967295')).toEqual([
    'Block 4294967295 · Candlehouse',
    '/block/4294967295',
  ]);
  expect(await pathOf('contract', ADDRESS)).toEqual([
    'Contract 0xabab…abab · Candlehouse',
    `/contract/${ADDRESS}`,
  ]);
  expect(await pathOf('portfolio', ADDRESS, '943')).toEqual([
    'Portfolio 0xabab…abab · Candlehouse',
    `/portfolio/${ADDRESS}`,
  ]);
});

test.each([
  ['tx', '0x12'],
  ['tx', `${HASH}"><b>`],
  ['block', '-1'],
  ['block', '4294967296'],
  ['block', '9'.repeat(40)],
  ['pair', '0x12'],
  ['pair', `${ADDRESS}0`],
  ['token', 'constructor'],
  ['portfolio', 'vitalik.eth'],
  ['contract', HASH],
  ['address', '__proto__'],
])('%s/%s cannot exist', async (view, given) => {
  expect(await tagsOf(NO_HEAD, view, given)).toBeNull();
});

test('what may exist has the general tags while the database is away', async () => {
  const head = { version: '1' } as HeadSnapshot;
  for (const view of ['pair', 'token', 'dex'])
    expect([view, await tagsOf(head, view, ADDRESS)]).toEqual([view, GENERAL_TAGS]);
  expect((await tagsOf(head, 'address', ADDRESS))?.title).toBe('Address 0xabab…abab · Candlehouse');
});
