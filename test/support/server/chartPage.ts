/** Parts of the chart's page, for tests in a browser: still data, downloads, and indicators against a recomputation. */
import type { Download, Page } from 'playwright-core';
import { z } from 'zod';

import { barShape, type Bar } from '../../../src/wire/ticks';
import {
  bollingerByHand,
  emaByHand,
  maByHand,
  rsiByHand,
  vwapByHand,
  type HandBar,
} from '../oracle/indicatorsByHand';
import { DESKTOP, untilLoaded, type Look } from './browser';
import { changeAnswers, type Pages } from './pages';

const ticksShape = z.looseObject({ data: z.array(barShape) });

/**
 * Opens the page of the pair with data that does not change, so that two equal settings draw equal pictures. `change`
 * changes the bars.
 */
export async function openStill(
  pages: Pages,
  {
    look = DESKTOP,
    timeframe = '15m',
    change = (bars) => bars,
  }: { look?: Look; timeframe?: '1m' | '15m'; change?: (bars: Bar[]) => Bar[] } = {},
): Promise<Page> {
  const page = await pages.openBlank({ look });
  const answerByUrl = new Map<string, object>();
  await page.route('**/activity/stream*', (route) => route.fulfill({ status: 503, json: {} }));
  await changeAnswers(page, '**/ticks?*', (answer, url) => {
    const { data, ...rest } = ticksShape.parse(answer);
    const firstAnswer = answerByUrl.get(url) ?? { ...rest, data: change(data) };
    answerByUrl.set(url, firstAnswer);
    return firstAnswer;
  });
  await page.goto(`/pair/${pages.world.pair}?timeframe=${timeframe}`);
  await untilLoaded(page);
  return page;
}

export const openMenu = (page: Page, name: 'Indicators' | 'Settings'): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

/** The canvas as PNG in base64, without the crosshair. */
export async function drawing(page: Page): Promise<string> {
  await page.mouse.move(0, 0);
  return (await page.locator('.chart-canvas').screenshot()).toString('base64');
}

async function bytesOf(download: Download): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

const DOWNLOAD_MS = 60_000;

/**
 * Presses a button, and returns the file that it downloads. On a busy machine, a click among many ended without a download
 * of the browser, so the button is pressed again.
 */
export async function downloadBy(page: Page, name: string): Promise<Buffer> {
  for (;;) {
    const downloadEvent = page
      .waitForEvent('download', { timeout: DOWNLOAD_MS })
      .catch((error: Error) => error);
    await page.getByRole('button', { name }).click();
    const download = await downloadEvent;
    if (!(download instanceof Error)) return bytesOf(download);
    if (download.name !== 'TimeoutError') throw download;
  }
}

type Column = readonly (number | null)[];

/** The CSV by column; an empty cell is null. */
export async function csvColumns(page: Page): Promise<(name: string) => Column> {
  const [head = '', ...lines] = (await downloadBy(page, 'CSV')).toString().trim().split('\n');
  const names = head.split(',');
  const rows = lines.map((line) => line.split(',').map((cell) => (cell === '' ? null : Number(cell))));
  return (name) => {
    const columnIndex = names.indexOf(name);
    if (columnIndex < 0) throw new Error(`the CSV has no column ${name}, only ${head}`);
    return rows.map((row) => row[columnIndex] ?? null);
  };
}

const SECONDS = { '1m': 60, '15m': 900, '1h': 3_600 } as const;

/** Compares the indicators of the page with a recomputation from its bars. Returns the bars. */
export async function checkIndicators(page: Page, timeframe: keyof typeof SECONDS): Promise<HandBar[]> {
  await untilLoaded(page);
  const isWhole = (await page.locator('.chart').getAttribute('data-state')) === 'all';
  const column = await csvColumns(page);
  const numbers = (name: string): number[] => column(name).map(Number);
  const [times, highs, lows] = [numbers('time'), numbers('high'), numbers('low')];
  const [closes, volumes] = [numbers('close'), numbers('volume')];
  const bars = times.map((time, index) => ({
    time,
    high: highs[index] ?? 0,
    low: lows[index] ?? 0,
    close: closes[index] ?? 0,
    volume: volumes[index] ?? 0,
  }));
  const bands = bollingerByHand(closes, 20, 2);
  const wantedColumns: Record<string, Column> = {
    ma_20: maByHand(closes, 20),
    ema_20: emaByHand(closes, 20),
    vwap: vwapByHand(bars, SECONDS[timeframe], isWhole),
    bollinger_upper: bands.map((band) => band?.upper ?? null),
    bollinger_lower: bands.map((band) => band?.lower ?? null),
    rsi_14: rsiByHand(closes, 14),
  };
  // After falling prices alone, an RSI is 0 but for errors of rounding.
  const round = (name: string, value: number): number =>
    Number(name === 'rsi_14' ? value.toFixed(6) : value.toPrecision(8));
  const roundAll = (name: string, values: Column): Column =>
    values.map((value) => (value === null ? null : round(name, value)));
  for (const [name, values] of Object.entries(wantedColumns))
    expect([name, roundAll(name, column(name))]).toEqual([name, roundAll(name, values)]);
  // The VWAP of the newest bar is known, because the page loads the whole day.
  expect(column('vwap').at(-1)).not.toBeNull();
  return bars;
}
