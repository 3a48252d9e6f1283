/** Tests the tags of the page: hostile symbols, addresses in the tags, and links to nothing. */
import { symbolFigure } from '../../../../src/api/web/figures';
import { GENERAL_TAGS, writeTags } from '../../../../src/api/web/pageTags';
import { findViewTags, type ViewTables } from '../../../../src/api/web/viewTags';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';

const PAGE = '<head>\n    <!-- tags -->\n<title>x</title>\n<!-- end of tags -->\n<meta name="last" /></head>';
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
    null,
  );
  const tags = [...page.matchAll(/<(\/?[a-z]+)/g)].map(([, tag]) => tag);
  expect(new Set(tags)).toEqual(new Set(['head', 'title', '/title', 'meta', '/head']));
  for (const [line] of page.matchAll(/^ *<meta .*$/gm))
    expect(line).toMatch(/^ *<meta (name|property)="[\w:]+"( content="[^"<>']*")? \/>(<\/head>)?$/);
  // eslint-disable-next-line no-control-regex
  expect(page).not.toMatch(/[\u0000-\u0008\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(page.length).toBeLessThan(2_000);
  expect(page.endsWith('<meta name="last" /></head>')).toBe(true);
});

test('addresses in the tags begin with the configured origin, and without it only the picture has a path', () => {
  const tags = { ...GENERAL_TAGS, path: '/pair/0x12', picture: '/preview/pair/0x12.png' };
  const own = writeTags(PAGE, tags, 'https://example.org');
  expect(own).toContain('property="og:url" content="https://example.org/pair/0x12"');
  expect(own).toContain('property="og:image" content="https://example.org/preview/pair/0x12.png"');
  const without = writeTags(PAGE, tags, null);
  expect(without).not.toContain('og:url');
  expect(without).toContain('property="og:image" content="/preview/pair/0x12.png"');
  expect(writeTags(PAGE, GENERAL_TAGS, 'https://example.org')).not.toMatch(/og:image|og:url|https?:/);
});

test('the first requests are links that fetch() can use, and their text is escaped', () => {
  const page = writeTags(PAGE, { ...GENERAL_TAGS, requests: ['/api/v1/tokens?sort=a&page="1'] }, null);
  expect(page).toContain(
    '<link rel="preload" as="fetch" href="/api/v1/tokens?sort=a&amp;page=&quot;1" crossorigin />',
  );
  expect(writeTags(PAGE, GENERAL_TAGS, null)).not.toContain('<link');
});

const NO_HEAD: HeadSnapshot | null = null;
const failing = { at: () => Promise.reject(new Error('away')), ready: () => null, latest: () => null };
const TABLES: ViewTables = { pairs: failing, tokens: failing, publicUrl: null };

test('transactions and blocks are named without the database, and links to nothing have the general tags', async () => {
  const titleOf = async (view: string, given: string): Promise<string> =>
    (await findViewTags(TABLES, NO_HEAD, view, given)).title;
  expect(await titleOf('tx', HASH)).toBe('Transaction 0xcdcd…cdcd · Candlehouse');
  expect(await titleOf('tx', HASH.toUpperCase().replace('0X', '0x'))).toBe(await titleOf('tx', HASH));
  expect(await titleOf('block', '123')).toBe('Block 123 · Candlehouse');
  for (const [view, given] of [
    ['tx', '0x12'],
    ['tx', `${HASH}"><b>`],
    ['block', '-1'],
    ['block', '9'.repeat(40)],
    ['pair', ADDRESS],
    ['token', 'constructor'],
    ['address', '__proto__'],
  ] as const)
    expect([given, await findViewTags(TABLES, NO_HEAD, view, given)]).toEqual([given, GENERAL_TAGS]);
});

test('while the database is away, the page of a pair has the general tags', async () => {
  const head = { version: '1' } as HeadSnapshot;
  expect(await findViewTags(TABLES, head, 'pair', ADDRESS)).toEqual(GENERAL_TAGS);
  expect((await findViewTags(TABLES, head, 'address', ADDRESS)).title).toBe(
    'Address 0xabab…abab · Candlehouse',
  );
});
