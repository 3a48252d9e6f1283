/**
 * Tests how the web page is served: caching of assets and pages, Content-Security-Policy, and a plain text
 * without a build.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { webRoutes } from '../../../../src/api/web/webRoutes';
import type { Listening } from '../../../support/server/listen';
import { serveRoutes } from '../../../support/server/serveRoutes';

const PAGE = '<!doctype html><script type="module" src="__ASSETS__/main.js"></script>';
const SCRIPT = `console.info('${'page '.repeat(300)}');`;

const folders: string[] = [];
const servers: Listening[] = [];

function makeFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-web-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function serve(folder: string): Promise<string> {
  const server = await serveRoutes(webRoutes(folder), { rateLimitPerMinute: 1 });
  servers.push(server);
  return server.url;
}

afterAll(async () => {
  for (const server of servers) await server.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const built = (script: string): string =>
  makeFolder({ 'index.html': PAGE, 'docs.html': PAGE, 'main.js': script });
const assetIn = (page: string): string => /\/assets\/[0-9a-f]{16}\/main\.js/.exec(page)?.[0] ?? '';

test('the names of assets change with their content, and are the same for the same build', async () => {
  const pages = await Promise.all(
    [SCRIPT, SCRIPT, `${SCRIPT}//`].map(async (script) => (await fetch(await serve(built(script)))).text()),
  );
  const [first, second, other] = pages.map(assetIn);
  expect(first).not.toBe('');
  expect(second).toBe(first);
  expect(other).not.toBe(first);
});

test('an asset is cached without limit, compressed on request, and not rate-limited', async () => {
  const url = await serve(built(SCRIPT));
  const path = assetIn(await (await fetch(url)).text());
  const zipped = await fetch(url + path, { headers: { 'Accept-Encoding': 'gzip' } });
  expect(await zipped.text()).toBe(SCRIPT);
  expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
  expect(zipped.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
  expect(zipped.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
  const plain = await fetch(url + path, { headers: { 'Accept-Encoding': 'identity' } });
  expect(plain.headers.get('Content-Encoding')).toBeNull();
  expect(plain.headers.get('Vary')).toContain('Accept-Encoding');
  expect(plain.headers.get('ETag')).not.toBe(zipped.headers.get('ETag'));
  const hidden = await fetch(`${url}${path.replace('main.js', '..%2Findex.html')}`);
  expect(hidden.status).toBe(404);
});

test('the Content-Security-Policy allows only our own files, and an unchanged page is a 304', async () => {
  const url = await serve(built(SCRIPT));
  for (const path of ['/', '/docs']) {
    const page = await fetch(url + path);
    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const again = await fetch(url + path, { headers: { 'If-None-Match': page.headers.get('ETag') ?? '' } });
    expect(again.status).toBe(304);
    const head = await fetch(url + path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('ETag')).toBe(page.headers.get('ETag'));
    await page.text();
  }
});

test('without a build of the page, the page explains how to build it', async () => {
  const answer = await fetch(await serve(makeFolder({})));
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('npm run build');
});

const ADDRESS = `0x${'12'.repeat(20)}`;

test.each([
  '/tokens?sort=symbol',
  '/pairs',
  '/watchlist',
  `/pair/${ADDRESS}?timeframe=1h`,
  `/token/${ADDRESS}`,
  `/tx/0x${'12'.repeat(32)}`,
  '/block/7',
  `/address/${ADDRESS}`,
  `/portfolio/${ADDRESS}`,
  '/contract',
  `/contract/${ADDRESS}?tab=read`,
  '/dex/pulsex_v2',
  '/logs?topic0=Swap',
  '/dexes',
  '/alerts',
  '/search?q=%3Cb%3E',
])('the path %s answers with the page, and a rate limit of one call does not apply', async (path) => {
  const url = await serve(built(SCRIPT));
  const [first, page, head] = await Promise.all([
    fetch(url),
    fetch(url + path),
    fetch(url + path, { method: 'HEAD' }),
  ]);
  expect([page.status, head.status]).toEqual([200, 200]);
  expect(await page.text()).toBe(await first.text());
  expect(page.headers.get('ETag')).toBe(head.headers.get('ETag') ?? 'missing');
  const names = ['Content-Type', 'Content-Security-Policy', 'Cache-Control'];
  for (const answer of [page, head])
    expect(names.map((name) => answer.headers.get(name))).toEqual(
      names.map((name) => first.headers.get(name)),
    );
});

test.each([
  '/pair/0x12',
  '/token/x',
  '/tx/0x12',
  '/block/x',
  '/address/0x',
  '/portfolio/me',
  '/contract/0x12',
])('the path %s answers with the page and the status 404', async (path) => {
  const url = await serve(built(SCRIPT));
  const page = await fetch(url + path);
  expect([page.status, page.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'self'");
  expect(await page.text()).toBe(await (await fetch(url)).text());
});

test.each(['/pair', '/pair/0x12/x', '/nothing', '/tokens/x/y', '/assets/main.js', '/__proto__'])(
  'the path %s is no view and stays a 404 in JSON',
  async (path) => {
    const answer = await fetch((await serve(built(SCRIPT))) + path);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { success: false, error: expect.any(String), code: 'not_found' },
    ]);
  },
);
