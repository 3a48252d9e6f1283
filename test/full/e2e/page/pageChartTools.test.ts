/** Around the chart in a real browser: full screen, picture, keyboard, legend, phone, cost of a move, and risks. */
import { z } from 'zod';

import { measurePicture, PHONE, untilLoaded } from '../../../support/server/browser';
import { csvColumns, downloadBy, drawing, openMenu, openStill } from '../../../support/server/chartPage';
import {
  changeAnswers,
  changeFields,
  keepPicture,
  startPages,
  type Pages,
} from '../../../support/server/pages';
import { eventually, until } from '../../../support/eventually';

let pages: Pages;

beforeAll(async () => void (pages = await startPages({ swaps: 1_200, days: 2 })));
afterAll(() => pages?.stop());
afterEach(async () => expect(await pages.closeAll()).toEqual([]));

test('full screen shows the chart alone and larger, and ends again', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}`);
  const height = async (): Promise<number> => (await page.locator('.chart').boundingBox())?.height ?? 0;
  const before = await height();
  const button = page.getByRole('button', { name: 'Full screen' });
  await button.click();
  await eventually(
    () => page.evaluate("document.fullscreenElement?.classList.contains('chart-card') ?? false"),
    (isFull) => isFull === true,
  );
  const pressed = (): Promise<string | null> => button.getAttribute('aria-pressed');
  await eventually(pressed, (now) => now === 'true');
  await eventually(height, (now) => now > before + 200);
  await keepPicture(page, 'chart-full');
  await button.click();
  await eventually(height, (now) => now === before);
  await eventually(pressed, (now) => now === 'false');
});

test('the picture of the chart is a PNG with the whole chart', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}`);
  const picture = await downloadBy(page, 'PNG');
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
  const box = await page.locator('.chart-canvas').boundingBox();
  expect(Math.abs(picture.readUInt32BE(16) - (box?.width ?? 0))).toBeLessThan(2);
  expect(picture.readUInt32BE(20)).toBeGreaterThan(box?.height ?? Infinity);
  const { deviation, colours } = await measurePicture(page, picture);
  expect(deviation).toBeGreaterThan(5);
  expect(colours).toBeGreaterThan(8);
});

test('each bar opens at the last close until the setting is off, and the CSV says which bars it has', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}?timeframe=1m`);
  const isLastClose = (opens: readonly unknown[], closes: readonly unknown[]): boolean[] =>
    opens.slice(1).map((open, index) => open === closes[index]);
  const read = async (): Promise<{ joined: boolean[]; said: Set<unknown> }> => {
    await untilLoaded(page);
    const column = await csvColumns(page);
    return { joined: isLastClose(column('open'), column('close')), said: new Set(column('continuous')) };
  };
  const before = await read();
  expect([before.joined.every(Boolean), before.said]).toEqual([true, new Set([1])]);
  const setting = page.getByLabel('Open at the last close');
  await openMenu(page, 'Settings');
  await setting.uncheck();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    const { joined, said } = await eventually(read, ({ said }) => said.has(0));
    expect([joined.every(Boolean), said]).toEqual([false, new Set([0])]);
  }
  await openMenu(page, 'Settings');
  await setting.check();
  expect((await eventually(read, ({ said }) => said.has(1))).joined.every(Boolean)).toBe(true);
});

/** Finds the label of the last price on the price axis, and counts the points of its line in the same row. */
const PRICE_LABEL = (colors: string, png: string): string => `(async () => {
  const bytes = Uint8Array.from(atob('${png}'), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
  const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  pen.drawImage(bitmap, 0, 0);
  const { data, width, height } = pen.getImageData(0, 0, bitmap.width, bitmap.height);
  const near = (at, color) => color.every((part, index) => Math.abs(data[at + index] - part) < 12);
  const count = (row, from, to) => {
    let found = 0;
    for (let x = from; x < to; x += 1) if (${colors}.some((color) => near((row * width + x) * 4, color))) found += 1;
    return found;
  };
  const rows = [];
  for (let row = 0; row < height; row += 1) if (count(row, width - 60, width - 8) > 15) rows.push(row);
  const middle = rows[Math.floor(rows.length / 2)] ?? 0;
  const line = Math.max(...[-2, -1, 0, 1, 2].map((step) => count(middle + step, 0, width - 90)));
  return { label: rows.length, line, width };
})()`;

test('the price line and its label stay at the last trade while the chart is moved, until Latest or End goes back', async () => {
  // Every bar reaches the last price, so that the price axis of any part of the chart contains it.
  const page = await openStill(pages, {
    // All bars of 15 minutes may fit into the chart, which then cannot be moved.
    timeframe: '1m',
    change: (bars) => {
      const last = bars.at(-1)?.close ?? 0;
      return bars.map((bar) => ({ ...bar, high: Math.max(bar.high, last), low: Math.min(bar.low, last) }));
    },
  });
  const latest = page.getByRole('button', { name: 'Latest' });
  expect(await latest.isVisible()).toBe(false);
  const look = async (): Promise<{ label: number; line: number; width: number }> =>
    z
      .object({ label: z.number(), line: z.number(), width: z.number() })
      .parse(await page.evaluate(PRICE_LABEL('[[47, 191, 143], [239, 106, 106]]', await drawing(page))));
  const isAtLine = ({ label, line, width }: { label: number; line: number; width: number }): boolean =>
    label > 8 && line > width / 5;
  await eventually(look, isAtLine);
  // On a busy machine, one of many keys had no effect, so the key is pressed again.
  const pressUntil = (key: string, isShown: boolean): Promise<void> =>
    until(async () => {
      await page.locator('.chart-canvas').press(key);
      return (await latest.isVisible()) === isShown;
    });
  await pressUntil('Home', true);
  await eventually(look, isAtLine);
  await keepPicture(page, 'chart-oldest');
  await latest.click();
  await latest.waitFor({ state: 'hidden' });
  await pressUntil('Shift+ArrowLeft', true);
  await pressUntil('End', false);
  const shown = await drawing(page);
  await until(async () => {
    await page.locator('.chart-canvas').press('+');
    return (await drawing(page)) !== shown;
  });
});

test('the legend names the currency of the page, and Invert exchanges the tokens', async () => {
  const page = await pages.open(`/pair/${pages.world.pair}?timeframe=1h`);
  const legend = async (): Promise<string> =>
    (await page.locator('.chart-legend').innerText()).replace(/\s+/g, ' ');
  const title = (await page.locator('h1').innerText()).split(' / ');
  expect(await legend()).toContain(`${title[0]} in USD, 1h`);
  expect(await legend()).toMatch(/O ?\$/);
  await page.locator('button[data-value=quote]').click();
  await untilLoaded(page);
  expect(await legend()).toContain(`${title[0]} in ${title[1]}, 1h`);
  expect(await legend()).not.toContain('$');
  const invert = page.getByRole('button', { name: 'Invert' });
  await invert.click();
  await untilLoaded(page);
  expect(await legend()).toContain(`${title[1]} in ${title[0]}, 1h`);
  expect(page.url()).toContain('currency=base');
  await invert.click();
  await untilLoaded(page);
  expect(await legend()).toContain(`${title[0]} in ${title[1]}, 1h`);
});

const timeframesShape = z.array(
  z.looseObject({ name: z.string(), schema: z.looseObject({ enum: z.array(z.string()) }) }),
);

test('the chart offers every timeframe of the API', async () => {
  const { paths } = z
    .object({
      paths: z.record(
        z.string(),
        z.looseObject({ get: z.looseObject({ parameters: z.array(z.unknown()) }).optional() }),
      ),
    })
    .parse(await pages.world.json('/openapi.json'));
  const parameters = paths['/api/v1/pairs/{address}/ticks']?.get?.parameters ?? [];
  const [timeframe] = timeframesShape.parse(
    parameters.filter((one) => JSON.stringify(one).includes('"timeframe"')),
  );
  const page = await pages.open(`/pair/${pages.world.pair}`);
  const shown = await page.getByRole('group', { name: 'Timeframe' }).getByRole('button').allInnerTexts();
  expect(shown).toEqual(timeframe?.schema.enum);
});

test('on a phone, the bar of the chart and its menus fit the screen', async () => {
  const page = await pages.open(`/token/${pages.world.token}`, { look: PHONE });
  for (const name of ['Indicators', 'Settings'] as const) {
    await openMenu(page, name);
    const box = await page.locator('.menu-panel:visible').boundingBox();
    expect(box?.width).toBeGreaterThan(250);
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? PHONE.width)).toBeLessThanOrEqual(PHONE.width);
    await keepPicture(page, `chart-phone-${name.toLowerCase()}`);
    await page.keyboard.press('Escape');
  }
  expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
    PHONE.width,
  );
});

const auditShape = z.looseObject({
  data: z.looseObject({
    manipulation_cost_usd: z
      .object({ up: z.looseObject({ p10: z.number() }), down: z.looseObject({ p10: z.number() }) })
      .nullable(),
  }),
});

test('the page of a token says what it costs to move the price, also where that is unknown', async () => {
  const { data } = auditShape.parse(await pages.world.json(`/api/v1/tokens/${pages.world.token}/audit`));
  expect(data.manipulation_cost_usd).not.toBeNull();
  const page = await pages.openBlank();
  let fields: Record<string, unknown> = {};
  await changeAnswers(page, '**/audit', (answer) => {
    const { data, ...rest } = auditShape.parse(answer);
    return { ...rest, data: { ...data, ...fields } };
  });
  const shownWith = async (changed: Record<string, unknown>): Promise<string> => {
    fields = changed;
    await page.goto('/dexes');
    await page.goto(`/token/${pages.world.token}`);
    await untilLoaded(page);
    return page.locator('.move-cost').innerText();
  };
  const costs = { up: { p2: 900, p10: 14_200, p50: 90_000 }, down: { p2: 0, p10: 15_000, p50: 95_000 } };
  const known = await shownWith({ manipulation_cost_usd: costs });
  expect(known).toContain('Moving this price by 10 % costs about $14,200 (up).');
  expect(known).toContain('Down: 2 % nothing, 10 % $15,000, 50 % $95,000.');
  await keepPicture(page, 'chart-cost');
  expect(await shownWith({ manipulation_cost_usd: null, method: 'stable_anchor' })).toContain('configured');
  expect(await shownWith({ manipulation_cost_usd: null, method: 'none' })).toContain('unknown');
});

test('the risk panel of a token and of a pair shows tax, LP tokens, source code and minting as text', async () => {
  const page = await pages.openBlank();
  const fields = {
    flags: ['fee_on_transfer', 'mintable', 'lp_held_by_creator', '<img src=x>'],
    transfer_tax_pct: { buy: 5, sell: null },
    lp_locked_pct: 12.5,
    lp_held_by_creator_pct: 40,
  };
  for (const path of [`tokens/${pages.world.token}`, `pairs/${pages.world.pair}`])
    await changeFields(page, `**/api/v1/${path}`, fields);
  await changeFields(page, '**/api/v1/contracts/*', { verified: true });
  for (const place of [`token/${pages.world.token}`, `pair/${pages.world.pair}`]) {
    await page.goto(`/${place}`);
    await untilLoaded(page);
    const text = await eventually(
      async () => (await page.locator('.risk-card').innerText()).replace(/\s+/g, ' '),
      (found) => found.includes('Source code verified'),
    );
    expect(text).toContain('Transfer tax buy 5 %, sell not measured');
    expect(text).toContain('LP tokens 12.5 % burnt or locked');
    expect(text).toContain('LP of the creator 40 %');
    expect(text).toContain('Minting the contract can mint more');
  }
  await keepPicture(page, 'chart-risks');
});
