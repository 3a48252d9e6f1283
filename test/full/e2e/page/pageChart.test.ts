/** The chart of the page in a real browser: indicators, scales, panes, time zone, lines, and markers of a maker. */
import type { Page } from 'playwright-core';
import { z } from 'zod';

import { DESKTOP, untilLoaded } from '../../../support/server/browser';
import { checkIndicators, csvColumns, drawing, openMenu, openStill } from '../../../support/server/chartPage';
import { keepPicture, startPages, type Pages } from '../../../support/server/pages';
import { eventually } from '../../../support/eventually';

let pages: Pages;

beforeAll(async () => void (pages = await startPages({ swaps: 1_200, days: 2 })));
afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

async function chooseStudies(page: Page, labels: readonly string[]): Promise<void> {
  await openMenu(page, 'Indicators');
  for (const label of labels) await page.getByLabel(label, { exact: true }).check();
  await page.keyboard.press('Escape');
}

const ALL_STUDIES = ['MA 20', 'EMA 20', 'VWAP', 'Bollinger 20, 2', 'RSI 14'];

test('each indicator equals its recomputation: with few bars, filled bars, older bars and new bars', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}?timeframe=15m`);
  await chooseStudies(page, ALL_STUDIES);
  const bars = await checkIndicators(page, '15m');
  expect(bars.length).toBeGreaterThan(40);
  await keepPicture(page, 'chart-indicators');
  await page.getByRole('button', { name: 'Fill' }).click();
  expect((await checkIndicators(page, '15m')).length).toBeGreaterThanOrEqual(bars.length);
  await page.locator('button[data-value="1m"]').click();
  const minutes = await checkIndicators(page, '1m');
  const older = page.locator('.chart-bar').getByRole('button', { name: 'Older' });
  if (await older.isEnabled()) {
    await older.click();
    await eventually(
      () => page.locator('.chart').getAttribute('data-bars'),
      (count) => Number(count) > minutes.length,
    );
    await checkIndicators(page, '1m');
  }
  const legend = (): Promise<string> => page.locator('.chart-legend').innerText();
  const before = await legend();
  await eventually(legend, (text) => text !== before);
  await checkIndicators(page, '1m');
  // The legend shows the values of the newest bar.
  expect(await page.locator('.chart-legend [data-column=rsi_14] b').innerText()).toMatch(/^\d+\.\d$/);
  await page.reload();
  await untilLoaded(page);
  await openMenu(page, 'Indicators');
  for (const label of ALL_STUDIES)
    expect(await page.getByLabel(label, { exact: true }).isChecked()).toBe(true);
});

/** Panes of the chart: the library draws each pane and each separator as one row, and the time scale as the last. */
const panes = async (page: Page): Promise<number> =>
  Number(await page.evaluate("document.querySelectorAll('.chart-canvas tr').length"));

test('log, percent and upside-down scales draw other pictures, stay after a reload, and can be undone', async () => {
  const page = await openStill(pages);
  const linear = await drawing(page);
  await openMenu(page, 'Settings');
  const seen = new Set([linear]);
  for (const scale of ['log', 'percent']) {
    await page.locator(`button[data-value=${scale}]`).click();
    await eventually(
      () => drawing(page),
      (picture) => !seen.has(picture),
    );
    seen.add(await drawing(page));
    await keepPicture(page, `chart-${scale}`);
  }
  await page.getByLabel('Upside down').check();
  await page.reload();
  await untilLoaded(page);
  await openMenu(page, 'Settings');
  expect(await page.locator('button[data-value=percent]').getAttribute('aria-pressed')).toBe('true');
  expect(await page.getByLabel('Upside down').isChecked()).toBe(true);
  await page.getByLabel('Upside down').uncheck();
  await page.locator('button[data-value=linear]').click();
  await page.reload();
  await untilLoaded(page);
  seen.delete(linear);
  expect(seen).not.toContain(await drawing(page));
  await openMenu(page, 'Settings');
  expect(await page.locator('button[data-value=linear]').getAttribute('aria-pressed')).toBe('true');
  expect(await page.getByLabel('Upside down').isChecked()).toBe(false);
});

test('the volume and the RSI have panes of their own that open and close', async () => {
  const page = await openStill(pages);
  const withVolume = await panes(page);
  await openMenu(page, 'Indicators');
  await page.getByLabel('Volume', { exact: true }).uncheck();
  await eventually(
    () => panes(page),
    (count) => count === withVolume - 2,
  );
  await page.getByLabel('RSI 14').check();
  await page.getByLabel('Volume', { exact: true }).check();
  await eventually(
    () => panes(page),
    (count) => count === withVolume + 2,
  );
});

test('stored settings and lines that are broken are ignored', async () => {
  const page = await pages.openBlank();
  await page.addInitScript(`localStorage.setItem('chart-settings', '{"scale":[],"studies":{"a":1}');
    localStorage.setItem('chart-lines:/pairs/${pages.world.pair}/ticks', '{"usd":[-1,"x",null]}');`);
  await page.goto(`/pair/${pages.world.pair}`);
  await untilLoaded(page);
  await openMenu(page, 'Settings');
  expect(await page.locator('button[data-value=linear]').getAttribute('aria-pressed')).toBe('true');
  expect(await page.locator('.line-list li').count()).toBe(0);
});

test('the time zone switch shows the times of the table and of the chart in the zone of the browser', async () => {
  const page = await openStill(pages, { look: { ...DESKTOP, timezone: 'Asia/Kathmandu' } });
  const last = Number(await page.locator('.chart').getAttribute('data-last'));
  const utc = await drawing(page);
  await page.getByRole('button', { name: 'Table' }).click();
  const cell = page.locator('.chart-table tbody td').first();
  const text = (at: number): string => new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ');
  expect(await cell.innerText()).toBe(text(last));
  await openMenu(page, 'Settings');
  await page.getByRole('button', { name: 'Asia/Kat' }).click();
  expect(await cell.innerText()).toBe(text(last + (5 * 60 + 45) * 60));
  expect(await page.locator('.chart-table th').first().innerText()).toMatch(/asia\/kat/i);
  await page.getByRole('button', { name: 'Table' }).click();
  expect(await drawing(page)).not.toBe(utc);
  await keepPicture(page, 'chart-zone');
});

test('a line that is drawn on the chart or typed stays with its pair after a reload, until it is removed', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}`);
  const lines = page.locator('.line-list li');
  await page.getByRole('button', { name: 'Line', exact: true }).click();
  const box = await page.locator('.chart-canvas').boundingBox();
  await page.mouse.click((box?.x ?? 0) + 300, (box?.y ?? 0) + 150);
  await openMenu(page, 'Settings');
  expect(await lines.count()).toBe(1);
  await page.getByLabel('Price of a new line').fill('0.5');
  await page.keyboard.press('Enter');
  const prices = async (): Promise<(string | null)[]> =>
    Promise.all((await lines.all()).map((line) => line.getAttribute('data-price')));
  const drawn = await prices();
  expect(drawn[1]).toBe('0.5');
  await page.reload();
  await untilLoaded(page);
  expect(await prices()).toEqual(drawn);
  const pairs = await pages.world.addresses('/api/v1/pairs?limit=2');
  // The order of the list may have changed since the world began.
  const other = pairs.find((address) => address !== pages.world.pair) ?? '';
  await page.goto(`/pair/${other}`);
  await untilLoaded(page);
  expect(await lines.count()).toBe(0);
  await page.goto(`/pair/${pages.world.pair}`);
  await untilLoaded(page);
  // The lines belong to a currency, because they are prices.
  await page.locator('button[data-value=quote]').click();
  expect(await lines.count()).toBe(0);
  await page.locator('button[data-value=usd]').click();
  await openMenu(page, 'Settings');
  await page.getByRole('button', { name: 'Remove the line' }).first().click();
  await page.reload();
  await untilLoaded(page);
  expect(await prices()).toEqual(['0.5']);
});

const swapShape = z.looseObject({ timestamp: z.number(), side: z.enum(['buy', 'sell']), maker: z.string() });
const swapsShape = z.object({
  data: z.array(swapShape),
  meta: z.looseObject({ next_cursor: z.string().nullable() }),
});

/** All swaps of a maker in the pair. */
async function swapsOf(maker: string): Promise<z.infer<typeof swapShape>[]> {
  const swaps: z.infer<typeof swapShape>[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: z.infer<typeof swapsShape> = swapsShape.parse(
      await pages.world.json(
        `/api/v1/activity?event_type=swap&pair=${pages.world.pair}&maker=${maker}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      ),
    );
    swaps.push(...page.data);
    cursor = page.meta.next_cursor;
  }
  return swaps;
}

/** The maker with the most of the newest 100 swaps, so that there are buys and sells in bars that are closed. */
async function busiestMaker(): Promise<string> {
  const { data } = swapsShape.parse(
    await pages.world.json(`/api/v1/activity?event_type=swap&pair=${pages.world.pair}&limit=100`),
  );
  const countOf = (maker: string): number => data.filter((swap) => swap.maker === maker).length;
  return data.map(({ maker }) => maker).sort((a, b) => countOf(b) - countOf(a))[0] ?? '';
}

test("the markers are one maker's trades, all of them and only those, and the address bar names the maker", async () => {
  const maker = await busiestMaker();
  const page = await pages.open(`/pair/${pages.world.pair}?timeframe=1h`);
  await openMenu(page, 'Settings');
  const field = page.getByLabel('Address of the maker');
  await field.fill('0x12');
  await page.keyboard.press('Enter');
  // The error stays while new bars arrive. The second answer comes after the page has drawn the first one.
  for (let answers = 0; answers < 2; answers += 1) await page.waitForResponse(/\/ticks\?/);
  expect(await page.locator('.menu-note').innerText()).toContain('40 hexadecimal digits');
  await field.fill(maker.toUpperCase().replace('0X', '0x'));
  await page.keyboard.press('Enter');
  await page.waitForURL(`**maker=${maker}*`);
  const counts = async (name: string): Promise<Record<string, number>> => {
    const column = await csvColumns(page);
    const [times, closed] = [column('time'), column(name).slice(0, -1)];
    return Object.fromEntries(closed.map((count, index) => [String(times[index]), count ?? 0]));
  };
  for (const side of ['buy', 'sell'] as const) {
    const wanted = async (bars: readonly string[]): Promise<Record<string, number>> => {
      const swaps = (await swapsOf(maker)).filter((swap) => swap.side === side);
      return Object.fromEntries(
        bars.map((bar) => [
          bar,
          swaps.filter(({ timestamp }) => timestamp - (timestamp % 3_600) === Number(bar)).length,
        ]),
      );
    };
    const shown = await eventually(
      async () => counts(`maker_${side}s`),
      (found) => Object.values(found).some((count) => count > 0),
    );
    expect(Object.keys(shown).length).toBeGreaterThan(20);
    await eventually(
      async () => [await counts(`maker_${side}s`), await wanted(Object.keys(shown))] as const,
      ([found, api]) => Object.keys(shown).every((bar) => found[bar] === api[bar]),
    );
  }
  await keepPicture(page, 'chart-maker');
  await page.reload();
  await untilLoaded(page);
  expect(await page.getByLabel('Address of the maker').inputValue()).toBe(maker);
});

test("one click on a trade's maker marks the maker's trades on the chart, and a second click removes the marks", async () => {
  const page = await pages.open(`/pair/${pages.world.pair}?timeframe=1h`);
  const mark = page.locator('table.tape .mark-maker').first();
  const maker = (await mark.getAttribute('data-maker')) ?? '';
  const ofMaker = page.locator(`table.tape .mark-maker[data-maker="${maker}"]`);
  await ofMaker.first().click();
  await page.waitForURL(`**maker=${maker}*`);
  expect(await page.getByLabel('Address of the maker').inputValue()).toBe(maker);
  expect(await ofMaker.first().getAttribute('aria-pressed')).toBe('true');
  await eventually(
    async () => [...(await csvColumns(page))('maker_buys'), ...(await csvColumns(page))('maker_sells')],
    (counts) => counts.some((count) => (count ?? 0) > 0),
  );
  await ofMaker.first().click();
  await eventually(
    () => page.url(),
    (url) => !url.includes('maker='),
  );
  expect(await ofMaker.first().getAttribute('aria-pressed')).toBe('false');
  expect(await page.getByLabel('Address of the maker').inputValue()).toBe('');
});
