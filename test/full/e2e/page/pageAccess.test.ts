/** Access to the page for everyone, in a real browser: the rules of axe, the keyboard, small and enlarged screens. */
import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { z } from 'zod';

import { DESKTOP, PHONE, untilLoaded, type Look } from '../../../support/server/browser';
import { answerOf, startPages, type Pages } from '../../../support/server/pages';
import { eventually } from '../../../support/eventually';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** The narrowest screen. */
const NARROW: Look = { ...PHONE, width: 320, height: 640 };
/** The desktop in dark at 100 and at 200 percent, and the narrowest screen in light. */
const LOOKS = [
  { look: DESKTOP, enlarged: { width: DESKTOP.width / 2, height: DESKTOP.height / 2 } },
  { look: NARROW, enlarged: null },
];

let pages: Pages;

/** New blocks do not matter here, and indexing them takes the processor from the browser. */
const live = { blockMs: 15_000 };

beforeAll(async () => void (pages = await startPages({ swaps: 400, days: 1, live })));
afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

const eventShape = z.looseObject({ tx_hash: z.string(), block_number: z.number(), maker: z.string() });

async function listViews(): Promise<string[]> {
  const { pair, token } = pages.world;
  const newest = async (kind: string): Promise<z.infer<typeof eventShape>> => {
    const answer = await pages.world.json(`/api/v1/activity?event_type=${kind}&limit=1`);
    return z.object({ data: z.tuple([eventShape]) }).parse(answer).data[0];
  };
  const swap = await newest('swap');
  // The newest wallet that added liquidity has tokens and positions.
  const { maker: wallet } = await newest('mint');
  return [
    '/',
    ...['pairs', 'dexes', 'dex/devswap_v2', 'watchlist', 'alerts', 'logs', 'search?q=hexd', 'contract'].map(
      (name) => `/${name}`,
    ),
    `/pair/${pair}`,
    `/token/${token}`,
    `/portfolio/${wallet}`,
    `/portfolio/${wallet}?tab=transfers`,
    '/portfolio',
    `/contract/${pair}`,
    `/contract/${token}?tab=holders`,
    `/address/${wallet}`,
    `/tx/${swap.tx_hash}`,
    `/block/${swap.block_number}`,
    '/docs',
  ];
}

const violationsShape = z.array(
  z.looseObject({
    id: z.string(),
    nodes: z.array(z.looseObject({ html: z.string(), failureSummary: z.string().optional() })),
  }),
);

/** The violations of axe's rules on the page, with their elements. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = violationsShape.parse(
    await page.evaluate(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
    ),
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 240)}`,
    ),
  );
}

/** If the page can be scrolled sideways: its width, and elements outside of scrolling regions that reach beyond the screen. */
const overflow = async (page: Page, width: number): Promise<string[]> =>
  z.array(z.string()).parse(
    await page.evaluate(`(() => {
      const wide = document.documentElement.scrollWidth;
      if (wide <= ${width}) return [];
      const isBeyond = (one) => {
        const { left, right } = one.getBoundingClientRect();
        return Math.max(right, left + one.scrollWidth) > ${width};
      };
      const beyond = [...document.querySelectorAll('body *')]
        .filter((one) => isBeyond(one) && one.parentElement.closest('.table-scroll, .main-nav') === null)
        .filter((one) => ![...one.children].some(isBeyond) && !one.matches('.table-scroll, .main-nav'));
      return [wide + ' px wide on ${width} px', ...beyond.slice(0, 5).map((one) => one.outerHTML.slice(0, 120))];
    })()`),
  );

/** Waits until nothing is cut off: charts are drawn again only some time after the window has changed its size. */
const untilFits = (page: Page, width: number): Promise<string[]> =>
  eventually(
    () => overflow(page, width),
    ({ length }) => length === 0,
  );

test.each(LOOKS)(
  'axe finds nothing in any view and nothing is cut off, at $look.width px in $look.theme',
  async ({ look, enlarged }) => {
    const faults: Record<string, string[]> = {};
    const page = await pages.openBlank({ look });
    for (const view of await listViews()) {
      await page.setViewportSize(look);
      await page.goto(view);
      await untilLoaded(page);
      const found = [...(await violations(page)), ...(await untilFits(page, look.width))];
      if (enlarged !== null) {
        await page.setViewportSize(enlarged);
        found.push(...(await untilFits(page, enlarged.width)));
      }
      if (found.length > 0) faults[view] = found;
    }
    expect(faults).toEqual({});
  },
);

test('nothing moves for a reader who asks for reduced motion', async () => {
  const page = await pages.open('/');
  const motions = async (reducedMotion: 'reduce' | 'no-preference'): Promise<unknown> => {
    await page.emulateMedia({ reducedMotion });
    return page.evaluate(`[['div', 'skeleton'], ['tr', 'fresh']].map(([tag, name]) => {
      const part = document.body.appendChild(document.createElement(tag));
      part.className = name;
      const motion = getComputedStyle(part).animationName;
      part.remove();
      return motion;
    })`);
  };
  expect(await motions('no-preference')).toEqual(['wait', 'fresh']);
  expect(await motions('reduce')).toEqual(['none', 'none']);
  await page.reload();
  await untilLoaded(page);
  expect(await page.evaluate('document.getAnimations().length')).toBe(0);
});

const focusedPart = (page: Page): Promise<string> => page.evaluate("document.activeElement?.id ?? ''");

test('the first Tab reaches a link to the content, and the focus is on the content after each change of the view', async () => {
  const page = await pages.open('/tokens');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await focusedPart(page)).toBe('main');
  expect(await page.locator('table[aria-label=Tokens] tbody tr').count()).toBeGreaterThan(5);
  await page.locator('.main-nav a', { hasText: 'DEXes' }).click();
  await untilLoaded(page);
  expect(await focusedPart(page)).toBe('main');
  await page.keyboard.press('Tab');
  expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
  await page.goBack();
  await untilLoaded(page);
  expect(await focusedPart(page)).toBe('main');
});

/**
 * Selectors of links and copy buttons that are hidden or beyond the screen, in the first three trades. New blocks replace
 * the rows, so one script measures all of them at once.
 */
const hiddenParts = (page: Page, width: number): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('table.tape tbody tr')].slice(0, 3).flatMap((row) =>
    [
      '.tape-maker a[href^="/portfolio/0x"]', '.tape-maker .copy', '.tape-tx a[href^="/tx/0x"]', '.tape-tx .copy',
    ].filter((part) => {
      const found = row.querySelector(part);
      const box = found?.getBoundingClientRect();
      return !found?.checkVisibility() || !(box.width > 0 && box.left >= 0 && box.right <= ${width});
    }))`);

test.each([NARROW, PHONE])(
  'at $width px each trade shows its maker and its transaction with links and copy buttons, within the screen',
  async (look) => {
    const { pair, token } = pages.world;
    for (const view of [`/pair/${pair}`, `/token/${token}`]) {
      const page = await pages.open(view, { look });
      const rows = page.locator('table.tape tbody tr');
      expect(await rows.count()).toBeGreaterThan(3);
      expect([view, await hiddenParts(page, look.width)]).toEqual([view, []]);
      expect(await hiddenParts(page, 40)).not.toEqual([]);
      expect(await untilFits(page, look.width)).toEqual([]);
    }
  },
);

/** Counts the texts that match a pattern, and lists the elements that cut them off. Elements that scroll do not cut. */
const cutTexts = async (page: Page, pattern: RegExp): Promise<{ cut: string[]; shown: number }> =>
  z.object({ cut: z.array(z.string()), shown: z.number() }).parse(
    await page.evaluate(`(() => {
      const texts = document.createTreeWalker(document.querySelector('#main'), NodeFilter.SHOW_TEXT);
      const cut = new Set();
      let shown = 0;
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (!${String(pattern)}.test(data.trim()) || !parentElement.checkVisibility()) continue;
        shown += 1;
        for (let one = parentElement; one !== null; one = one.parentElement) {
          const { overflow } = getComputedStyle(one);
          if (/auto|scroll/.test(overflow)) break;
          const isWider = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight;
          if (overflow !== 'visible' && one.clientWidth > 0 && isWider) cut.add(data + ' in ' + one.outerHTML.slice(0, 120));
        }
      }
      return { cut: [...cut], shown };
    })()`),
  );

/** Counts, amounts, prices, changes, ages and sides. */
const FIGURE = /^(?:[+−]?\$?\d[\d.,₀-₉]*(?:[kMBT%smhdy]|mo)?|buy|sell|mint|burn)$/u;

/** A symbol of the greatest length: one word, which no browser breaks by itself. */
const LONG_SYMBOL = 'Symbol'.padEnd(64, '0123456789');
/** Figures with the most characters: $888.9k for amounts, $88,888.88 for prices, +88.9k% for changes. */
const WIDE_FIGURES: readonly (readonly [RegExp, string])[] = [
  [/"symbol":"[^"]+"/g, `"symbol":"${LONG_SYMBOL}"`],
  [/(?<="\w*price_usd":"?)\d[\d.e+-]*/g, '88888.88'],
  [/(?<="(?!\w*price_usd)\w+_usd":"?)-?\d[\d.e+-]*/g, '888888.88'],
  [/(?<="price_change_\w+":)-?\d[\d.e+-]*/g, '88888.88'],
];

/** Gives symbols and figures in all answers their greatest length. Streams stay as they are. */
const widenAnswers = (page: Page): Promise<unknown> =>
  page.route(/\/api\/v1\/(?!.*stream)/, async (route) => {
    const response = await answerOf(route);
    let body = await response.text();
    for (const [pattern, wide] of WIDE_FIGURES) body = body.replaceAll(pattern, wide);
    // The page may have gone on to the next view.
    await route.fulfill({ response, body }).catch(() => undefined);
  });

/** Views that show symbols, by their paths. */
const SHOW_SYMBOLS = /^\/($|pairs|watchlist|search|pair\/|token\/|portfolio\/|contract\/|address\/|tx\/)/;

test.each([NARROW, PHONE, DESKTOP])(
  'at $width px no symbol and no figure is cut off, whatever its length',
  async (look) => {
    const faults: Record<string, string[]> = {};
    const page = await pages.openBlank({ look });
    await widenAnswers(page);
    const total = { symbols: 0, figures: 0 };
    for (const view of (await listViews()).filter((path) => SHOW_SYMBOLS.test(path))) {
      await page.goto(view);
      await untilLoaded(page);
      const symbols = await cutTexts(page, new RegExp(LONG_SYMBOL));
      const figures = await cutTexts(page, FIGURE);
      const found = [...symbols.cut, ...figures.cut, ...(await untilFits(page, look.width))];
      if (found.length > 0) faults[view] = found;
      total.symbols += symbols.shown;
      total.figures += figures.shown;
    }
    expect(faults).toEqual({});
    expect(Math.min(total.symbols, total.figures)).toBeGreaterThan(200);
  },
);
