/** Starts Debian's Chromium for tests of the web page. Records errors and requests to other origins. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

import { eventually } from '../eventually';

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns CHROMIUM_PATH or the usual place of Chromium. Throws with the command that installs Chromium. */
function findChromium(): string {
  const configuredPath = process.env['CHROMIUM_PATH'];
  if (configuredPath !== undefined && configuredPath !== '') {
    if (existsSync(configuredPath)) return configuredPath;
    throw new Error(`CHROMIUM_PATH is ${configuredPath}, which does not exist`);
  }
  const usualPath = USUAL_PATHS.find((path) => existsSync(path));
  if (usualPath !== undefined) return usualPath;
  throw new Error(
    'the tests of the page need Chromium: `apt-get install -y chromium`, or set CHROMIUM_PATH to a Chromium or Chrome',
  );
}

interface LaunchedBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/**
 * Starts Chromium with a temporary folder of its own, because Chromium sometimes leaves files there. The name of the
 * folder is short, because Chromium puts a socket there, and a socket path has at most 107 bytes. `moreArguments` are
 * further arguments of Chromium.
 */
export async function launchBrowser(...moreArguments: readonly string[]): Promise<LaunchedBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'web-'));
  // The sandbox is off: containers and CI run as root, where Chromium's sandbox does not work. The tested
  // page is our own.
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: ['--no-sandbox', '--disable-gpu', ...moreArguments],
    env: { ...process.env, TMPDIR: folder },
  });
  return {
    browser,
    async close() {
      await browser.close();
      // A dying process of Chromium may hold its files for a moment.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly theme: 'dark' | 'light';
  /** Time zone of the browser; by default that of the machine. */
  readonly timezone?: string;
}

export const DESKTOP: Look = { width: 1440, height: 900, theme: 'dark' };
export const PHONE: Look = { width: 390, height: 844, theme: 'light' };

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, uncaught errors, and requests to other origins. */
  readonly faults: readonly string[];
}

/** Adds up the layout shifts that no input caused, as the browser reports them. */
const COUNT_SHIFTS = `
  window.layoutShifts = { sum: 0, moved: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // New trades move the rows of the trade list on purpose.
      const isOfTrades = ({ node }) => (node?.parentElement?.closest('table.tape') ?? null) !== null;
      if (entry.hadRecentInput || (entry.sources.length > 0 && entry.sources.every(isOfTrades))) continue;
      window.layoutShifts.sum += entry.value;
      for (const { node } of entry.sources) {
        const name = node?.className ?? node?.nodeName ?? 'gone';
        window.layoutShifts.moved.push(entry.value.toFixed(3) + ' ' + name);
      }
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/**
 * Whether the test expects this error status; 0 is a request without an answer, or another error. The browser logs each to
 * its console.
 */
export type Expected = (status: number, path: string) => boolean;

/** Opens a new page. A 503 is no fault: on a busy machine the database may be away for a moment, and the page waits. */
export async function openPage(
  browser: Browser,
  url: string,
  look: Look,
  expected: Expected = () => false,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.theme,
    ...(look.timezone === undefined ? {} : { timezoneId: look.timezone }),
    baseURL: url,
    acceptDownloads: true,
  });
  // No time limit: Jest's limit per test finds what hangs.
  context.setDefaultTimeout(0);
  await context.addInitScript(COUNT_SHIFTS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`uncaught error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const { url: source } = message.location();
    const status = Number(/status of (\d{3})/.exec(message.text())?.[1] ?? 0);
    const isExpected = status === 503 || expected(status, new URL(source || url).pathname);
    if (!isExpected) faults.push(`console: ${message.text()} (${source})`);
  });
  page.on('request', (request) => {
    const target = request.url();
    if (!target.startsWith(url) && !/^(data|blob):/.test(target))
      faults.push(`request to another host: ${target}`);
  });
  return { page, context, faults };
}

/** Waits until all content of the page has loaded. */
export async function untilLoaded(page: Page): Promise<void> {
  const question = `document.querySelector('#main > *') !== null &&
    document.querySelectorAll('[aria-busy=true], .skeleton').length === 0 &&
    [...document.querySelectorAll('.chart')].every((chart) => ['more', 'all'].includes(chart.dataset.state))`;
  // Polls from outside, because waitForFunction evaluates text in the page, and the page's CSP forbids this.
  await eventually(
    () => page.evaluate(question),
    (isLoaded) => isLoaded === true,
    () => `${page.url()} has not loaded`,
  );
}

/** How far elements moved without input, and which elements moved. */
export async function layoutShifts(page: Page): Promise<{ sum: number; moved: string[] }> {
  const shifts: unknown = await page.evaluate('window.layoutShifts');
  return shifts as { sum: number; moved: string[] };
}

interface PictureFacts {
  /** Standard deviation of the brightness, 0 to 255. A blank picture has 0. */
  readonly deviation: number;
  /** Number of distinct colours, in steps of 16. */
  readonly colours: number;
}

/** Measures a PNG in the browser. */
export async function measurePicture(page: Page, png: Buffer): Promise<PictureFacts> {
  const facts: unknown = await page.evaluate(
    `(async () => {
      const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const drawing = canvas.getContext('2d');
      drawing.drawImage(bitmap, 0, 0);
      const { data } = drawing.getImageData(0, 0, bitmap.width, bitmap.height);
      let sum = 0, squares = 0;
      const colours = new Set();
      for (let pixel = 0; pixel < data.length; pixel += 4) {
        const brightness = (data[pixel] + data[pixel + 1] + data[pixel + 2]) / 3;
        sum += brightness;
        squares += brightness * brightness;
        colours.add(((data[pixel] >> 4) << 8) | ((data[pixel + 1] >> 4) << 4) | (data[pixel + 2] >> 4));
      }
      const count = data.length / 4;
      return { deviation: Math.sqrt(squares / count - (sum / count) ** 2), colours: colours.size };
    })()`,
  );
  return facts as PictureFacts;
}
