/**
 * Takes the pictures of the README: starts the development chain, opens its page in headless Chromium, and writes the
 * pictures into docs/pictures. Run it by `npm run pictures`.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';

import { findPackageRoot } from '../src/clickhouse/client/packageRoot';
import { eventually } from '../test/support/eventually';
import {
  DESKTOP,
  launchBrowser,
  openPage,
  PHONE,
  untilLoaded,
  type Look,
} from '../test/support/server/browser';
import { startProgram, type Program } from '../test/support/server/program';

const LIGHT: Look = { ...DESKTOP, theme: 'light' };
/** Quality of the pictures in WebP, of 100. */
const QUALITY = 80;
/** Largest file. The README shows all pictures at once. */
const BYTES_MAX = 150_000;

interface Picture {
  readonly name: string;
  readonly look: Look;
  readonly path: string;
  /** Selector of the element at the top of the picture; by default the top of the page. */
  readonly top?: string;
}

const listShape = z.object({ data: z.array(z.looseObject({ address: z.string() })).min(1) });
const swapShape = z.object({ data: z.array(z.looseObject({ tx_hash: z.string() })).min(1) });

/** The pictures show the pair and the token with the highest volume, and the newest swap of the pair. */
async function listPictures(url: string): Promise<Picture[]> {
  const fetchJson = async (path: string): Promise<unknown> => (await fetch(`${url}/api/v1${path}`)).json();
  const firstAddress = async (path: string): Promise<string> =>
    listShape.parse(
      await eventually(
        async () => fetchJson(path),
        (body) => listShape.safeParse(body).success,
      ),
    ).data[0]?.address ?? '';
  const pair = await firstAddress('/pairs?limit=1');
  const token = await firstAddress('/tokens?limit=1');
  const { data } = swapShape.parse(await fetchJson(`/activity?event_type=swap&pair=${pair}&limit=1`));
  const hash = data[0]?.tx_hash ?? '';
  return [
    { name: 'pair-dark', look: DESKTOP, path: `/pair/${pair}` },
    { name: 'pair-light', look: LIGHT, path: `/pair/${pair}` },
    { name: 'market', look: DESKTOP, path: '/' },
    { name: 'audit', look: DESKTOP, path: `/token/${token}`, top: '.audit-loaded' },
    { name: 'transaction', look: LIGHT, path: `/tx/${hash}` },
    { name: 'docs', look: LIGHT, path: '/docs' },
    { name: 'phone', look: PHONE, path: `/pair/${pair}` },
    { name: 'phone-trades', look: { ...PHONE, theme: 'dark' }, path: `/pair/${pair}`, top: '.tape-card' },
  ];
}

async function takePicture(browser: Browser, url: string, { look, path, top }: Picture): Promise<Buffer> {
  const { page, context } = await openPage(browser, url, look);
  await page.goto(path);
  await untilLoaded(page);
  // On a busy machine the page may name a problem for a moment.
  const hasProblem = (): Promise<unknown> =>
    page.evaluate("document.querySelector('#live:not([data-state=live]), #trouble:not([hidden])') !== null");
  await eventually(hasProblem, (isProblemShown) => isProblemShown === false);
  if (top !== undefined)
    await page.evaluate(`(() => {
      // A sticky header covers the top of the page. 12 pixels stay free above the element.
      const header = document.querySelector('.top');
      const headerHeight = getComputedStyle(header).position === 'sticky' ? header.offsetHeight : 0;
      const { top } = document.querySelector('${top}').getBoundingClientRect();
      scrollTo(0, scrollY + top - headerHeight - 12);
    })()`);
  await untilDrawn(page);
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await context.close();
  return Buffer.from(data, 'base64');
}

/** Waits until the library of the chart has drawn its bars, which takes some frames. */
async function untilDrawn(page: Page): Promise<void> {
  const twoFrames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
  for (let round = 0; round < 10; round += 1) await page.evaluate(twoFrames);
}

/** Waits for the start message of the development chain, which names its page, and until all its blocks are indexed. */
async function untilServed(program: Program): Promise<string> {
  const readUrl = (): string => /Candlehouse is at (http:\S+),/.exec(program.output())?.[1] ?? '';
  const url = await eventually(readUrl, (servedUrl) => servedUrl !== '');
  await eventually(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 200,
  );
  return url;
}

async function main(): Promise<void> {
  const folder = join(findPackageRoot(), 'docs', 'pictures');
  const data = mkdtempSync(join(tmpdir(), 'candlehouse-pictures-'));
  mkdirSync(folder, { recursive: true });
  const program = await startProgram('dev', { DATA_DIR: data, RATE_LIMIT_PER_MINUTE: '0' });
  const { browser, close } = await launchBrowser();
  try {
    const url = await untilServed(program);
    for (const picture of await listPictures(url)) {
      const file = join(folder, `${picture.name}.webp`);
      writeFileSync(file, await takePicture(browser, url, picture));
      const { size } = statSync(file);
      console.log(`${picture.name}.webp: ${Math.round(size / 1000)} KB`);
      if (size > BYTES_MAX) throw new Error(`${file} has more than ${BYTES_MAX} bytes`);
    }
  } finally {
    await close();
    await program.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  }
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
